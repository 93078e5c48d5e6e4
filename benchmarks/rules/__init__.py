"""Rules that a person tells an assistant in passing: which messages say one."""
