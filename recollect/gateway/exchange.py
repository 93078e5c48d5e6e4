"""One request and its answer: the request as it is sent on, with what the memory knows, and what is kept of both."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Literal
from urllib.parse import quote

from recollect.context.result import tokens_in
from recollect.context.standing import room_for
from recollect.errors import InvalidInput, RecollectError
from recollect.gateway.aligning import LOOKED_UP, likeness_of
from recollect.gateway.blocks import TIMES, Blocks, GivenBlock, share
from recollect.gateway.events import AnswerStart, Events, Refusal, is_event_stream, is_failure
from recollect.gateway.fitting import (
    ContextWindows,
    FittedRequest,
    answer_allowed,
    cost_of,
    fit,
    holds_files,
    is_kept_there,
)
from recollect.gateway.keeping import keep, keep_first, keep_out, recorded
from recollect.gateway.scope import ATTEMPT, RequestScope, read_scope, without_ours
from recollect.gateway.talk import Dialogue, HeardAnswer
from recollect.gateway.threads import PlacedDialogue, RecentDialogues, Threads, answer_id
from recollect.gateway.wires import RESPONSES, Wire
from recollect.importers.reading.lenient import text_of
from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.record import NodeId, is_within, new_id, stable_id
from recollect.text.clean import OPEN

BUDGET = 4_000  # tokens that a request is given at most, unless it says otherwise
_LEAST, _MOST = 400, 100_000
TRIES = 4  # so often a request is sent that turns out to be too long
_WINDOW = 10  # exchanges of the conversation itself, for clients that send only what is new
_LONGEST = 2_000  # characters of a text that is looked up
_SHORT = 40  # characters: so short a text is looked up together with what was said before it
_NEVER_REFUSED = 10_000  # characters of a request: every model takes so much
_HELD = 2_000  # messages that a provider is taken to have of what it keeps
_AWAITED = 500  # answers that are fetched later

_NOTHING = FittedRequest(0)

_log = logging.getLogger("recollect.endless")


@dataclass(frozen=True, slots=True)
class Endless:
    """Gives requests a memory. Thread-safe. `memory_of` finds the memory of a namespace; `window` is how many tokens a
    request may have, 0 for any number, None for what its server allows.
    """

    memory_of: Callable[[str], Memory]
    budget: int = BUDGET
    window: int | None = None
    windows: ContextWindows = field(default_factory=ContextWindows)
    threads: Threads = field(default_factory=Threads)
    blocks: Blocks = field(default_factory=Blocks)
    awaited: RecentDialogues[ProxiedExchange] = field(default_factory=lambda: RecentDialogues(_AWAITED))
    recording: Recording = field(default_factory=Recording.own)
    by: Literal["proxy", "wrap"] = "proxy"

    def fetched(
        self, path: str, headers: Mapping[str, str], upstream: str, *, within: Sequence[str] = ()
    ) -> ProxiedExchange | None:
        """What listens to an answer that is made in the background, where `path` asks for it; None for another, and for
        one of a namespace that the client may not reach.
        """
        below, _, name = path.strip("/").rpartition("/")
        if not f"/{below}".endswith(RESPONSES.path):
            return None
        found = self.awaited.find((upstream, client_of(headers)), answer_id(name))
        is_reached = found is not None and (not within or is_within(found.asked.namespace, within))
        return found.later() if found is not None and is_reached else None

    def begin(
        self,
        wire: Wire,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        address: str = "",
        own: str = "",
        within: Sequence[str] = (),
        counts_only: bool = False,
        upstream: str = "",
    ) -> ProxiedExchange:
        """A request as it is to be sent. `counts_only`: nothing is answered, and nothing kept. `upstream` is the server
        that is asked; `within` are the namespaces that the client may reach, none for all. Raises InvalidInput for a
        namespace or a number that is none, NotAllowed; what else goes wrong costs the request its memory, nothing more.
        """
        talk = wire.read(body)
        headers = {ATTEMPT: new_id(), **headers}  # whoever tries again asks the same
        asked = read_scope(headers, body, talk, address=address, own=own, within=within)
        bare = without_ours(body)
        again = partial(
            self.begin,
            wire,
            body,
            headers,
            address=address,
            own=own,
            within=within,
            counts_only=counts_only,
            upstream=upstream,
        )
        # A file may be a thousand pages long: what is learned from a request with one holds for such requests.
        kind = "files" if holds_files(body) else ""
        model = (upstream, asked.client, str(body.get("model")), headers.get("anthropic-beta", ""), kind)
        exchange = ProxiedExchange(self, wire, asked, bare, again, model, changed=bare is not body)
        exchange.heard.many, exchange.heard.prefill = talk.answers, talk.prefill
        exchange.heard.is_repeated = wire.vendor == "openai"  # some servers give the beginning back, some do not
        is_said = any(one.is_said or one.calls or one.results for one in talk.said)
        try:
            asked = exchange.asked = self._where_it_was(asked)
            if not (asked.stores and self.recording.is_on()):
                exchange.leave_no_trace()
            exchange.fit = self._fitted(exchange, talk)
            if counts_only or _asks_nothing(body) or not is_said:
                exchange.asked = replace(exchange.asked, stores=False)
            if is_said:
                self._prepare(exchange, talk)
        except RecollectError as problem:
            _log.warning("A request goes on without its memory: %s", problem)
            exchange.degraded = problem.message
        except Exception as bug:  # somebody waits for an answer, which needs nothing of us
            _log.exception("A request goes on without its memory.")
            exchange.degraded = f"Something went wrong inside Recollect ({type(bug).__name__})."
        exchange.leave_out()
        return exchange

    def _fitted(self, exchange: ProxiedExchange, talk: Dialogue) -> FittedRequest:
        """What of a request goes, and what it may be given."""
        asked = exchange.asked
        given = TIMES * self._budget(asked) if asked.recalls else 0
        told = self.window if asked.window is None else asked.window
        # What goes and is not stored is gone: only a limit that somebody has set is a reason for that.
        exchange.may_be_cut = (
            told != 0 and (told is not None or asked.stores) and not is_kept_there(exchange.body, talk)
        )
        window = self.windows.of(exchange.model, told) if exchange.may_be_cut else None
        return FittedRequest(given) if window is None else fit(exchange.wire, exchange.body, talk, window, given)

    def _where_it_was(self, asked: RequestScope) -> RequestScope:
        """The same, of a project that has been remembered since 0.2.0 in the namespace that it had there."""
        is_there = asked.why == "project" and self.memory_of(asked.earlier).conversations(limit=1)
        return replace(asked, namespace=asked.earlier) if is_there else asked

    def _budget(self, asked: RequestScope) -> int:
        """How many tokens one question is given at most, 0 for none."""
        wanted = self.budget if asked.budget is None else asked.budget
        return min(max(wanted, _LEAST), _MOST) if wanted else 0

    def _prepare(self, exchange: ProxiedExchange, talk: Dialogue) -> None:
        asked, gone = exchange.asked, exchange.fit.gone
        memory = exchange.memory = self.memory_of(asked.namespace)
        exchange.said, exchange.length = _said(exchange)
        placed = self.threads.place(memory, talk, asked, exchange.said)
        if placed.is_empty:  # what tools answered to somebody else
            exchange.asked = replace(asked, stores=False)
            return
        exchange.placed, talk = placed, placed.talk
        if asked.stores:
            going = recorded(self.recording, placed)
            if going is None:
                exchange.leave_no_trace()
            else:
                placed = exchange.placed = going
        asked = exchange.asked
        if gone and asked.stores:  # what the model is not sent must be found
            until = max((n for n, said in enumerate(talk.said) if said.at in gone), default=-1)
            placed = exchange.placed = keep_first(memory, self.threads, placed, until)
        most = exchange.fit.given
        if most < _LEAST or _is_given(talk, exchange.body, exchange.wire):
            return
        users = [n for n, one in enumerate(talk.said) if one.role == "user" and one.is_said]
        if not users:
            return
        kept = {
            n: block
            for n in users[:-1]
            if talk.said[n].at not in gone
            and (block := self.blocks.of(memory, _named(placed.names[n], gone))) is not None
            and block.text
        }
        key = _named(placed.key, gone)
        newest = self.blocks.of(memory, key)
        is_told = newest is not None and not _untold(memory, [*kept.values(), newest])
        if newest is None or newest.tokens > most or not is_told:
            newest = self._told(exchange, talk, users[-1], key, list(kept.values()))
        if kept and sum(block.tokens for block in (*kept.values(), newest)) > most:
            self.blocks.drop(memory, [_named(placed.names[n], gone) for n in kept])
            kept = {}
            newest = self._told(exchange, talk, users[-1], key, [])
        if newest.text:
            kept[users[-1]] = newest
        if kept:
            exchange.tokens = sum(block.tokens for block in kept.values())
            given = {talk.said[n].at: block.text for n, block in kept.items()}
            exchange.body = exchange.wire.with_blocks(exchange.body, given)
            exchange.changed = True

    def _told(
        self, exchange: ProxiedExchange, talk: Dialogue, asked: int, key: NodeId, before: Sequence[GivenBlock]
    ) -> GivenBlock:
        """What is told before what is asked, beside the blocks before it."""
        memory, placed, fit = exchange.memory, exchange.placed, exchange.fit
        assert memory is not None
        assert placed is not None
        text = _looked_up(talk, asked)
        room = share(self._budget(exchange.asked), fit.given, sum(block.tokens for block in before))
        told = {own for block in before for own in block.told}
        if rules := _untold(memory, before):
            room += room_for(rules)
        is_left_to_us = placed.goes_on and not is_kept_there(exchange.body, talk)
        context = memory.prepare_context(
            text,
            placed.conversation_id if is_left_to_us else None,
            room + tokens_in(text),
            config={"recent_window_size": _WINDOW if is_left_to_us else 0, "include_tool_calls": False},
            known=[*_sent(exchange, talk), *told],
            tools=False,
        )
        exchange.degraded = context.degraded or ""
        block = self.blocks.make(memory, key, context)
        if block.text and exchange.asked.stores:
            memory.integration.record_request(
                self.by, context.parts, conversation_id=placed.conversation_id, message_id=placed.ids.get(asked)
            )
        return block


@dataclass(slots=True, eq=False)
class ProxiedExchange:
    """A request on its way, and its answer. `body` is what is sent; `changed`: it is not what came; `stores`: what is
    said will be stored, or has been.
    """

    endless: Endless
    wire: Wire
    asked: RequestScope
    body: Mapping[str, Any]
    again: Callable[[], ProxiedExchange]
    model: tuple[str, ...]  # as its windows are known
    changed: bool = False
    may_be_cut: bool = False
    fit: FittedRequest = _NOTHING
    memory: Memory | None = None
    placed: PlacedDialogue | None = None
    said: NodeId | None = None  # the name of all that the request says
    length: int = 0  # of that, in characters
    is_later: bool = False  # what is asked for is the answer to an earlier request
    tokens: int = 0
    degraded: str = ""
    heard: HeardAnswer = field(default_factory=HeardAnswer)
    _events: Events = field(default_factory=Events)
    _leaves_no_trace: bool = False
    _is_kept: bool = False
    _failed: bool = False
    _broke: bool = False  # a server has said so
    _keeping: Lock = field(default_factory=Lock)

    @property
    def headers(self) -> dict[str, str]:
        """What the answer says of the memory."""
        found = {
            "X-Recollect-Namespace": quote(self.asked.namespace, safe="/@+:,;=!*'()~"),
            "X-Recollect-Scope": self.asked.why,
            "X-Recollect-Context": str(self.tokens),
            "X-Recollect-Stored": "yes" if self.stores else "no",
        }
        if self.fit.gone:
            found["X-Recollect-Left-Out"] = str(len(self.fit.gone))
        if self.placed is not None:
            found["X-Recollect-Conversation"] = self.placed.conversation_id
        if self.degraded:
            found["X-Recollect-Degraded"] = " ".join(self.degraded.encode("ascii", "replace").decode().split())
        return found

    @property
    def stores(self) -> bool:
        """Whether what is said is stored: as far as that is known, while it is not said yet."""
        return not self._failed and self.asked.stores and self.memory is not None and self.placed is not None

    def leave_no_trace(self) -> None:
        """Stores nothing of it, now or when it is sent again."""
        self.asked, self._leaves_no_trace = replace(self.asked, stores=False), True

    def leave_out(self) -> None:
        """Leaves out what has to go."""
        if self.fit.gone:
            self.body, self.changed = self.fit.rest(self.wire, self.body), True

    def shorter(self, refusal: Refusal) -> ProxiedExchange | None:
        """The same request once more, shorter than what was refused for its length; None where it cannot be."""
        if not self.may_be_cut:
            return None
        own = cost_of(self.wire, self.body)
        self.endless.windows.learn(self.model, refusal, own, answer_allowed(self.body) or 0)
        again = self.again()
        return again if cost_of(again.wire, again.body) < own else None

    @property
    def content(self) -> bytes:
        """The body as it is sent, where it is not what came. Raises InvalidInput for a number that cannot be written
        again: what is not changed goes on as it came.
        """
        try:
            written = json.dumps(self.body, ensure_ascii=False, allow_nan=False)
        except ValueError as problem:
            raise InvalidInput(
                "The request holds a number that is none in JSON, or too large to be written again.",
                hint="Leave it out, or ask for no context: X-Recollect-Budget: 0.",
            ) from problem
        # Half of a pair that stands for one character goes on as the escape that it came as.
        return written.encode("utf-8", "backslashreplace")

    def streams(self, content_type: str) -> bool:
        """Whether an answer of this type may come event by event: some servers call a stream that was asked for
        something else.
        """
        return is_event_stream(content_type) or self.body.get("stream") is True

    def opening(self, status: int) -> AnswerStart:
        """What reads the beginning of the answer."""
        return AnswerStart(status, waits=self.may_be_cut and self.length > _NEVER_REFUSED)

    def begun(self, opening: AnswerStart) -> None:
        """Takes in how an answer begins. What cannot be read is not stored, nor said to be."""
        first, trial = opening.first, HeardAnswer()
        if opening.is_json and first is not None:
            self._listen([first], trial)
            self._failed = trial == HeardAnswer()
        self._failed = self._failed or not opening.is_readable or (first is not None and is_failure(first))

    def hear(self, piece: bytes) -> bool:
        """Listens to a piece of an answer that streams. Whether the answer is whole now, and not kept yet."""
        self._listen(self._events.feed(piece), self.heard)
        return self.heard.is_over and not self._is_kept

    def ended(self) -> None:
        """Takes in that a stream has come to its end, rather than broken off."""
        self._listen(self._events.end(), self.heard)

    def _listen(self, events: Sequence[Mapping[str, Any]], heard: HeardAnswer) -> None:
        for event in events:
            self._broke = self._broke or is_failure(event)
            if self.is_later and "delta" in event:
                continue  # it may come from its middle on: at its end all of it is told once more
            try:
                self.wire.hear(event, heard)
            except Exception:  # it goes on to the client, who may understand it
                _log.warning("An event of an answer could not be read.", exc_info=True)
        if self._events.is_done and not self._broke:  # some servers give no reason to end
            for one in heard.answers:
                one.is_whole = one.is_whole or bool(one.text or one.calls)

    def hear_whole(self, answer: object) -> None:
        """Listens to an answer that comes in one piece."""
        try:
            if isinstance(answer, Mapping):
                self.wire.whole(answer, self.heard)
        except Exception:
            _log.warning("An answer could not be read.", exc_info=True)

    def answered(self, content: bytes, *, is_success: bool) -> None:
        """Listens to an answer that comes in one piece, and keeps it; of a refusal nothing is kept."""
        try:
            if is_success:
                self.hear_whole(json.loads(content))
        except (ValueError, RecursionError):
            _log.warning("An answer is no JSON.")
        self.keep()

    def keep(self) -> None:
        """Keeps what was said; once, and who comes second waits for that. To be called whenever an exchange ends:
        nothing is kept of a request that was not answered, and the same request again is the same turn.
        """
        with self._keeping:
            if not self._is_kept:
                self._is_kept = True
                self._failed = not self._keep()

    def _keep(self) -> bool:
        """Whether anything was stored."""
        if self.placed is not None and self.heard.is_anything and self._is_kept_out(self.placed):
            return False
        if not self.asked.stores or self.memory is None or self.placed is None or self.said is None:
            return False
        if self.body.get("background") is True and self.heard.id and not self.heard.is_whole:
            self.endless.awaited.keep((self.model[0], self.asked.client), answer_id(self.heard.id), self)
        is_stored = not self._failed and self.heard.is_anything and self._store(self.memory, self.placed)
        self.endless.threads.end(self.asked, self.said, is_heard=self.heard.is_answer)
        return is_stored

    def later(self) -> ProxiedExchange:
        """What listens to the same answer, fetched by another request."""
        return replace(
            self,
            heard=HeardAnswer(many=self.heard.many),
            changed=False,
            may_be_cut=False,
            is_later=True,
            _events=Events(),
            _is_kept=False,
            _failed=False,
            _broke=False,
            _keeping=Lock(),
        )

    def _is_kept_out(self, placed: PlacedDialogue) -> bool:
        """Whether it is not to be recorded, as things are now; then it stays out."""
        recording = self.endless.recording
        try:
            if not self._leaves_no_trace and (not self.asked.stores or recording.is_on()):
                return False
            keep_out(recording, placed, self.heard)
        except RecollectError as problem:
            _log.error("An answer was not kept: %s", problem)
        return True

    def _store(self, memory: Memory, placed: PlacedDialogue) -> bool:
        """Whether that went well."""
        for one in self.heard.answers:
            one.model = one.model or text_of(self.body.get("model"))
        try:
            keep(memory, self.endless.threads, placed, self.heard)
        except RecollectError as problem:
            _log.error("An answer was not kept: %s", problem)
            return False
        except Exception:
            _log.exception("An answer was not kept.")
            return False
        return True


def client_of(headers: Mapping[str, str]) -> str:
    """Whose request it is, by its key."""
    return read_scope(headers, {}, Dialogue(())).client


def _said(exchange: ProxiedExchange) -> tuple[NodeId, int]:
    """The name of all that a request says, whether the answer is to stream or not, and how long that is."""
    said = {key: value for key, value in exchange.body.items() if key not in ("stream", "stream_options")}
    text = json.dumps(said, ensure_ascii=False, sort_keys=True)
    return stable_id("turn", exchange.asked.conversation, text), len(text)


def _sent(exchange: ProxiedExchange, talk: Dialogue) -> list[NodeId]:
    """The stored messages that the model is sent with a request, or has at its provider."""
    memory, placed = exchange.memory, exchange.placed
    if memory is None or placed is None or not (placed.parent or exchange.body.get("conversation")):
        return []
    if is_kept_there(exchange.body, talk):
        return [one.id for one in memory.latest(placed.conversation_id, _HELD, until=placed.parent or "")]
    places = (n for n in placed.names if n <= placed.after and talk.said[n].at not in exchange.fit.gone)
    # Some clients leave out what was said, or tell it in other words: what they do not tell the model has not.
    told = {likeness_of(talk.said[n]) for n in places}
    above = memory.latest(placed.conversation_id, len(told) + LOOKED_UP, until=placed.parent or "")
    return [one.id for one in above if likeness_of(one) in told]


def _asks_nothing(body: Mapping[str, Any]) -> bool:
    """Whether a request only warms a cache or tries a key."""
    return any(body.get(name) in (0, 1) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"))


def _untold(memory: Memory, blocks: Sequence[GivenBlock]) -> list[str]:
    """The rules that stand in none of the blocks: some may have been written since they were made."""
    told = {own for block in blocks for own in block.told}
    return [rule.content for rule in memory.knowledge.rules() if rule.id not in told]


def _named(digest: NodeId, gone: frozenset[int]) -> NodeId:
    """The name of a block: another where something else is left out, for then something else is worth telling."""
    return stable_id(digest, str(len(gone))) if gone else digest


def _is_given(talk: Dialogue, body: Mapping[str, Any], wire: Wire) -> bool:
    """Whether somebody before us gave it a memory: a wrapped client that asks through the proxy."""
    last = next((said for said in reversed(talk.said) if said.role == "user" and said.is_said), None)
    if last is None:
        return False
    items = body.get("input" if wire.path == "/responses" else "messages")
    given = items if isinstance(items, str) else items[last.at] if isinstance(items, list) else ""
    return OPEN in str(given)


def _looked_up(talk: Dialogue, last: int) -> str:
    """The words that the memory is asked with: of a long text its beginning and end."""
    text = talk.said[last].text
    if len(text) < _SHORT:
        before = next((one.text for one in reversed(talk.said[:last]) if one.role == "user" and one.text), "")
        text = f"{before[-_LONGEST // 4 :]}\n{text}".strip()
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"
