"""Claims found by rules, without a model: plain cases only."""
