"""Summaries: of runs of exchanges [1], of conversations [0], of branches [2], of periods and topics [4]."""
