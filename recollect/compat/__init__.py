"""Other libraries' classes, with the names and the behaviour that their users know."""
