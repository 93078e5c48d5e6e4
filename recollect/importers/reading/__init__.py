"""Read files, archives and JSON of any size, leniently, as a stream."""
