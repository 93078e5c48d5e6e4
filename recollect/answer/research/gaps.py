"""What is missing after a round, and what to look for next: by what the findings lack, or by a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from recollect.answer.evidence import SourcePassage
from recollect.answer.research.findings import Finding, Findings
from recollect.answer.research.plan import SubQuery, named, told_heading
from recollect.models.language.base import Completion, LanguageModel
from recollect.models.language.prompts import request
from recollect.models.language.transcript import Entry, heading, material
from recollect.search.query.phrasing import META_TERMS
from recollect.text.clean import marked
from recollect.text.terms import terms, words

_SHOWN = 3_000  # tokens of what was found
_MOST = 2  # further searches
_LEADS = 3  # words that lead on from what was found
_SHARED = 2  # conversations that have such a word
_LONG_ENOUGH = 4  # letters of one


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is missing in words, and the searches that may find it."""

    missing: tuple[str, ...] = ()
    queries: tuple[SubQuery, ...] = ()


def by_rules(question: str, findings: Findings, round_: int) -> Gaps:
    """Searches that found no answer are tried with the words that lead on from what was found; what the question names
    and nothing found says is missing.
    """
    poor = [finding for finding in findings.of if not finding.is_known and not finding.query.is_further]
    queries = [query for finding in poor if (query := _again(finding, round_)) is not None]
    return Gaps(_missing(question, findings), tuple(queries[:_MOST]))


def by_model(model: LanguageModel, question: str, findings: Findings, round_: int) -> tuple[Gaps, Completion]:
    """What a model finds missing, with what it took. Raises ModelError."""
    answer = model.complete(request("research_gaps", prompt(question, findings)))
    tried = {finding.query.text.casefold() for finding in findings.of}
    queries = [
        SubQuery(" ".join(one["query"].split()), told_heading(one["heading"]), round_)
        for one in answer.data["queries"]
        if " ".join(one["query"].split()).casefold() not in tried
    ]
    missing = tuple(" ".join(one.split()) for one in answer.data["missing"])
    return Gaps(missing, tuple(queries[:_MOST]) if missing else ()), answer


def prompt(question: str, findings: Findings) -> str:
    """What a model is shown to judge by."""
    searches = [
        f"| {named(finding.query)} ({len(finding.evidence.passages)} found"
        f"{'' if finding.is_known else ', none of them an answer'})"
        for finding in findings.of
    ]
    entries = [Entry(p.message.id, heading(p.message), p.message.content) for p in findings.passages]
    shown = marked(material(entries, most_tokens=_SHOWN).text) if entries else "(nothing)"
    return "\n".join(["SEARCHES:", *searches, "", "MESSAGES FOUND:", shown, "", "QUESTION:", question])


def _again(finding: Finding, round_: int) -> SubQuery | None:
    """The search with the words that several of the conversations that it came near to have in common."""
    asked = set(terms(finding.query.text))
    of: dict[str, set[str]] = {}
    shown = Counter[str]()
    for passage in finding.evidence.passages:
        for word in words(passage.message.content):
            found = terms(word)
            if len(word) >= _LONG_ENOUGH and word.isalpha() and found and not {*found} & (asked | META_TERMS):
                of.setdefault(found[0], set()).add(passage.message.conversation_id)
                shown[word] += 1
    shared = [term for term, conversations in of.items() if len(conversations) >= _SHARED]
    shared.sort(key=lambda term: (-len(of[term]), term))
    leads = [max((word for word in shown if terms(word) == [term]), key=lambda w: shown[w]) for term in shared[:_LEADS]]
    tried = finding.query.text
    return SubQuery(f"{tried} {' '.join(leads)}", finding.query.heading, round_, widens=tried) if leads else None


def _missing(question: str, findings: Findings) -> tuple[str, ...]:
    """Parts that nothing was found for, and words of the question that no message found holds."""
    parts = [finding.query.heading for finding in findings.of if not finding.is_known and not finding.query.is_further]
    if not findings.known and not parts:
        return (question,)
    said = {term for passage in findings.passages for term in terms(f"{_title(passage)} {passage.message.content}")}
    unsaid = [word for word in _names(question) if terms(word) and not {*terms(word)} & said]
    return tuple(dict.fromkeys([*parts, *unsaid]))


def _title(passage: SourcePassage) -> str:
    return passage.conversation.title if passage.conversation is not None else ""


def _names(question: str) -> list[str]:
    """Words with a capital or a digit inside of a question: names, which a report should not pass over."""
    found = question.split()
    return [w for w in (word.strip(".,;:!?()\"'“”") for word in found[1:]) if w and (w[0].isupper() or w[0].isdigit())]
