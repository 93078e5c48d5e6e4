"""Set up other programs to use Recollect: find their settings, add an entry, leave the rest as it is."""
