"""`recollect chat`: a conversation with a model that remembers, typed line by line or asked once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, RecollectError
from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.terminal.options import NO_BACKGROUND
from recollect.faces.cli.terminal.output import harmless
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.views.answering import MODE, tell_destination, told, words_of
from recollect.faces.present.names import short, speaker, titled
from recollect.faces.present.times import day

if TYPE_CHECKING:
    from recollect.answer.chat.events import Answer
    from recollect.answer.chat.retrieve import Source
    from recollect.memory import Memory
    from recollect.search.query.request import Mode

_BUDGET = 10_000
_LEAVE = ("/quit", "/exit", "/q")
_HELP = "/new begins a new conversation, /sources shows where the last answer comes from, /quit ends."
_SHOWN = 5  # sources


def chat(
    session: Session,
    text: list[str],
    in_: str | None = None,
    new: bool = False,
    title: str = "",
    model: str | None = None,
    budget: int = _BUDGET,
    mode: Mode = "auto",
    no_tools: bool = False,
    no_background: bool = False,
) -> int:
    """Talk with a model that remembers, or get the passages without one.

    A TEXT is answered once; without one you type line by line, and end with /quit. It goes on with the last
    chat, unless --in names another conversation or --new begins one. The model is the one of --model, else of the
    setting `model`; your question and the messages found go to it, and an API key in the environment is not used
    unasked. Without a model you get the passages that may answer, and nothing leaves this machine.
    """
    if new and in_:
        raise InvalidInput("--new and --in exclude each other.")
    if no_background:
        session.without_background()
    spec = session.answering_model(model)
    asked = Asked(title, budget, mode, tools=not no_tools)
    memory = session.memory()
    talk = Talk(session, memory, asked, _conversation(session, memory, in_, new=new))
    if text:
        question = words_of(text)
        tell_destination(session, spec)
        talk.once(question)
        return 0
    if session.json:
        raise InvalidInput("--json answers one question.", hint='Give it: recollect chat "…" --json')
    if spec or not session.chose_model:
        tell_destination(session, spec, "what you type")
    if not spec:
        session.out.note(session.out.dim("No language model is set: you get the messages that may answer."))
    talk.tell_where()
    for line in _lines(session):
        if line in _LEAVE:
            break
        talk.take(line)
    return 0


@dataclass(frozen=True)
class Asked:
    """How each turn of a run is answered."""

    title: str
    budget: int
    mode: Mode
    tools: bool


class Talk:
    """One run: the conversation that it goes on with, None until there is one, and the last answer."""

    def __init__(self, session: Session, memory: Memory, asked: Asked, conversation: str | None) -> None:
        self._session, self._memory, self._asked = session, memory, asked
        self._conversation, self._last = conversation, None

    _last: Answer | None

    def tell_where(self) -> None:
        """Says which conversation it is, and what can be typed."""
        out = self._session.out
        if self._conversation is None:
            out.note("A new conversation.")
        else:
            found = self._memory.integration.conversation_named(self._conversation)
            out.note(f"In {harmless(titled(found.title if found else ''))!r} ({short(self._conversation)}).")
        if out.can_ask:
            out.note(_HELP)

    def take(self, line: str) -> None:
        """Does what a typed line says; an error ends the turn and not the run."""
        out = self._session.out
        if not line.strip():
            return
        if line == "/new":
            self._conversation = self._last = None
            out.note("A new conversation.")
        elif line == "/sources":
            for shown in self._sources(self._last.sources if self._last else ()):
                out.line(shown)
        elif line.startswith("/"):
            out.note(_HELP)
        else:
            try:
                self._turn(line)
            except KeyboardInterrupt:
                out.note("\nInterrupted: this turn is not saved.")
            except RecollectError as problem:
                out.note(" ".join(filter(None, (harmless(problem.message), out.hint(problem.hint)))))

    def once(self, question: str) -> None:
        """Answers one question."""
        if not self._session.json:
            self._turn(question)
            return
        answer = self._memory.chat(
            self._conversation,
            question,
            budget=self._asked.budget,
            mode=self._asked.mode,
            title=self._asked.title,
            tools=self._asked.tools,
        )
        self._session.state.remember_chat(answer.conversation_id)
        self._session.out.document(answer.to_json())

    def _turn(self, question: str) -> None:
        from recollect.answer.chat.events import Answer, ToolUsed

        out = self._session.out
        stream = self._memory.chat_stream(
            self._conversation,
            question,
            budget=self._asked.budget,
            mode=self._asked.mode,
            title=self._asked.title,
            tools=self._asked.tools,
        )

        def tell(event: object) -> Answer | None:
            if isinstance(event, ToolUsed):
                out.note(out.dim(harmless(f"({event.name} {' '.join(event.arguments.split())[:80]})")))
            return event if isinstance(event, Answer) else None

        answer, said = told(out, stream, tell)
        self._tell(answer, said=said)

    def _tell(self, answer: Answer, *, said: bool) -> None:
        """The end of a turn: the answer, where nothing of it was shown yet, its sources, and how to go on."""
        out = self._session.out
        if answer.model is None:
            out.line(harmless(answer.text))
        elif said:
            out.line()
        for line in self._sources([source for source in answer.sources if source.is_used]):
            out.line(out.dim(line))
        if answer.resolved != answer.question:
            out.note(out.dim(f"(understood as: {harmless(answer.resolved)})"))
        if answer.note:
            out.note(answer.note)
        if self._conversation is None:
            hint = f'Saved. To go on: recollect chat "…", or recollect chat --in {short(answer.conversation_id)} "…"'
            out.note(out.dim(out.hint(hint)))
        self._conversation, self._last = answer.conversation_id, answer
        self._session.state.remember_chat(answer.conversation_id)

    def _sources(self, sources: tuple[Source, ...] | list[Source]) -> Iterator[str]:
        sign = self._session.out.symbols.dot
        for source in sources[:_SHOWN]:
            message = source.message
            when = f" {sign} {day(message.timestamp)}" if message.timestamp else ""
            who = harmless(speaker(message, ""))
            yield f"[{source.number}] {who}{when} {sign} {harmless(titled(source.title))} {sign} {short(message.id)}"


def _conversation(session: Session, memory: Memory, named: str | None, *, new: bool) -> str | None:
    """The conversation to go on with: the one that is named, else that of the last chat, if it is still there."""
    if new:
        return None
    if named is not None:
        return memory.resolve(named)[0].conversation.id
    last = session.state.last_chat()
    return last if last is not None and memory.integration.conversation_named(last) is not None else None


def _lines(session: Session) -> Iterator[str]:
    """What is typed, a line at a time, until the end of the input or an interrupt."""
    asks = session.out.can_ask
    if asks:
        _edit_lines()
    while True:
        try:
            line = input("> ") if asks else sys.stdin.readline()
        except (EOFError, KeyboardInterrupt):
            session.out.note("")
            return
        if not asks and not line:
            return
        yield line.strip()


def _edit_lines() -> None:
    """Cursor keys and the lines before, where the machine has readline."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return


COMMAND = Command(
    chat,
    ('recollect chat "what did I decide about the bike?"', "recollect chat --in Sourdough", "recollect chat --new"),
    (
        Option(("--in",), "Go on with this conversation.", "TITLE|ID", name="in_"),
        Option(("--new",), "Begin a new conversation.", default=False),
        Option(("--title",), "The title of the new conversation.", "TEXT", default=""),
        Option(("--model",), "The model that answers: anthropic:…, openai:…, none.", "SPEC"),
        Option(("--budget",), "Tokens that the model is given.", "N", default=_BUDGET, read=whole(2000)),
        MODE,
        Option(("--no-tools",), "The model is given no tools to look further.", default=False),
        NO_BACKGROUND,
    ),
    Words("TEXT|-", "text", several=True, dashes=True),
)
