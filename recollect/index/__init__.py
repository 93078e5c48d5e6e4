"""The search index: passages as arrays, candidates and their features. Engines supply the rows (source.py).

A *segment* (segment.py) is a run of passages in one blob, as the engine stores it. A *block* (block.py) is a larger run
as arrays that are searched, in memory or in a mapped file. A `Corpus` (corpus.py) keeps the blocks of one partition up
to date and lends out *snapshots* of it, and `candidates` (candidates.py) answers a query from one. Engines come in by
`IndexCache` (cache.py).
"""
