"""Views shared by commands: hits, transcripts, reports, documents, advice."""
