"""Other libraries' classes on our store, with their names and behaviour."""
