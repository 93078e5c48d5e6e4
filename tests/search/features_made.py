"""Pools of passages for the tests of the ranker: plain ones, of which a test changes what it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recollect.store.passages import KINDS, PEOPLE, ROLE_SHIFT, ROLES, Features

SAID = KINDS.index("said")


def flags(role: str = "user", *, people: bool = False, has: int = 0) -> int:
    """The bits of one passage."""
    return has | ROLES.index(role) << ROLE_SHIFT | (PEOPLE if people else 0)


def pool(*bits: int, **features: Any) -> Features:
    """One passage for each of the flags given, alike in everything but them and the features given."""
    n = len(bits)
    zeros = np.zeros(n, np.float32)
    plain = Features(
        passages=np.arange(1, n + 1),
        neighbours=np.full((n, 5), -1),
        messages=np.arange(1, n + 1),
        conversations=np.ones(n, np.int64),
        kinds=np.full(n, SAID, np.uint8),
        times=np.zeros(n, np.int64),
        flags=np.array(bits, np.int64),
        idf=np.ones(1, np.float32),
        holds=np.zeros((n, 5, 1), np.float32),
        there=np.tile([True, False, False, False, False], (n, 1)),
        bm25=np.zeros((n, 5), np.float32),
        dense=zeros,
        dense_z=zeros,
        previous_dense_z=zeros,
        previous_asks=np.zeros(n, bool),
        windows=zeros,
        length_z=zeros,
        who=np.zeros(n, np.int64),
        present=np.zeros(n, np.int64),
        inside=zeros,
        near=zeros,
        session_bm25=zeros,
        session_dense=zeros,
        session_similarity=zeros,
        similarity=zeros,
        sought=np.zeros(n, bool),
        size=n,
        whole=True,
        frequencies=np.ones(1, np.int64),
        quality=False,
        piece_idf={},
    )
    given = {
        name: np.asarray(value, bool if plain_is_bool(plain, name) else np.float32) for name, value in features.items()
    }
    return replace(plain, **given)


def plain_is_bool(features: Features, name: str) -> bool:
    """Whether a feature is yes or no."""
    return bool(getattr(features, name).dtype == bool)
