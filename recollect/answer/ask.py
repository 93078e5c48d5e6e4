"""What a model makes of a question before anything is searched: its intent, how an answer may read, other wordings [0].

All of it is asked at once, and waited for no longer than the question's patience: what comes later is not used, and
remembered for the next time. Where a model fails, the rules and the question's own words do.
"""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

from recollect.answer.chat.loop import Ended, converse, failure, usage_of
from recollect.answer.citations import Checked
from recollect.answer.evidence import Citation, Evidence, SourcePassage, evidence_of
from recollect.answer.extract import Draft, best_quote, extract, nearest
from recollect.answer.intents import SETTINGS, Intent, IntentSettings, compared, concrete, read_intent
from recollect.answer.results import Again, AnswerWords, AskAnswer, AskEvent, Step
from recollect.errors import ModelError
from recollect.models.language.base import NOTHING_USED, Completion, LanguageModel, Usage, total_cost
from recollect.models.language.prompts import prompt, request
from recollect.models.language.talk import Said, TalkingModel, talking
from recollect.models.language.transcript import TranscriptEntry, heading, material, room_for
from recollect.record import NodeId
from recollect.search.find import Find, search_several, side_by_side
from recollect.search.query.request import Search
from recollect.search.results.result import SearchResults
from recollect.store import Space
from recollect.text.clean import marked
from recollect.text.terms import terms

#: Answers that are remembered.
REMEMBERED = 256
#: Seconds that a model has to make something of a question.
PATIENCE = 4.0

_MOST_TOKENS = 700  # of a question that a model is shown: what is longer was pasted


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A question as it is searched for. `like` are passages that an answer may be like (HyDE), `wordings` other ways to
    ask it, `parts` what it compares. `usage` and `cost` are what that took now; nothing where it was remembered.
    """

    intent: Intent
    like: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    usage: Usage = NOTHING_USED
    cost: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The intent, and what is searched for besides the question's own words."""
        worded = (f'"{wording}"' for wording in (*self.parts, *self.wordings))
        more = [*(["a passage like an answer"] if self.like else []), *worded]
        return f"{self.intent.value}; also searched: {', '.join(more)}" if more else self.intent.value


@dataclass(slots=True)
class Remembered:
    """What models answered about questions, by model, prompt with its version, and question. Thread-safe; kept in this
    process alone, the newest REMEMBERED of them.
    """

    most: int = REMEMBERED
    _answers: OrderedDict[tuple[str, str, str], Completion] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, model: LanguageModel, name: str, question: str) -> Completion | None:
        """What that model answered, where it is remembered."""
        key = _key(model, name, question)
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def ask(self, model: LanguageModel, name: str, question: str) -> Completion:
        """Asks it, and remembers what it answers. Raises ModelError."""
        entry = TranscriptEntry(NodeId("question"), "the question", question)
        answer = model.complete(request(name, material([entry], most_tokens=_MOST_TOKENS).text))
        with self._lock:
            self._answers[_key(model, name, question)] = answer
            while len(self._answers) > self.most:
                self._answers.popitem(last=False)
        return answer


def understand(
    question: str,
    model: LanguageModel | None,
    remembered: Remembered,
    *,
    intent: Intent | None = None,
    quick: bool = False,
    patience: float | None = None,
) -> Understood:
    """The question as it is searched for. `intent` is the one that is given; without a model, or where it must be
    `quick`, the rules read it and the question's own words are all that is searched for. `patience` is in seconds.
    """
    by_rules = intent or read_intent(question)
    if model is None or quick:
        return Understood(intent=by_rules, parts=_compared(question, by_rules))
    settings = SETTINGS[by_rules]
    techniques = [name for name, is_on in (("hyde", settings.hyde), ("expand", settings.wordings)) if is_on]
    wanted = [*(["intent"] if intent is None else []), *techniques]
    known = {name: found for name in wanted if (found := remembered.get(model, name, question)) is not None}
    seconds = PATIENCE if patience is None else patience
    asked, problem = _asked(model, [name for name in wanted if name not in known], question, remembered, seconds)
    answers = known | asked
    chosen = Intent(answers["intent"].data["intent"]) if "intent" in answers else by_rules
    settings = SETTINGS[chosen]
    like = (answers["hyde"].data["passage"].strip(),) if settings.hyde and "hyde" in answers else ()
    queries = answers["expand"].data["queries"] if settings.wordings and "expand" in answers else ()
    return Understood(
        intent=chosen,
        like=tuple(filter(None, like)),
        wordings=_other(question, queries)[: settings.wordings],
        parts=_compared(question, chosen),
        usage=sum((Usage(a.calls, a.input_tokens, a.output_tokens) for a in asked.values()), NOTHING_USED),
        cost=total_cost(answer.cost for answer in asked.values()) if asked else None,
        notes=(problem,) if problem else (),
    )


