"""`recollect chat`, `context` and `brief`: conversations with a model, and what a model is given."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.context.settings import LEAST_TOKENS
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.faces.cli.commands.answers import print_destination, print_stream
from recollect.faces.cli.invocation import Invocation
from recollect.faces.cli.output import harmless
from recollect.faces.cli.parser import MODE, MODEL, NO_BACKGROUND, Arguments, Command, Option, whole, words_of
from recollect.faces.present.names import day, short, speaker, titled

if TYPE_CHECKING:
    from recollect.answer.evidence import SourcePassage
    from recollect.answer.results import ChatAnswer
    from recollect.context import Context
    from recollect.faces.cli.output import Output
    from recollect.ingest.requested import Requested
    from recollect.memory import Memory
    from recollect.search.query.request import Mode


_BUDGET = 10_000
_LEAVE = ("/quit", "/exit", "/q")
_HELP = "/new begins a new conversation, /sources shows where the last answer comes from, /quit ends."
_SHOWN = 5  # sources


def chat(
    run: Invocation,
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
    """Chat with a model that remembers; without a model, get matching passages.

    A TEXT is answered once; without one you type line by line, and end with /quit. It goes on with the last
    chat, unless --in names another conversation or --new begins one. The model is the one of --model, else of the
    setting `model`; your question and the messages found go to it, and an API key in the environment is not used
    unasked. Without a model you get the passages that may answer, and nothing leaves this machine.
    """
    if new and in_:
        raise InvalidInput("--new and --in exclude each other.")
    if no_background:
        run.without_background()
    spec = run.answering_model(model)
    asked = ChatOptions(title, budget, mode, tools=not no_tools)
    memory = run.memory()
    talk = ChatRun(run, memory, asked, _conversation(run, memory, in_, new=new))
    if text:
        question = words_of(text)
        print_destination(run, spec)
        talk.once(question)
        return 0
    if run.json:
        raise InvalidInput("--json answers one question.", hint='Give it: recollect chat "…" --json')
    if spec or not run.chose_model:
        print_destination(run, spec, "what you type")
    if not spec:
        run.out.note(run.out.dim("No language model is set: you get the messages that may answer."))
    talk.tell_where()
    for line in _lines(run):
        if line in _LEAVE:
            break
        talk.take(line)
    return 0


@dataclass(frozen=True)
class ChatOptions:
    """How each turn of a run is answered."""

    title: str
    budget: int
    mode: Mode
    tools: bool


class ChatRun:
    """One run: the conversation that it goes on with, None until there is one, and the last answer."""

    def __init__(self, run: Invocation, memory: Memory, asked: ChatOptions, conversation: str | None) -> None:
        self._run, self._memory, self._asked = run, memory, asked
        self._conversation, self._last = conversation, None

    _last: ChatAnswer | None

    def tell_where(self) -> None:
        """Says which conversation it is, and what can be typed."""
        out = self._run.out
        if self._conversation is None:
            out.note("A new conversation.")
        else:
            found = self._memory.integration.conversation_named(self._conversation)
            out.note(f"In {harmless(titled(found.title if found else ''))!r} ({short(self._conversation)}).")
        if out.can_ask:
            out.note(_HELP)

    def take(self, line: str) -> None:
        """Does what a typed line says; an error ends the turn and not the run."""
        out = self._run.out
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
        if not self._run.json:
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
        self._run.state.remember_chat(answer.conversation_id)
        self._run.out.document(answer)

    def _turn(self, question: str) -> None:
        from recollect.answer.results import ChatAnswer, ToolUsed

        out = self._run.out
        stream = self._memory.chat_stream(
            self._conversation,
            question,
            budget=self._asked.budget,
            mode=self._asked.mode,
            title=self._asked.title,
            tools=self._asked.tools,
        )

        def tell(event: object) -> ChatAnswer | None:
            if isinstance(event, ToolUsed):
                out.note(out.dim(harmless(f"({event.name} {' '.join(event.arguments.split())[:80]})")))
            return event if isinstance(event, ChatAnswer) else None

        answer, said = print_stream(out, stream, tell)
        self._tell(answer, said=said)

    def _tell(self, answer: ChatAnswer, *, said: bool) -> None:
        """The end of a turn: the answer, where nothing of it was shown yet, its sources, and how to go on."""
        out = self._run.out
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
        self._run.state.remember_chat(answer.conversation_id)

    def _sources(self, sources: tuple[SourcePassage, ...] | list[SourcePassage]) -> Iterator[str]:
        sign = self._run.out.symbols.dot
        for source in sources[:_SHOWN]:
            message = source.message
            when = f" {sign} {day(message.timestamp)}" if message.timestamp else ""
            who = harmless(speaker(message, ""))
            yield f"[{source.number}] {who}{when} {sign} {harmless(titled(source.title))} {sign} {short(message.id)}"


def _conversation(run: Invocation, memory: Memory, named: str | None, *, new: bool) -> str | None:
    """The conversation to go on with: the one that is named, else that of the last chat, if it is still there."""
    if new:
        return None
    if named is not None:
        return memory.resolve(named)[0].conversation.id
    last = run.state.last_chat()
    return last if last is not None and memory.integration.conversation_named(last) is not None else None


def _lines(run: Invocation) -> Iterator[str]:
    """What is typed, a line at a time, until the end of the input or an interrupt."""
    asks = run.out.can_ask
    if asks:
        _edit_lines()
    while True:
        try:
            line = input("> ") if asks else sys.stdin.readline()
        except (EOFError, KeyboardInterrupt):
            run.out.note("")
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


CHAT = Command(
    chat,
    ('recollect chat "what did I decide about the bike?"', "recollect chat --in Sourdough", "recollect chat --new"),
    (
        Option(("--in",), "Go on with this conversation.", "TITLE|ID", name="in_"),
        Option(("--new",), "Begin a new conversation.", default=False),
        Option(("--title",), "The title of the new conversation.", "TEXT", default=""),
        MODEL,
        Option(("--budget",), "Tokens that the model is given.", "N", default=_BUDGET, read=whole(2000)),
        MODE,
        Option(("--no-tools",), "The model is given no tools to look further.", default=False),
        NO_BACKGROUND,
    ),
    Arguments("TEXT|-", "text", several=True, dashes=True),
)


_NO_TEXT = ("There is no text.", 'Give one: recollect context "What did we decide about the API?"')


def context(
    run: Invocation,
    text: list[str],
    in_: str | None = None,
    budget: int | None = None,
    last: bool = False,
    never: str | None = None,
) -> int:
    """Print the context a model would get, with its token count.

    It holds the newest messages, summaries, facts, what answers, and an index of the rest, within a budget of tokens:
    10000, or INDEX_MAX_TOKENS in the environment. `-` alone reads the text from standard input. The context goes to
    standard output, what it costs to standard error.

    --last shows what was really put into the last request of the proxy, of a wrapped client, a chat, an MCP client or a
    hook, and where each line comes from; --last 5 into the last five. --never ID keeps one of the messages and facts
    that stand there out of all contexts and searches from now on.
    """
    memory = run.existing_memory()
    if never is not None:
        return _never(run, never)
    if last:
        return _print_last(run, _many(text))
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    made = memory.prepare_context(words_of(text, _NO_TEXT), conversation, budget)
    if not run.in_json(lambda: made):
        run.out.line(harmless(made.text))
        _print_costs(run.out, made)
    return 0


def _print_last(run: Invocation, many: int) -> int:
    found = run.existing_memory().integration.requests(many)
    if run.json:
        run.out.document({"requests": found})
    elif not found:
        run.out.line("Nothing was given yet to a chat, a client of the proxy or of MCP, or a coding agent.")
    else:
        for one in found:
            _print_request(run.out, one)
    return 0


def _print_request(out: Output, request: Requested) -> None:
    asked = f'  "{harmless(request.text)}"' if request.text else ""
    out.line(f"{request.at:%Y-%m-%d %H:%M}  {request.by}  {request.tokens:,} tokens{asked}")
    for part in request.parts:
        out.line(f"  {part.name}  {part.tokens:,} tokens")
        for item in (request.items[own] for own in part.ids):
            kept = "" if item.is_used else "  (not used again)"
            out.line(f"    {out.dim(short(item.id))}  {item.kind}: {harmless(item.text)}{kept}")


def _never(run: Invocation, name: str) -> int:
    """Keeps a fact or a message out, as `facts forget` and `delete` do."""
    memory = run.existing_memory()
    try:
        own = memory.knowledge.forget_fact(memory.knowledge.resolve_fact(name))
        kind, undo = "fact", f"recollect facts undo {short(own)}"
    except NotFound:
        message = memory.toolbox().get_message_by_id(name)
        memory.delete(message.id)
        own, kind, undo = message.id, "message", f"recollect restore {short(message.id)}"
    if not run.in_json(lambda: {"never": own, "kind": kind}):
        done = f"This {kind} is in no context and no search from now on."
        run.out.line(run.out.joined(done, f"To undo: {run.out.hint(undo)}"))
    return 0


def _many(text: list[str]) -> int:
    if not text:
        return 1
    if len(text) == 1 and text[0].isdecimal() and len(text[0]) < 5:
        return int(text[0])
    raise InvalidInput(
        "--last shows what was given, and takes no text.", hint="Say how many: recollect context --last 5"
    )


def _print_costs(out: Output, made: Context) -> None:
    for part in made.parts:
        named = f"  {len(part.ids):,} named" if part.ids else ""
        out.note(f"{part.name:<12}{part.tokens:>7,}{named}")
    out.note(f"{'in all':<12}{made.tokens:>7,} of {made.budget:,} tokens, {made.index_form}, {made.took:.0f} ms")
    if made.degraded:
        out.note(made.degraded)


CONTEXT = Command(
    context,
    (
        'recollect context "What did we decide about the API?"',
        'recollect context "and in Europe?" --in "Quarterly report" --budget 4000',
        "pbpaste | recollect context - --json",
        "recollect context --last",
        "recollect context --never 7Q2KAB",
    ),
    (
        Option(("--in",), "The conversation that goes on, whose newest messages are included.", "TITLE|ID", name="in_"),
        Option(("--budget",), "Tokens that it may have at most; 10000 unless set.", "N", read=whole(LEAST_TOKENS)),
        Option(("--last",), "What the last request was given, or the last N: why it was in the prompt.", default=False),
        Option(("--never",), "Never use a message or a fact again.", "ID"),
    ),
    Arguments("TEXT", "text", several=True, dashes=True),
)


_TOKENS, _LEAST = 1_500, 200


def brief(run: Invocation, folder: str | None = None, budget: int = _TOKENS) -> int:
    """Print a briefing on past work in a folder, for a coding agent.

    How the last session in FOLDER (without it: this one) ended, what was left open, what is known from the sessions
    there, and a line about each one before, within a budget of tokens. Sessions belong to a folder where they ran in
    it, in its repository, or below. `recollect hooks install` has Claude Code read it at the start of each session.
    """
    memory = run.existing_memory()
    made = memory.brief(Path(folder).expanduser() if folder else Path.cwd(), budget)
    if run.json:
        run.out.document(made)
    elif made.text:
        run.out.line(harmless(made.text))
        named = f"{len(made.conversations):,} session{'s' * (len(made.conversations) != 1)}"
        run.out.note(f"{made.tokens:,} of {made.budget:,} tokens, {named}")
    else:
        run.out.note(f"No session in {made.name} is in the memory yet.")
        run.out.note(run.out.hint("To import what is on this machine: recollect import --found"))
    return 0 if made.text else 1


BRIEF = Command(
    brief,
    ("recollect brief", "recollect brief ~/work/shop --budget 800"),
    (
        Option(
            ("--budget",),
            "Tokens that it may have at most.",
            "N",
            default=_TOKENS,
            read=whole(_LEAST),
        ),
    ),
    Arguments("FOLDER", "folder"),
)
