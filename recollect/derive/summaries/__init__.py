"""Summaries of exchanges [1], conversations [0], branches [2], periods and topics [4]."""