def widened(find: Find, understood: Understood) -> Find:
    """A search that also looks for what was made of the question: as it is, where nothing was."""
    if not understood.like and not understood.wordings and not understood.parts:
        return find

    def search_all(search: Search) -> SearchResults:
        wanted = replace(search, like=understood.like)
        worded = [replace(wanted, wording=wording) for wording in understood.wordings]
        if not worded and understood.like:
            worded = [wanted]
        whole = search_several(find, [search, *worded])
        flat = replace(search, group_by="message")
        parts = [find(replace(flat, query=replace(search.query, text=part))) for part in understood.parts]
        return side_by_side(whole, parts, search.limit) if parts else whole

    return search_all


def _compared(question: str, intent: Intent) -> tuple[str, ...]:
    """What it compares: each is searched for by itself as well, so that none crowds out another."""
    return tuple(map(concrete, compared(question))) if intent is Intent.SYNTHESIS else ()


def _asked(
    model: LanguageModel, names: Sequence[str], question: str, remembered: Remembered, patience: float
) -> tuple[dict[str, Completion], str]:
    """What the model answers within the patience, all of it asked at once; and what went wrong."""
    if not names:
        return {}, ""
    waiting = {name: _call(remembered, model, name, question) for name in names}
    done, _ = wait(waiting.values(), patience)
    answers: dict[str, Completion] = {}
    problem = ""
    for name, future in waiting.items():
        if future not in done:
            problem = problem or f"Searched by the question alone: the model took longer than {patience:g} seconds."
        else:
            try:
                answers[name] = future.result()
            except ModelError as failed:
                problem = problem or f"Searched by the question alone: {failed}"
    return answers, problem


def _call(remembered: Remembered, model: LanguageModel, name: str, question: str) -> Future[Completion]:
    """A call on its way. Nobody waits for its thread: not even the end of the process."""
    answered: Future[Completion] = Future()

    def ask() -> None:
        try:
            answered.set_result(remembered.ask(model, name, question))
        except BaseException as error:  # whoever reads the result gets it
            answered.set_exception(error)

    threading.Thread(target=ask, name=f"recollect-{name}", daemon=True).start()
    return answered


def _other(question: str, queries: Sequence[str]) -> tuple[str, ...]:
    """The wordings that are not the question itself, each once."""
    own = " ".join(question.casefold().split())
    found = {" ".join(query.casefold().split()): " ".join(query.split()) for query in queries if query.strip()}
    return tuple(query for folded, query in found.items() if folded != own)


def _key(model: LanguageModel, name: str, question: str) -> tuple[str, str, str]:
    return model.name, prompt(name).id, " ".join(question.split())


# The answer of a model: what it is given, its words as they come, and its citations checked.

_LINE = 100  # characters of a title, a relation, what a message answers
_NUMBERED = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Generated:
    """A model's answer, checked."""

    text: str
    citations: tuple[Citation, ...]
    removed: int
    unknown: bool
    ended: Ended


@cache
def system(intent: Intent) -> str:
    """What a model is told first."""
    prompts = resources.files("recollect.models.language.prompts")
    names = ("ask", f"ask_{intent.value.lower()}", "rules")
    return "\n\n".join(prompts.joinpath(f"{name}.md").read_text("utf-8").strip() for name in names)


