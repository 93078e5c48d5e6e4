"""What a model is given."""
