"""The formats, a folder for each family; listed in `registry.py`."""
