"""What a topic is called where no model says it: the words and names that its conversations share, as they are written.

A term counts once for each conversation, and the more the nearer its meaning is to what the topic is about: "hold" may
stand in every recipe, and is not what they are about. What many topics have counts little. Two words that mostly stand
together are one term ("half marathon"), and forms of one word ("booking", "bookings") are the one that is written most.
All is taken from the messages of the segments, and nothing from titles: a topic is made anew when one of its messages
is erased, and may hold nothing that outlasts that.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from recollect.derive.topics.profile import is_telling, length, text_of
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Message, Node, NodeId
from recollect.store import View
from recollect.text.terms import has_unspaced_script, stemmed, words

#: Segments of a topic, nearest to its middle first, with their likeness to that.
Members = Sequence[tuple[Node, float]]

_READ = 8  # segments of a topic whose words are read
_MEANING, _NEAR = 4.0, 0.3  # how much nearness in meaning counts, and from where it is near enough
_SHARED = 0.7  # of what all topics have in common, so much is no part of what one is about
_FEW = 3  # topics have nothing in common
_TOGETHER, _MOSTLY = 2, 0.3  # conversations that have two words beside each other, and how often these do (Dice)
_SMALL = 0.2  # the share of forms in small letters from which a capital is one of headings
_LONGEST_RUN = 3  # pairs of characters in a word of a script without spaces

_WRITTEN = re.compile(r"[^\W_](?:[\w.+#'’-]*[^\W_]|[+#]+)?")
_POSSESSIVE = re.compile(r"['’]s$")
#: Of Chinese and Japanese pairs of characters those that are no word: endings, pieces of longer words, counts.
_PIECE = re.compile("[\u3041-\u309f]+|.?[\u3041-\u30ff].?|.?[一二三四五六七八九十百千万两个].?")


@dataclass(slots=True)
class _Counts:
    """Of one topic, by the stems of terms."""

    scores: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    owners: dict[str, set[NodeId]] = field(default_factory=lambda: defaultdict(set))
    forms: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    pair_owners: dict[tuple[str, str], set[NodeId]] = field(default_factory=lambda: defaultdict(set))
    text: str = ""

    def form(self, key: str) -> str:
        """How a term is written: most often, and in small letters where these are no exception."""
        forms = self.forms[key]
        small = Counter({form: count for form, count in forms.items() if form == form.lower()})
        chosen = small if small.total() > _SMALL * forms.total() else forms
        return min(chosen, key=lambda form: (-chosen[form], form), default="")


def named(view: View, topics: Sequence[Members], most: int) -> list[list[str]]:
    """So many of the most telling terms of each topic."""
    if not topics:
        return []
    counted = [_counted(view, members) for members in topics]
    everywhere = Counter(key for counts in counted for key in counts.scores)
    found = []
    for counts, centre in zip(counted, _centres([counts.text for counts in counted]), strict=True):
        forms = {key: counts.form(key) for key in sorted(counts.scores)}
        near = StaticEmbedder().embed(list(forms.values())) @ centre
        scores = {
            key: counts.scores[key]
            * math.sqrt(len(counts.owners[key]))
            * math.exp(_MEANING * min(round(float(nearness), 4), _NEAR))
            * math.log(1 + len(topics) / everywhere[key]) ** 2
            for key, nearness in zip(forms, near, strict=True)
            if forms[key]
        }
        found.append(_terms(counts, scores, most))
    return found


def _counted(view: View, members: Members) -> _Counts:
    counts = _Counts()
    best: dict[tuple[str, NodeId], float] = {}
    for node, near in members:
        own = node.conversation_id or node.id
        for term in node.body["terms"]:
            if (key := _key(term)) and "," not in term and not _is_run_together(term):
                best[key, own] = max(near, best.get((key, own), 0.0))
                counts.forms[key][term] += term != term.lower()
    for (key, own), near in best.items():
        counts.scores[key] += near
        counts.owners[key].add(own)
    texts = list(_texts(view, members))
    counts.text = "\n".join(text for _, text in texts)
    for own, text in texts:
        before = ""
        for key, form in _words(text):
            if key:
                counts.forms[key][form] += 1
            if key in counts.scores and before in counts.scores and key != before:
                counts.pairs[before, key] += 1
                counts.pair_owners[before, key].add(own)
            before = key
    return counts


def _texts(view: View, members: Members) -> Iterator[tuple[NodeId, str]]:
    """What the nearest segments begin with."""
    heads = [(node, node.body["head"][: length(node.body["count"])]) for node, _ in members[:_READ]]
    messages = {m.id: m for m in view.get(Message, [NodeId(i) for _, head in heads for i in head])}
    for node, head in heads:
        yield node.conversation_id or node.id, text_of([messages[i] for i in head if i in messages])


def _centres(texts: Sequence[str]) -> Vectors:
    """What each topic is about, without what all are about."""
    vectors = StaticEmbedder().embed(texts)
    if len(vectors) <= _FEW:
        return vectors
    own = vectors - _SHARED * vectors.mean(axis=0)
    unit: Vectors = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-9)
    return unit


def _terms(counts: _Counts, scores: Mapping[str, float], most: int) -> list[str]:
    """The best terms, each word in one of them alone."""
    found: list[str] = []
    taken: set[str] = set()
    for key in sorted(scores, key=lambda key: (-scores[key], key)):
        if len(found) == most:
            break
        if not taken.isdisjoint(key.split()):
            continue
        parts = _pair(counts, key, scores, taken) or (key,)
        found.append(" ".join(counts.form(part) for part in parts))
        taken.update(stem for part in parts for stem in part.split())
    return found


def _pair(counts: _Counts, key: str, scores: Mapping[str, float], taken: set[str]) -> tuple[str, str] | None:
    """The word with the one that mostly stands beside it, in several conversations."""
    beside: dict[tuple[str, str], float] = {}
    for pair, count in counts.pairs.items():
        if key in pair and len(counts.pair_owners[pair]) >= _TOGETHER and taken.isdisjoint(pair):
            share = 2 * count / sum(counts.forms[part].total() for part in pair)
            if share >= _MOSTLY and all(part in scores for part in pair):
                beside[pair] = share
    return min(beside, key=lambda pair: (-beside[pair], pair), default=None)


def _words(text: str) -> Iterator[tuple[str, str]]:
    """The words of a text as they are written, after their stems; both empty between those that a space does not part,
    and no stem for those that tell nothing.
    """
    end = 0
    for match in _WRITTEN.finditer(text):
        if match.start() != end + 1 or text[end] != " ":
            yield "", ""
        end = match.end()
        form = _POSSESSIVE.sub("", match[0])
        yield _telling_key(form), form


@lru_cache(maxsize=20_000)  # the same words come again and again
def _telling_key(form: str) -> str:
    parts = words(form)
    tells = bool(parts) and all(map(is_telling, parts)) and not _is_run_together(form)
    return " ".join(stemmed(parts)) if tells else ""


def _is_run_together(term: str) -> bool:
    """Whether a term is no word: a phrase of a script without spaces, or a piece of a Japanese word."""
    return bool(_PIECE.fullmatch(term)) or (has_unspaced_script(term) and len(words(term)) > _LONGEST_RUN)


def _key(term: str) -> str:
    return " ".join(stemmed(words(term)))
