"""The formats, a file each or a folder for a family; listed in `registry.py`."""
