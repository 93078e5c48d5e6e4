"""Read chat exports: find the files, detect the format, make records."""
