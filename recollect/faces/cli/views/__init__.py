"""What commands show: hits, transcripts, reports, documents, advice."""
