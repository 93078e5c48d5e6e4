"""Text: terms, sentences, chunks, languages, flags."""
