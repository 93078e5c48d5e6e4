"""How good the facts are that are drawn without a model: hand-made sentences with what must be drawn of them."""
