"""Vectors of sentences, kept for a while: a sentence is weighed for its conversation, its day and its topic."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.models.embedding.base import Embedder, Vectors

_MOST = 16_384  # of them: 16 MiB

_kept: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
_lock = threading.Lock()


def sentence_vectors(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """Unit rows (n, dimensions). Each vector is that of its sentence alone, whatever it is asked for with."""
    keys = [(embedder.name, text) for text in texts]
    with _lock:
        known = {key: _kept[key] for key in keys if key in _kept}
    missing = list(dict.fromkeys(key for key in keys if key not in known))
    if missing:
        made = embedder.embed([text for _, text in missing])
        known |= zip(missing, made, strict=True)
    with _lock:
        for key in keys:
            _kept[key] = known[key]
            _kept.move_to_end(key)
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
    return np.stack([known[key] for key in keys]) if keys else np.zeros((0, embedder.dimensions), np.float32)
