"""Facts: claims from messages and programs, settled into facts with a validity, corrected by hand."""
