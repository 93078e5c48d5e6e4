"""Data and code that train the models. Not part of the package."""
