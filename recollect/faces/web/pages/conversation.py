"""A conversation or a document, opened at a match, and a conversation as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped
from recollect.faces.present.names import clock, day, source_label, titled
from recollect.faces.present.summaries import SummaryLine, summary_lines
from recollect.faces.present.views import as_json
from recollect.faces.web.page import address, json_response, page, wants_json
from recollect.faces.web.views.messages import (
    DisplayedMessage,
    Highlights,
    OpenedConversation,
    OutlineQuestion,
    Strip,
    conversation_strip,
    path_through,
    questions,
)
from recollect.faces.web.wording import speaker
from recollect.memory import Memory
from recollect.record import REPORTS, Kind, Message, NodeId, Thread
from recollect.text.language import addressed

router = APIRouter()

_FURTHER = 100  # messages that are drawn when one goes on
_NOTES = 3  # beside a message
_SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@router.get("/c/{id:path}")
def conversation(
    request: Request,
    memory: Scoped,
    id: str,
    q: str = "",
    at: str = "",
    span: Annotated[list[str], Query()] = [],  # noqa: B006 - FastAPI copies it
    mark: Annotated[list[str], Query()] = [],  # noqa: B006
    first: int | None = None,
    last: int | None = None,
    way: str = "",
) -> Response:
    """The conversation. `at` is a message in it, `q` the words sought, `span` and `mark` what is quoted of it."""
    thread = memory.conversation(id)
    opened = _message(thread, at)
    quotations = [*_spans(opened, span), *mark]
    chosen = opened.id if opened is not None else None
    talk = OpenedConversation(thread, path_through(thread.messages, chosen), chosen, Highlights(q, quotations))
    if wants_json(request):
        return json_response(_as_json(talk))
    begin, end = talk.window(first, last)
    shown = ConversationView(request, memory, talk, q, quotations, begin, end, way)
    part = "messages" if first is not None else None
    return page(request, "conversation.html", fragment=part, here="/search", page=shown, talk=talk, q=q)


def _message(thread: Thread, named: str) -> Message | None:
    """The message that is named by its id, or that of a call of a tool in it. Raises NotFound."""
    if not named:
        return None
    calls = {call.id: call.message_id for call in thread.tool_calls}
    wanted = calls.get(NodeId(named), NodeId(named))
    found = next((m for m in thread.messages if m.id == wanted), None)
    if found is None or found.erased:
        raise NotFound("This message is not in the conversation any more.", hint="The rest of it is still there.")
    return found


def _spans(message: Message | None, spans: Sequence[str]) -> list[str]:
    """What stands at "120-180" of a message; a span that is none is left out."""
    if message is None:
        return []
    found = filter(None, map(_SPAN.fullmatch, spans))
    return [message.content[int(span[1]) : int(span[2])] for span in found]


@dataclass(frozen=True, slots=True)
class FactNote:
    """Something that was drawn from a message."""

    label: str
    text: str
    href: str


@dataclass(frozen=True)
class ConversationView:
    """What the page shows, from the first place to the last."""

    request: Request = field(repr=False)
    memory: Memory = field(repr=False)
    talk: OpenedConversation
    q: str
    quotations: Sequence[str]
    begin: int
    end: int
    way: str = ""  # of what is drawn further: earlier, later

    @property
    def conversation(self) -> Any:
        """The conversation itself."""
        return self.talk.thread.conversation

    @property
    def drawn(self) -> tuple[DisplayedMessage, ...]:
        """The messages that are drawn."""
        return self.talk.shown[self.begin : self.end]

    def words(self, one: DisplayedMessage) -> Any:
        """The words of a message, marked."""
        return self.talk.sought.words(one.message, is_now=one.is_now)

    def href(self, one: DisplayedMessage | None) -> str:
        """To a message of this conversation: within the page where it is drawn, else around it."""
        return "" if one is None else self.address(one.message.id)

    def address(self, id: NodeId | None, **more: object) -> str:
        """The address of this conversation at a message."""
        anchor = f"#m-{id}" if id else ""
        return address(f"/c/{self.conversation.id}{anchor}", self.request, q=self.q, at=id, **more)

    @property
    def earlier(self) -> str:
        """The address of some more of it, before what is drawn; empty where there is none, or another part has it."""
        return (
            "" if self.begin == 0 or self.way == "later" else self._range(self.begin - _FURTHER, self.begin, "earlier")
        )

    @property
    def later(self) -> str:
        """The same of what comes after."""
        is_all = self.end >= len(self.talk.shown) or self.way == "earlier"
        return "" if is_all else self._range(self.end, self.end + _FURTHER, "later")

    def _range(self, first: int, last: int, way: str) -> str:
        at = self.talk.shown[self.talk.now].message.id if self.talk.now is not None else None
        path = f"/c/{self.conversation.id}"
        return address(path, self.request, q=self.q, at=at, first=str(max(0, first)), last=last, way=way)

    @cached_property
    def questions(self) -> list[OutlineQuestion]:
        """One's questions."""
        return questions(self.talk.shown, self.talk.now)

    @cached_property
    def strip(self) -> Strip:
        """All of it at a glance."""
        return conversation_strip(self.talk.shown, self.talk.now)

    @cached_property
    def gist(self) -> list[SummaryLine]:
        """What it comes down to, where that was made."""
        found = self.memory.summaries(self.conversation.id, "conversation")
        return [line for summary in found[:1] for line in summary_lines(summary)]

    @cached_property
    def notes(self) -> Mapping[NodeId, list[FactNote]]:
        """Facts beside the messages that prove them; each once, where it was first said."""
        beside: dict[NodeId, list[FactNote]] = {}
        here = {one.message.id for one in self.drawn}
        for fact in self.memory.facts(conversation=self.conversation.id):
            proof = next((p.message_id for p in fact.proofs if p.message_id in here), None)
            if proof is not None:
                href = address(f"/facts#f-{fact.id}", self.request, about=fact.entity)
                beside.setdefault(proof, []).append(FactNote(fact.category or "fact", addressed(fact.content), href))
        return {message: notes[:_NOTES] for message, notes in beside.items()}

    @property
    def span(self) -> tuple[Any, Any]:
        """When it began and ended."""
        times = [m.timestamp for m in self.talk.path.messages if m.timestamp is not None]
        return (min(times), max(times)) if times else (self.conversation.created, self.conversation.updated)

    @property
    def models(self) -> list[str]:
        """The models that answered, in order."""
        return list(dict.fromkeys(m.model for m in self.talk.path.messages if m.model))[:3]

    @cached_property
    def counted(self) -> Mapping[str, int]:
        """How many messages there are, and how many of them are not shown here."""
        living = [m for m in self.talk.thread.messages if not m.deleted]
        path = {m.id for m in self.talk.path.messages}
        return {
            "messages": len(living),
            "elsewhere": sum(m.id not in path for m in living),
            "deleted": sum(m.deleted and not m.erased for m in self.talk.thread.messages),
            "forgotten": sum(m.erased for m in self.talk.thread.messages),
        }


