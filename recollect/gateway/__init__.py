"""An endless memory for clients that know nothing of it: what a request is given, and what is kept of its answer.

The proxy (`recollect.faces.proxy`) and `recollect.wrap` are two ways to the same: they carry requests and answers.
"""
