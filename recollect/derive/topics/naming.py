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
from numpy.typing import NDArray

from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import NEVER, folded
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.static import StaticEmbedder
from recollect.models.embedding.tokenizer import vocabulary
from recollect.record import Message, Node, NodeId
from recollect.store import View
from recollect.text.language import FOREIGN_SMALL_WORDS
from recollect.text.terms import STOP_WORDS, has_unspaced_script, stemmed, words

#: A profile is of so many messages at most, from the first; it changes when their number doubles, not with every one.
MOST = 16
_CHARACTERS_READ = 800  # characters of a message
_TERMS = 24
_NAME_COUNTS = 3  # a name tells more than a word

_EMPTY_TEXT = """
    like just also well really think know want need good great make made help time thing things something anything
    nothing lot more much many most some any even still back only first next last another other others both same
    would could should might must shall can't don't it's i'm i've that's let's there's here's what's you're they're
    going getting make makes making take takes taking give gives given look looks looking feel feels feeling keep
    keeps sure happy glad nice love loved sounds sound amazing awesome cool wow thanks thank please yeah yes okay
    maybe actually pretty quite very always never ever soon today tomorrow yesterday week weeks month months year
    years day days hour hours minute minutes people person someone everyone everything work works working use used
    using uses way ways new old right left best better since until while though although however because around
    about without within every each between during before after into onto upon over under again once here there
    where when which who whom whose why how this that these those them they their then than been being have having
    does doing done come came comes went gone goes say said says tell told ask asked try trying tried start started
    see seen saw find found let put set show shown seems seem one two three four five six seven eight nine ten don
    doesn didn isn wasn aren weren hasn haven wouldn couldn shouldn won ll ve re kind bit few less least own such
    example step steps based including include consider ensure important specific different might able
"""
_EMPTY = frozenset(_EMPTY_TEXT.split())


def length(count: int) -> int:
    """How many of the first messages make the profile of a run of `count`.

    >>> [length(count) for count in (1, 3, 8, 15, 400)]
    [1, 2, 8, 8, 16]
    """
    return min(MOST, 1 << (count.bit_length() - 1)) if count else 0


def text_of(messages: Sequence[Message]) -> str:
    """The words that a profile is made of."""
    return "\n".join(message.content[:_CHARACTERS_READ] for message in messages)


def telling(messages: Sequence[Message]) -> list[str]:
    """Names and words of the messages, the most telling first."""
    names: Counter[str] = Counter()
    shown: dict[str, str] = {}
    said: Counter[str] = Counter()
    for message in messages:
        content = message.content[:_CHARACTERS_READ]
        for mention in found_in(message.content):
            if mention.start <= _CHARACTERS_READ:
                shown.setdefault(folded(mention.name), mention.name)
                names[folded(mention.name)] += 1
        said.update(word for word in words(content) if is_telling(word))
    inside = {part for name in names for part in name.split()}
    scores = {shown[name]: _NAME_COUNTS * count * 1.0 for name, count in names.items()}
    scores |= {
        word: math.sqrt(count) * rarity(word) for word, count in said.items() if word not in inside and count > 1
    }
    return sorted(scores, key=lambda term: (-scores[term], term))[:_TERMS]


def is_telling(word: str) -> bool:
    """Whether a folded word may tell what is spoken of."""
    if word.isdigit() or word in STOP_WORDS or word in _EMPTY or word in NEVER or word in FOREIGN_SMALL_WORDS:
        return False
    return len(word) > 3 or has_unspaced_script(word)


def rarity(word: str) -> float:
    """0 to 1 and a half: the packaged vocabulary stands in order of frequency."""
    return math.log10(1 + vocabulary().get(word, 20_000) / 1_000)


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


# Clusters among vectors: communities of a graph of likeness, and every vector to the nearest of them.

#: Vectors whose communities are looked for, and how many neighbours of each have a say.
SAMPLE, NEIGHBOURS = 1_500, 12
_SEED = 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rows that belong together, nearest to the centre first, with their likeness to it."""

    rows: tuple[int, ...]
    likeness: tuple[float, ...]


def clusters(vectors: Vectors, threshold: float, least: int) -> list[Cluster]:
    """Clusters of unit rows, of at least `least` each. Rows must be in an order that does not depend on when they came:
    the first are the sample.

    What all have in common is taken off first: in one person's chats everything is alike. `threshold` is on the cosine.
    """
    if len(vectors) < least:
        return []
    sample = vectors[:SAMPLE]
    mean = sample.mean(axis=0) if len(sample) > 2 * least else np.zeros(vectors.shape[1], np.float32)
    own = _unit(vectors - mean)
    centres = [_unit(own[rows].mean(axis=0, keepdims=True))[0] for rows in _communities(own[:SAMPLE], threshold, least)]
    if not centres:
        return []
    likeness = own @ np.stack(centres).T
    nearest, best = likeness.argmax(axis=1), likeness.max(axis=1)
    found = []
    for number in range(len(centres)):
        rows = np.flatnonzero((nearest == number) & (best >= threshold))
        if len(rows) >= least:
            near = {int(row): round(float(best[row]), 4) for row in rows}
            ordered = sorted(near, key=lambda row: (-near[row], row))
            found.append(Cluster(tuple(ordered), tuple(near[row] for row in ordered)))
    return found


def _communities(own: Vectors, threshold: float, least: int) -> list[list[int]]:
    import networkx

    likeness = own @ own.T
    np.fill_diagonal(likeness, -1)
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(len(own)))
    for row in range(len(own)):
        order = np.argsort(-likeness[row], kind="stable")[:NEIGHBOURS]
        graph.add_weighted_edges_from(
            (row, int(other), round(float(likeness[row, other]), 4))
            for other in order
            if likeness[row, other] >= threshold
        )
    found = networkx.community.louvain_communities(graph, seed=_SEED, resolution=1.0)
    return sorted(sorted(rows) for rows in found if len(rows) >= least)


def _unit(rows: Vectors) -> Vectors:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = (rows / np.where(norms > 0, norms, 1)).astype(np.float32)
    return unit


def stacked(rows: Sequence[bytes], dimensions: int) -> Vectors:
    """Unit rows of int8 bytes."""
    flat = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), dimensions)
    return _unit(flat.astype(np.float32))


def as_bytes(vector: NDArray[np.float32]) -> bytes:
    """A unit row as int8 bytes."""
    return bytes(np.clip(np.round(vector * 127), -127, 127).astype(np.int8).tobytes())