def generate(
    model: TalkingModel,
    evidence: Evidence,
    settings: IntentSettings,
    *,
    told: str | None = None,
    before: str = "",
    name: str = "ask",
) -> Generator[AnswerWords | Again | Generated, None, None]:
    """The words of the answer as they come, and last the whole of it. Raises ModelError and its kin.

    `told` is what the model is told first, where it is not what the intent says, `before` stands above the material,
    and `name` is what it is for in the count of what was spent.
    """
    evidence = _with_room(evidence, settings)
    check = Checked([passage.number for passage in evidence.passages])
    shown: list[str] = []
    asked = [Said(role="user", text="\n\n".join(filter(None, (before, prompt_for(evidence, settings)))))]
    first = system(evidence.intent) if told is None else told
    for event in converse(model, first, asked, None, max_tokens=settings.answer_tokens, name=name):
        match event:
            case AnswerWords(text):
                if piece := _begun(shown, check.feed(text)):
                    shown.append(piece)
                    yield AnswerWords(piece)
            case Again():
                check, shown = Checked([passage.number for passage in evidence.passages]), []
                yield event
            case Ended():
                if piece := _begun(shown, check.end()):
                    shown.append(piece)
                    yield AnswerWords(piece)
                text = "".join(shown).strip()
                if check.open_code and event.cut:
                    yield AnswerWords(f"\n{check.open_code}")
                    text += f"\n{check.open_code}"
                elif check.open_code and (read := check.reread(text)) != text:
                    yield Again("A block of code was not closed. Here it is again, checked:", asks=False)
                    yield AnswerWords(read)
                    text = read
                yield Generated(text, _cited(evidence, text, check.cited), check.removed, check.unknown, event)


def prompt_for(evidence: Evidence, settings: IntentSettings) -> str:
    """The material and the question. What was said carries the mark of recall, so that no proxy stores it again."""
    evidence = _with_room(evidence, settings)
    entries = [TranscriptEntry(p.message.id, _heading(p), p.message.content, _place(p)) for p in evidence.passages]
    parts = ["RETRIEVED MESSAGES:", material(entries, most_tokens=settings.material_tokens).text]
    if evidence.relations:
        parts += ["WHAT IS KNOWN OF THE NAMES:", *(f"| {_line(relation)}" for relation in evidence.relations)]
    return f"{marked(chr(10).join(parts))}\n\nQUESTION:\n{evidence.question}"


def _with_room(evidence: Evidence, settings: IntentSettings) -> Evidence:
    """With the passages alone that there is room for: the others are not cited, and the numbers stay what they are."""
    return replace(evidence, passages=evidence.passages[: room_for(settings.material_tokens)])


def _begun(shown: Sequence[str], piece: str) -> str:
    """The piece, without blanks where nothing was shown before it."""
    return piece if shown else piece.lstrip()


def _heading(passage: SourcePassage) -> str:
    return "document" if passage.cited else heading(passage.message)


def _place(passage: SourcePassage) -> str:
    """Where it was said, and in answer to what: words of others, which stand with what was said, not in our heading."""
    if passage.cited or passage.conversation is None:
        return passage.cited
    told = f"in {_line(passage.conversation.title)!r}" if passage.conversation.title else ""
    if passage.beside is not None and passage.beside.position < passage.message.position:
        told += f"{told and ', '}in answer to {_line(passage.beside.content)!r}"
    return told


def _line(text: str) -> str:
    return " ".join(text.split())[:_LINE]


def _cited(evidence: Evidence, text: str, numbers: Sequence[int]) -> tuple[Citation, ...]:
    """Each cited passage, numbered as in the text, with its sentence that is nearest to what stands before that."""
    by_number = {passage.number: passage for passage in evidence.passages}
    before: dict[int, str] = {}
    start = 0
    for match in _NUMBERED.finditer(text):
        number = int(match[1])
        claim = text[start : match.start()]
        before[number] = f"{before.get(number, '')} {claim}"
        if claim.strip():
            start = match.end()
    asked = evidence.question
    return tuple(
        best_quote(replace(by_number[cited], number=number), frozenset(terms(before.get(number, "").strip() or asked)))
        for number, cited in enumerate(numbers, 1)
    )


# From a question to its answer: understood, searched, and answered by a model or by the best of what was said [0].

