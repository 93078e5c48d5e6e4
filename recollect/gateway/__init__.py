"""Endless memory for clients unaware of it: add context to their requests, store their exchanges.

The proxy (`recollect.faces.proxy`) and `recollect.wrap` are two ways to the same: they carry requests and answers.
"""
