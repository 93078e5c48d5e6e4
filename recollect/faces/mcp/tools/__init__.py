"""The tools of the server: one file a family; `choose.py` says which of them a client gets."""