def _as_json(opened: OpenedConversation) -> dict[str, Any]:
    """The conversation with the places of what matches."""
    shown: dict[str, Any] = as_json(opened.thread.conversation)
    return shown | {
        "at": opened.shown[opened.now].message.id if opened.now is not None else None,
        "matches": [opened.shown[place].message.id for place in opened.matches],
        "messages": [_message_as_json(one, opened.sought.places) for one in opened.shown],
    }


def _message_as_json(one: DisplayedMessage, places: Callable[[str], Any]) -> dict[str, Any]:
    shown: dict[str, Any] = as_json(one.message)
    return shown | {
        "marks": places(one.message.content) if one.is_match and not one.message.deleted else [],
        "folded": [{"kind": f.kind, "label": f.label, "text": f.text} for f in one.folded],
        "branch": {"number": one.fork.number, "among": one.fork.among} if one.fork else None,
    }


def as_markdown(thread: Thread) -> str:
    """The whole file."""
    return "\n".join(_lines(thread)) + "\n"


def _lines(thread: Thread) -> Iterator[str]:
    c = thread.conversation
    yield f"# {titled(' '.join(c.title.split()))}"
    yield ""
    yield f"{source_label(c.source)}, {day(c.created)}. {c.id}"
    for message in thread.messages:
        if not message.active or message.deleted or message.kind not in (Kind.SAID, Kind.SUBAGENT):
            continue
        when = f", {day(message.timestamp)} {clock(message.timestamp)}" if message.timestamp else ""
        yield ""
        yield f"## {' '.join(speaker(message, c.source).split())}{when}"
        yield ""
        yield message.content.strip()


_LONGEST_MARK = 400  # characters of a line: some hold a whole document


@router.get("/document/{id}")
def document(request: Request, memory: Scoped, id: str, at: int = -1, to: int = -1) -> Response:
    """A document with `[at, to)` marked, without an end the line around `at`. Reports have a page of their own."""
    found = memory.document(id)
    if found.source == REPORTS:
        return RedirectResponse(address(f"/research/{found.id}", request), 303)
    start, end = _marked(found.content, at, to)
    return page(
        request,
        "document.html",
        here="/search",
        data=lambda: {"id": found.id, "title": found.title, "source": found.source, "content": found.content},
        document=found,
        before=found.content[:start],
        marked_words=found.content[start:end],
        after=found.content[end:],
    )


def _marked(text: str, at: int, to: int) -> tuple[int, int]:
    if not 0 <= at < len(text):
        return len(text), len(text)
    if to >= 0:
        return at, max(at, min(to, len(text)))
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    return (start, end) if end - start <= _LONGEST_MARK else (at, min(end, at + _LONGEST_MARK))
