"""What a model makes of a question before anything is searched: its intent, how an answer may read, other wordings [0].

All of it is asked at once, and waited for no longer than the question's patience: what comes later is not used, and
remembered for the next time. Where a model fails, the rules and the question's own words do.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace

from recollect.answer.intents import SETTINGS, Intent, IntentSettings, read_intent
from recollect.errors import ModelError
from recollect.models.language.base import Completion, LanguageModel
from recollect.models.language.prompts import prompt, request
from recollect.models.language.transcript import Entry, material
from recollect.models.language.usage import NOTHING_USED, Usage, total_cost
from recollect.record import NodeId
from recollect.search.query.parts import compared, concrete
from recollect.search.query.request import Search
from recollect.search.results.result import SearchResults
from recollect.search.several import Find, search_several, side_by_side

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
        answer = model.complete(request(name, _shown(question)))
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
    wanted = [*(["intent"] if intent is None else []), *_techniques(SETTINGS[by_rules])]
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


def _techniques(settings: IntentSettings) -> list[str]:
    """The prompts that an intent is searched with."""
    return [name for name, wanted in (("hyde", settings.hyde), ("expand", settings.wordings)) if wanted]


def _asked(
    model: LanguageModel, names: Sequence[str], question: str, remembered: Remembered, patience: float
) -> tuple[dict[str, Completion], str]:
    """What the model answers within the patience, all of it asked at once; and what went wrong."""
    if not names:
        return {}, ""
    waiting = {name: _begun(remembered, model, name, question) for name in names}
    done, _ = wait(waiting.values(), patience)
    answers: dict[str, Completion] = {}
    problem = ""
    for name, future in waiting.items():
        if future not in done:
            problem = problem or f"Searched by the question alone: the model took longer than {patience:g} seconds."
        elif (answer := _result(future)) is None:
            problem = problem or f"Searched by the question alone: {future.exception()}"
        else:
            answers[name] = answer
    return answers, problem


def _begun(remembered: Remembered, model: LanguageModel, name: str, question: str) -> Future[Completion]:
    """A call on its way. Nobody waits for its thread: not even the end of the process."""
    answered: Future[Completion] = Future()

    def ask() -> None:
        try:
            answered.set_result(remembered.ask(model, name, question))
        except BaseException as error:  # whoever reads the result gets it
            answered.set_exception(error)

    threading.Thread(target=ask, name=f"recollect-{name}", daemon=True).start()
    return answered


def _result(future: Future[Completion]) -> Completion | None:
    """What came of it; None where the model failed. Raises what is no fault of a model's."""
    try:
        return future.result()
    except ModelError:
        return None


def _other(question: str, queries: Sequence[str]) -> tuple[str, ...]:
    """The wordings that are not the question itself, each once."""
    own = " ".join(question.casefold().split())
    found = {" ".join(query.casefold().split()): " ".join(query.split()) for query in queries if query.strip()}
    return tuple(query for folded, query in found.items() if folded != own)


def _shown(question: str) -> str:
    return material([Entry(NodeId("question"), "the question", question)], most_tokens=_MOST_TOKENS).text


def _key(model: LanguageModel, name: str, question: str) -> tuple[str, str, str]:
    return model.name, prompt(name).id, " ".join(question.split())
