"""A request within its window: what of it goes, and how much of the memory it may be given beside the rest."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from recollect.gateway.events import Refusal
from recollect.gateway.talk import Dialogue, Links
from recollect.gateway.wires import Wire
from recollect.models.embedding.tokenizer import PROVIDER_FACTOR, count_tokens_of

#: So many steps of removal an exchange must have before a place within it counts as a place to cut.
_WITHIN = 0.5


@dataclass(frozen=True, slots=True)
class _CutPoint:
    """A place to cut: what stands before `start` goes, but for the question from `head` to `behind`."""

    removed: int
    start: int
    head: int = 0
    behind: int = 0
    is_last_resort: bool = False


def cut(links: Sequence[Links], costs: Sequence[int], question: int, room: int, step: int) -> frozenset[int]:
    """The places of what has to go so that the rest costs at most `room`, or as little as can be.

    `links` tell of each item who says it and which calls it opens and closes, `costs` what it costs in tokens;
    `question` is the place of the newest question, `step` by how many tokens the removal grows.
    """
    flow = [at for at, one in enumerate(links) if one.role != "system"]
    excess = sum(costs) - room
    if excess <= 0 or not flow:
        return frozenset()
    target = -(-excess // step) * step
    asked = flow.index(question) if question in flow else len(flow) - 1
    places = _places([links[at] for at in flow], [costs[at] for at in flow], asked, int(step * _WITHIN))
    regular = (place for place in places if not place.is_last_resort and place.removed >= target)
    chosen = next(regular, None) or next((place for place in places if place.removed >= target), None)
    chosen = chosen or (places[-1] if places else None)
    if chosen is None:
        return frozenset()
    return frozenset([*flow[: chosen.head], *flow[chosen.behind : chosen.start]])


def _places(flow: Sequence[Links], costs: Sequence[int], asked: int, within: int) -> list[_CutPoint]:
    """The places where it may be cut, in order."""
    total = [0, *accumulate(costs)]
    joined = _joined(flow)
    starts = [n for n, one in enumerate(flow) if one.role == "user" and not joined[n] and _begins(flow, n)]
    found: list[_CutPoint] = []
    for start, end in pairwise([*starts, len(flow)]):
        if start > asked:
            break
        found.append(_CutPoint(total[start], start, start, start))
        behind = next((n for n in range(start, end) if flow[n].role != "user" or joined[n]), end)
        for n in range(behind + 1, end):
            is_step = flow[n].role == "assistant" and not joined[n] and flow[n - 1].role != "assistant"
            if not is_step or (behind <= asked < n):
                continue
            inside = total[n] - total[behind]
            found.append(_CutPoint(total[start] + inside, n, start, behind, inside < within))
    return found


def _begins(flow: Sequence[Links], n: int) -> bool:
    return n == 0 or flow[n - 1].role != "user"


def _joined(flow: Sequence[Links]) -> list[bool]:
    """Of each item whether it must not be parted from the one before it."""
    joined = [False] * len(flow)
    opened: dict[str, int] = {}
    for n, one in enumerate(flow):
        for name in one.closes:
            if (begin := opened.pop(name, None)) is not None:
                joined[begin + 1 : n + 1] = [True] * (n - begin)
        opened.update(dict.fromkeys(one.opens, n))
    return joined


# What a request costs, in tokens of the packaged tokenizer.

_PER_ITEM = 4  # who says it, and where it begins and ends
_PICTURE = 1_600  # tokens of a picture, and at most of something that is encoded
_PER_TOKEN = 4  # characters of it, where it is short
_ENCODED = re.compile(r"(?:data:[^,]{0,100},)?[A-Za-z0-9+/_=\r\n-]{200}")
_FRAME = frozenset({"type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "status", "cache_control"})
_UNREAD = frozenset({"metadata", "model", "messages", "input", "stream", "stream_options", "user"})
_PICTURES = ("image", "image_url", "input_image", "computer_screenshot")
#: Where something encoded may stand. Anywhere else it is text, and costs what text costs: a list of hashes, say.
_CODED = frozenset(
    {"data", "url", "image_url", "file_data", "result", "b64_json"}
    | {"encrypted_content", "signature", "thought_signature"}
)
_FILES = ("document", "file", "input_file", "container_upload", "input_audio", "video_url")
_REMEMBERED = 50_000

#: The tokens of texts by length and hash: a client sends the same ones again with each request.
_counted: dict[tuple[int, int], int] = {}


def cost_of_each(items: Sequence[object]) -> list[int]:
    """The tokens of each item of a request."""
    found = [list(_costs(item)) for item in items]
    counts = iter(_counts([text for own in found for text in own if isinstance(text, str)]))
    return [_PER_ITEM + sum(next(counts) if isinstance(one, str) else one for one in own) for own in found]


def cost_of_frame(body: Mapping[str, Any]) -> int:
    """The tokens of what stands beside the items: the system prompt, the tools, the form of the answer."""
    rest = {key: value for key, value in body.items() if key not in _UNREAD}
    return _counts([json.dumps(rest, ensure_ascii=False)])[0]


def holds_files(body: Mapping[str, Any]) -> bool:
    """Whether something stands in a request whose tokens only the server knows: a document, a file by its name."""
    return any(_is_file(part) for name in ("messages", "input") for part in _parts(body.get(name)))


def _parts(value: object) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        inner = item.get("content") if isinstance(item, Mapping) else None
        for part in inner if isinstance(inner, list) else ():
            if isinstance(part, Mapping):
                yield part
                yield from _parts([part])  # what a tool gave


def _is_file(part: Mapping[str, Any]) -> bool:
    source = part.get("source")
    return part.get("type") in _FILES or (isinstance(source, Mapping) and source.get("type") == "file")


def _costs(value: object, key: str = "") -> Iterator[str | int]:
    """The texts of an item, and the tokens of what is none."""
    if isinstance(value, str):
        if value:
            yield _encoded(value) or value if key in _CODED else value
    elif isinstance(value, Mapping):
        if value.get("type") in _PICTURES:
            yield sum(one for one in _parts_of(value) if isinstance(one, int)) or _PICTURE
            return
        yield from _parts_of(value)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _costs(inner, key)
    elif value is not None:
        yield str(value)


def _parts_of(value: Mapping[str, Any]) -> Iterator[str | int]:
    for key, inner in value.items():
        if key not in _FRAME:
            if not isinstance(inner, str | Sequence):
                yield str(key)
            yield from _costs(inner, key)


def _encoded(text: str) -> int:
    """The tokens of something that is encoded, 0 of anything else."""
    return 0 if _ENCODED.match(text) is None else min(len(text) // _PER_TOKEN, _PICTURE)


def _counts(texts: Sequence[str]) -> list[int]:
    keys = [(len(text), hash(text)) for text in texts]
    found = {key: count for key in keys if (count := _counted.get(key)) is not None}
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
    found.update(zip(new, count_tokens_of(list(new.values())), strict=True))
    if len(_counted) > _REMEMBERED:
        _counted.clear()
    _counted.update(found)
    return [found[key] for key in keys]


# How long a request may be: what was set, or what a server has told by refusing one.

_MOST = 1_000  # models
_ENOUGH = 1_000  # tokens: by less the tokens of a server are not compared with ours
_LEAST_FACTOR, _MOST_FACTOR = 0.5, 4.0
_MARGIN = 1.02
_WITHOUT_NUMBERS = 0.75  # of what was refused, where the server tells no limit
_TOLD_BELOW = 0.9  # of what was refused, where it tells a limit and not how long the request was
#: What is kept free for an answer: what the request allows it, within these bounds.
_ANSWER, _SHARE_OF_ANSWER, _MOST_OF_ANSWER = 8_192, 8, 2
_STEP = 4  # of the window
_MOST_ALLOWED = 10**9  # tokens of an answer: no model has more, whatever a request says
_ALLOWED = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A limit in tokens of the server, for prompt and answer; `factor` is how many of them one of ours makes."""

    tokens: int
    factor: float = PROVIDER_FACTOR

    @property
    def own(self) -> int:
        """The limit in tokens of ours."""
        return int(self.tokens / self.factor)

    @property
    def step(self) -> int:
        """By how much is cut at once, in tokens of ours. It follows from the limit alone, so that it stays the same."""
        return max(self.own // _STEP, 1)

    def answer(self, body: Mapping[str, Any]) -> int:
        """What is kept free for the answer, in tokens of ours."""
        allowed = answer_allowed(body)
        wanted = min(_ANSWER, self.tokens // _SHARE_OF_ANSWER) if allowed is None else allowed
        return int(min(max(wanted, 0), self.tokens // _MOST_OF_ANSWER) / self.factor)


def answer_allowed(body: Mapping[str, Any]) -> int | None:
    """How many tokens a request allows the answer, None where it does not say."""
    return next((min(body[name], _MOST_ALLOWED) for name in _ALLOWED if type(body.get(name)) is int), None)


@dataclass(slots=True)
class ContextWindows:
    """What servers have told of their models. Thread-safe."""

    _known: OrderedDict[tuple[str, ...], ContextWindow] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, model: tuple[str, ...], told: int | None = None) -> ContextWindow | None:
        """The window of a model: what was `told`, or what its server allows, where that is less."""
        with self._lock:
            known = self._known.get(model)
        if told is None or known is None:
            return known if told is None else ContextWindow(told)
        return ContextWindow(min(told, known.tokens), known.factor)

    def learn(self, model: tuple[str, ...], refusal: Refusal, own: int, answer: int) -> None:
        """Takes in that a request of `own` tokens of ours was too long, which allowed an answer of `answer` tokens."""
        if refusal.limit is None and own < _ENOUGH:
            return  # no model takes so little: it is about something that is not counted here
        with self._lock:
            known = self._known.pop(model, None)
            learned = _learned(known, refusal, max(own, 1), answer)
            self._known[model] = learned
            while len(self._known) > _MOST:
                self._known.popitem(last=False)


def _learned(known: ContextWindow | None, refusal: Refusal, own: int, answer: int) -> ContextWindow:
    factor = known.factor if known else PROVIDER_FACTOR
    if refusal.asked is not None and refusal.asked >= _ENOUGH:
        measured = refusal.asked / own * _MARGIN
        factor = max(factor, measured) if known else measured
    limit = refusal.limit
    if limit is None:
        limit = int(_WITHOUT_NUMBERS * own * factor + answer)
        return ContextWindow(max(min(limit, known.tokens) if known else limit, 1), _fit(factor))
    if refusal.asked is None and own * factor + answer <= limit:
        factor = limit / (_TOLD_BELOW * own)
    return ContextWindow(limit, _fit(factor))


def _fit(factor: float) -> float:
    return min(max(factor, _LEAST_FACTOR), _MOST_FACTOR)


_OF_WINDOW = 4  # the part of a window that may be given


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """The places of what goes, and how many tokens of the memory may stand in the rest."""

    given: int
    gone: frozenset[int] = frozenset()

    def rest(self, wire: Wire, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request without what goes."""
        if not self.gone:
            return body
        return {**body, wire.items: [item for at, item in enumerate(_items(wire, body)) if at not in self.gone]}


def fit(wire: Wire, body: Mapping[str, Any], talk: Dialogue, window: ContextWindow, given: int) -> FittedRequest:
    """What of a request goes so that it fits into a window with as much as may be given of the memory."""
    items = _items(wire, body)
    costs = cost_of_each(items)
    room = window.own - cost_of_frame(body) - window.answer(body)
    given = min(given, window.own // _OF_WINDOW)
    links = [wire.links(item if isinstance(item, Mapping) else {}) for item in items]
    gone = cut(links, costs, _newest(talk, len(items)), room - given, window.step)
    left = room - sum(cost for at, cost in enumerate(costs) if at not in gone)
    return FittedRequest(max(min(given, left), 0), gone)


def cost_of(wire: Wire, body: Mapping[str, Any]) -> int:
    """The tokens of a request."""
    return sum(cost_of_each(_items(wire, body))) + cost_of_frame(body)


def is_kept_there(body: Mapping[str, Any], talk: Dialogue) -> bool:
    """Whether the provider has what was said before: it alone can leave some of that out."""
    return bool(talk.follows or body.get("conversation"))


def _items(wire: Wire, body: Mapping[str, Any]) -> Sequence[object]:
    found = body.get(wire.items)
    return found if isinstance(found, list) else [found]


def _newest(talk: Dialogue, many: int) -> int:
    """The place of the newest question; where nobody asks anything, of what came last."""
    return next((said.at for said in reversed(talk.said) if said.role == "user" and said.is_said), many - 1)
