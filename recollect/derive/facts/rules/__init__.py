"""Claims from messages by rules, without a model: plain cases, precision before number."""
