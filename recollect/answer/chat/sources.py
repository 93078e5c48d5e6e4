"""The sources of a chat: which of them an answer was drawn from, and the extract of them without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from recollect.answer.citations import cited_in, renumbered
from recollect.answer.evidence import MOST_SOURCES, Evidence, SourcePassage, around, passages_of
from recollect.answer.extract import extract
from recollect.answer.intents import read_intent
from recollect.answer.references.anaphora import is_bare, is_request
from recollect.derive.topics.naming import is_telling
from recollect.record import Role, Turn, stable_id
from recollect.store import Space
from recollect.text.terms import STOP_WORDS

#: Why there is an extract, without a model and where one `failed`.
_WHY = {False: "No language model is set", True: "The language model failed"}
_SHARED = 2  # words of an answer that are in a message and not in the question
_WORD = re.compile(r"[^\W\d_][\w’'-]{3,}|\d[\d.,:]*\d|\d")


def extract_of(
    space: Space, question: str, sources: Sequence[SourcePassage], *, failed: bool = False
) -> tuple[str, list[SourcePassage]]:
    """What a chat answers without a model, or where that fails: the extract that `ask` gives, with the numbers of the
    sources, and these, those that it quotes marked as used. A message around them that it quotes becomes a source.
    """
    nothing = f"{_WHY[failed]}, and the memory holds nothing near this."
    if not sources:
        return nothing, []
    for some in filter(None, (telling(space, question, sources), sources)):
        near = around(space, [source.message for source in some if not source.cited])
        evidence = Evidence(
            question=question, intent=read_intent(question), passages=tuple(some), around=near, known=True
        )
        if (draft := extract(evidence)).citations:
            break
    else:
        return nothing, list(sources)
    numbers = {source.message.id: source.number for source in reversed(sources)}
    beside = list[SourcePassage]()
    for cited in draft.citations:
        if cited.message.id not in numbers:
            number = numbers[cited.message.id] = max(numbers.values()) + 1
            beside.append(SourcePassage(number, cited.message, cited.conversation, 0.0, snippet=cited.quote))
    quoted = {citation.number: numbers[citation.message.id] for citation in draft.citations}
    text = renumbered(draft.text, quoted)
    marked = [replace(source, is_used=source.number in quoted.values()) for source in (*sources, *beside)]
    return f"{_WHY[failed]}, so this is an extract of what was said:\n\n{text}", marked


def telling(space: Space, question: str, sources: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The sources without those that tell nothing by themselves: questions to this memory that were answered, requests
    that ask for nothing else than the question does, and thanks.
    """
    said = [source.message for source in sources if not source.cited]
    asked = _telling_words(question)
    requests = {
        m.id: {word for word in _telling_words(m.content) - asked if is_telling(word) or not word.isalpha()}
        for m in said
        if m.role is Role.USER and is_request(m.content)
    }
    with space.view() as view:
        turns = view.get(Turn, [stable_id("turn", i) for i in requests])
    answered = {turn.query_id for turn in turns if turn.response_ids}
    empty = {m.id for m in said if is_bare(m.content)} | {i for i, new in requests.items() if not new}
    empty |= {
        m.id
        for m in said
        if m.id in answered and m.content.rstrip().endswith("?") and all(map(str.isalpha, requests[m.id]))
    }
    return [source for source in sources if source.cited or source.message.id not in empty]


def used(answer: str, question: str, sources: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The sources with those marked that an answer was drawn from: those that it cites; of an answer that cites none,
    those that it shares words with that the question did not have.
    """
    cited = set(cited_in(answer, {source.number for source in sources}))
    if not cited:
        fresh = _telling_words(answer) - _telling_words(question)
        cited = {s.number for s in sources if len(fresh & _telling_words(s.message.content)) >= _SHARED}
    return [replace(source, is_used=source.number in cited) for source in sources]


def opened(space: Space, names: Sequence[str], known: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The messages of these ids, or ends of ids, that are not known yet: a model had them opened to answer."""
    seen = {source.message.id for source in known}
    with space.view() as view:
        ids = dict.fromkeys(i for name in names[:MOST_SOURCES] for i in view.named(name, 2)[:1])
        fresh = passages_of(view, [i for i in ids if i not in seen])
    return [replace(one, number=number, is_used=True) for number, one in enumerate(fresh, len(known) + 1)]


def _telling_words(text: str) -> set[str]:
    said = {word.lower().strip(".,:'’-") for word in _WORD.findall(text)}
    return {word for word in said if word not in STOP_WORDS}
