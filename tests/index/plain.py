"""The features of a query as plain loops and whole arrays tell them: what every search is held against.

It is written from the definitions of `Features`, row by row, and uses nothing of the index but the closeness of days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recollect.index.numeric import closeness
from recollect.index.source import COLUMNS, TailRow
from recollect.store.passages import KINDS, PEOPLE, ROLE_SHIFT, ROLES, CandidateQuery

_DAY = 86_400_000_000


class Plain:
    """Living rows, ascending by number."""

    def __init__(self, rows: Sequence[TailRow], quality: Mapping[int, bytes], asked: Any) -> None:
        self.rows, self.asked = rows, asked
        self.columns = np.frombuffer(b"".join(row.columns for row in rows), COLUMNS)
        self.vectors = _units([row.vector for row in rows])
        self.quality = [quality.get(row.number) for row in rows]

    def features(self, query: CandidateQuery, score_all: int) -> dict[str, Any]:
        """Of the whole pool, by the names that they have in `Features`."""
        columns, n = self.columns, len(self.rows)
        lengths = columns["length"].astype(float)
        groups = [_forms_together(group) for group in query.terms]
        counted = [[sum(any(form in row.terms for form in word) for row in self.rows) for word, _ in g] for g in groups]
        idf = [[float(np.log(1 + (n - k + 0.5) / (k + 0.5))) for k in group] for group in counted]

        def bm25(k1: float, b: float) -> np.ndarray:
            total = np.zeros(n)
            for i, row in enumerate(self.rows):
                for group, weights in zip(groups, idf, strict=True):
                    best = 0.0
                    for (word, weight), own in zip(group, weights, strict=True):
                        k = sum(min(row.terms.get(form, 0), 255) for form in word)
                        norm = k + k1 * (1 - b + b * lengths[i] / lengths.mean())
                        best = max(best, weight * own * k * (k1 + 1) / norm)
                    total[i] += best
            return total

        wide, narrow = bm25(2.0, 1.0), bm25(0.9, 0.4)
        wide_z, dense = _z(wide), self.vectors @ query.vector.astype(float)
        dense_z, similarity = _z(dense), np.zeros(n)
        embedded = [i for i, vector in enumerate(self.quality) if vector is not None]
        similar = query.similarity is not None and bool(embedded)
        if similar:
            similarity[embedded] = _z(_units([self.quality[i] for i in embedded]) @ query.similarity.astype(float))
        speaks = [columns["speaker"] == self.asked.speaker(name) for name in query.named]
        who, present = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for place, own in enumerate(speaks, 1):
            who[own] = place
            present += np.isin(columns["conversation"], columns["conversation"][own])
        days = np.where(columns["time"] > 0, columns["time"] // _DAY, -1)
        inside, near = closeness(days, query.spans)
        sought = self._holding(query.sought)
        allowed = self._allowed(query) & ((narrow > 0) | (not query.by_words))
        pool = np.flatnonzero(allowed)
        matching = columns["number"][allowed & ((narrow > 0) | (not query.terms))]
        before, after = self._links()
        whole = len(pool) <= score_all
        if not whole and query.newest:
            holding = [i for i in pool.tolist() if narrow[i] > 0 or not query.terms]
            newest = sorted(holding, key=lambda i: -columns["time"][i])[: query.pool]
            whole, pool = len(newest) == len(holding), np.array(sorted(newest), np.int64)
        elif not whole:
            people = (columns["flags"] & PEOPLE) > 0
            lead = (
                np.where(people, _z(narrow), wide_z)
                + (0 if query.by_words else dense_z)
                + inside
                + 1.1 * near
                + 4.0 * sought
            )
            lead += np.where(who == 1, 0.65, np.where(who > 1, 0.3, 0)) + 0.4 * np.minimum(present, 2)
            chosen: set[int] = set()
            by_meaning = 0 if query.by_words else query.pool // 8
            for scores, count in ((lead, query.pool // 2), (narrow, query.pool // 8), (dense, by_meaning)):
                chosen |= set(sorted(pool.tolist(), key=lambda i: -scores[i])[:count])
            reached = {_step(i, way, k) for i in chosen for way in (before, after) for k in (0, 1, 2)}
            pool = np.array([i for i in sorted(reached) if i >= 0 and allowed[i]], np.int64)
        around = np.array([[i, *(_step(i, w, k) for k in (1, 2) for w in (before, after))] for i in pool.tolist()])
        around = around.reshape(-1, 5).astype(np.int64)
        there = around >= 0
        held = np.array([[max((w for t, w in g if t in r.terms), default=0.0) for g in query.terms] for r in self.rows])
        held = held.reshape(n, len(query.terms))
        sessions = {int(s): np.flatnonzero(columns["session"] == s) for s in set(columns["session"].tolist())}

        def best_three(values: np.ndarray) -> list[float]:
            of = [sessions[session] if (session := int(columns["session"][i])) else [i] for i in pool]
            return [float(np.sort(values[rows])[-3:].mean()) for rows in of]

        logs = np.log1p(lengths)
        asks = (columns["flags"][around[:, 1]] & 1).astype(bool) if len(pool) else np.zeros(0, bool)
        return {
            "matching": matching,
            "passages": columns["number"][pool],
            "neighbours": np.where(there, columns["number"][around], -1),
            "messages": columns["message"][pool],
            "conversations": columns["conversation"][pool],
            "kinds": columns["kind"][pool],
            "flags": columns["flags"][pool],
            "idf": [max(group, default=0.0) for group in idf],
            "holds": held[around] * there[:, :, None],
            "there": there,
            "bm25": np.where(there, wide_z[around], 0.0),
            "dense": dense[pool],
            "dense_z": dense_z[pool],
            "previous_dense_z": np.where(there[:, 1], dense_z[around[:, 1]], 0.0),
            "previous_asks": asks & there[:, 1],
            "length_z": _z(logs)[pool],
            "who": who[pool],
            "present": present[pool],
            "inside": inside[pool],
            "near": near[pool],
            "session_bm25": best_three(wide_z),
            "session_dense": best_three(dense_z),
            "session_similarity": best_three(similarity),
            "similarity": similarity[pool],
            "sought": sought[pool],
            "size": n,
            "whole": whole,
            "times": columns["time"][pool],
            "frequencies": [max(group, default=0) for group in counted],
            "quality": similar,
        }

    def _holding(self, phrases: Sequence[tuple[str, ...]]) -> np.ndarray:
        numbers = {int(number) for phrase in phrases for number in self.asked.holding(phrase)}
        return np.isin(self.columns["number"], list(numbers))

    def _allowed(self, query: CandidateQuery) -> np.ndarray:
        columns, wanted = self.columns, query.filter
        allowed = np.ones(len(self.rows), bool)
        if wanted.kinds:
            allowed &= np.isin(columns["kind"], [KINDS.index(kind) for kind in wanted.kinds])
        if wanted.sources or wanted.conversation_ids is not None:
            allowed &= np.isin(columns["conversation"], self.asked.conversations(wanted.sources, None))
        if query.conversations is not None:
            allowed &= np.isin(columns["conversation"], query.conversations)
        if wanted.since is not None:
            allowed &= columns["time"] >= wanted.since
        if wanted.until is not None:
            allowed &= (columns["time"] > 0) & (columns["time"] < wanted.until)
        if wanted.roles:
            allowed &= np.isin((columns["flags"] >> ROLE_SHIFT) & 3, [ROLES.index(role) for role in wanted.roles])
        for phrase in query.phrases:
            allowed &= self._holding([phrase])
        held, message = self._holding(query.excluded), columns["message"]
        return allowed & ~held & ~((message > 0) & np.isin(message, message[held]))

    def _links(self) -> tuple[list[int], list[int]]:
        """The rows before and after each in reading order within its session."""
        names = ("message", "session", "previous", "first")
        message, session, previous, first = (self.columns[name].tolist() for name in names)
        rows = range(len(self.rows))
        standing = {message[i]: i for i in rows if first[i]}  # the last one written wins
        before = [standing.get(previous[i], -1) if previous[i] else -1 for i in rows]
        before = [b if b >= 0 and session[b] == session[i] else -1 for i, b in enumerate(before)]
        after = [-1] * len(self.rows)
        for i in rows:
            if first[i] and before[i] >= 0:
                after[before[i]] = i
        for i in rows:
            if not first[i]:
                after[i] = after[standing[message[i]]] if message[i] in standing else -1
        return before, after


def _step(i: int, way: Sequence[int], count: int) -> int:
    for _ in range(count):
        i = way[i] if i >= 0 else -1
    return i


def _units(packed: Sequence[bytes | None]) -> np.ndarray:
    rows = np.array([np.frombuffer(vector or b"", np.int8) for vector in packed], float)
    return rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None]


def _z(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / (values.std() + 1e-6)


def _forms_together(group: Sequence[tuple[str, float]]) -> list[tuple[list[str], float]]:
    """Alternatives of weight 1 are forms of one word."""
    others = [([term], weight) for term, weight in group if weight != 1]
    return [([term for term, weight in group if weight == 1], 1.0), *others]