#: What is told where nothing is asked, filters alone or nothing at all, and how to ask.
NO_QUESTION = ("There is no question.", 'Ask one: recollect ask "why did I choose Next.js?"')
UNKNOWN = "Your conversations do not say."


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers questions about what `find` searches in a space."""

    find: Find
    space: Space
    remembered: Remembered = field(default_factory=Remembered)

    def events(
        self, search: Search, model: LanguageModel | None, intent: Intent | None = None
    ) -> Generator[AskEvent, None, None]:
        """The steps, the words of a model's answer as they come, and last the answer.

        Raises StoreError; a model that cannot talk is refused before anything is searched (ModelNotReady).
        """
        began = time.perf_counter()
        model = talking(model, "an answer") if model is not None else None
        question, quick = search.query.text, search.mode == "instant"
        understood = understand(question, model, self.remembered, intent=intent, quick=quick)
        chosen = understood.intent
        yield Step("understood", understood.told)
        evidence = evidence_of(widened(self.find, understood), self.space, search, chosen, SETTINGS[chosen])
        passages = f"{evidence.searched:,} passage{'' if evidence.searched == 1 else 's'}"
        yield Step("searched", f"{passages}, {len(evidence.passages)} may answer")
        if model is None or evidence.nothing_from is not None or not evidence.passages:
            answer = _extracted(replace(evidence, notes=(*evidence.notes, *understood.notes)))
            yield _took(_counted(answer, understood), began)
            return
        yield Step("answering", model.name)
        shown = False
        try:
            for event in generate(model, evidence, SETTINGS[chosen]):
                if isinstance(event, Generated):
                    noted = replace(evidence, notes=(*evidence.notes, *understood.notes))
                    yield _took(_counted(_generated(noted, event), understood), began)
                else:
                    shown = shown or isinstance(event, AnswerWords)
                    yield event
            return
        except ModelError as problem:
            failed = problem
        if shown:
            yield Again("The model broke off.", asks=False)
        noted = replace(evidence, notes=(*evidence.notes, failure(failed, "This answer quotes your conversations.")))
        answer = replace(_extracted(noted), usage=usage_of(failed))
        yield _took(_counted(answer, understood), began)


def _extracted(evidence: Evidence) -> AskAnswer:
    return _answer(evidence, extract(evidence)) if evidence.known else _unknown(evidence)


def _answer(evidence: Evidence, draft: Draft) -> AskAnswer:
    return AskAnswer(
        question=evidence.question,
        intent=evidence.intent,
        known=True,
        text=draft.text,
        citations=draft.citations,
        likelihood=evidence.likelihood,
        notes=evidence.notes,
    )


def _unknown(evidence: Evidence) -> AskAnswer:
    """Nothing answers: what is nearest is told, and nothing is made of it."""
    near = nearest(evidence)
    told = f"{UNKNOWN} Nearest:" if evidence.nothing_from is None else str(evidence.nothing_from)
    text = f"{told}\n{near.text}" if near.citations else told.removesuffix(" Nearest:")
    return replace(_answer(evidence, Draft(text, near.citations)), known=False)


def _generated(evidence: Evidence, made: Generated) -> AskAnswer:
    notes = list(evidence.notes)
    if made.removed:
        told = "1 citation" if made.removed == 1 else f"{made.removed} citations"
        notes.append(f"{told} of the model pointed to nothing that was retrieved: removed.")
    if not made.citations and not made.unknown:
        notes.append("The answer cites no message, so that nothing proves it.")
    if made.ended.cut:
        notes.append("The answer was cut off at the limit of its tokens.")
    draft = Draft(made.text or UNKNOWN, made.citations)
    return replace(
        _answer(evidence, draft),
        known=not made.unknown and bool(made.citations),
        model=made.ended.model,
        usage=made.ended.usage,
        cost=made.ended.cost,
        removed=made.removed,
        notes=tuple(notes),
    )


def _counted(answer: AskAnswer, understood: Understood) -> AskAnswer:
    """The answer with what understanding the question took."""
    both = ((answer.usage, answer.cost), (understood.usage, understood.cost))
    costs = [cost for usage, cost in both if usage.calls]
    return replace(answer, usage=answer.usage + understood.usage, cost=total_cost(costs) if costs else None)


def _took(answer: AskAnswer, began: float) -> AskAnswer:
    return replace(answer, took_ms=(time.perf_counter() - began) * 1000)
