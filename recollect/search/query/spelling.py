"""Words of a question that nobody used: typos, and parts of compounds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from recollect.models.embedding.tokenizer import is_common_english
from recollect.search.query.question import LONGEST_QUESTION, Question
from recollect.store.results import Near
from recollect.text.terms import STOP_WORDS, is_identifier, terms, words

if TYPE_CHECKING:
    from recollect.store import Vocabulary


#: More unknown words than these are no slips but another language, or something that was pasted.
_MOST_TYPOS = 3
_MOST_PARTS = 32  # of compounds: each is looked up
_SURE_LENGTH, _SURE_TWO_EDITS = 5, 9  # letters from which one edit, and two, leave little doubt
_CLEARLY_MORE = 4  # times as many passages hold a word than the next best of the same distance
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Correction:
    """A question with its typos mended. Where `is_sure`, it may be searched unasked; else it is only suggested.

    `words` are those that stand in the place of others.
    """

    text: str
    is_sure: bool
    words: Mapping[str, str] = field(default_factory=dict, compare=False)

    def of(self, text: str) -> str:
        """Another text that has these words with theirs in place: the query as it was typed, operators and all."""
        return _WORD.sub(lambda match: _in_case_of(match[0], self.words.get(match[0], match[0])), text)


def correction(text: str, unknown: Collection[str], vocabulary: Vocabulary) -> Correction | None:
    """The question with words for those that nobody used (given as terms); None where none of them looks like a typo.

    Words that English has, names of code and figures are no typos. Sure are single slips in longer words that leave
    one word to be meant, with nothing capitalised like a name.
    """
    if not 0 < len(unknown) <= _MOST_TYPOS or len(text) > LONGEST_QUESTION:
        return None
    typed = {match[0]: None for match in _WORD.finditer(text) if set(terms(match[0])) & set(unknown)}
    if not 0 < len(typed) <= _MOST_TYPOS:
        return None
    code = {part.strip(".,;:!?\"'()") for part in text.split() if is_identifier(part)}
    mended: dict[str, str] = {}
    sure = True
    for word in typed:
        if _is_english(word) or any(word in part for part in code):
            continue
        near = vocabulary.near("".join(words(word)))
        if near and near[0].edits:
            mended[word] = near[0].word
            sure = sure and _is_sure(word, near) and not _is_capitalised(word, text)
    if not mended:
        return None
    found = Correction(text, sure, mended)
    return replace(found, text=found.of(text))


def compounds(question: Question, unknown: Collection[str], vocabulary: Vocabulary) -> dict[str, list[str]]:
    """The compounds that hold a term of the question, by the term. In an English question a word that English has by
    itself is none: no "kitchen" is meant by the name "Chen".
    """
    found = {term: vocabulary.compounds(term) for term in parts_of_compounds(question, unknown)}
    if not question.is_english:
        return found
    return {term: [other for other in others if not _is_english(other)] for term, others in found.items()}


def parts_of_compounds(question: Question, unknown: Collection[str]) -> tuple[str, ...]:
    """The terms of a question that compounds may hold: "Versicherung" is in "Hausratversicherung".

    Those that nobody used, all of a question in another language, and of typed words those that are not English: a
    single word does not tell its language.
    """
    if not question.is_english:
        return question.terms[:_MOST_PARTS]
    foreign: set[str] = set()
    if not question.is_sentence:
        foreign = {term for word in set(words(question.clean)) if not _is_english(word) for term in terms(word)}
    return tuple(term for term in question.terms if term in unknown or term in foreign)[:_MOST_PARTS]


def _is_english(word: str) -> bool:
    """Whether English has the word, or one that it is a form of."""
    folded = words(word)
    return any(form in STOP_WORDS or is_common_english(form) for form in (*folded, *terms(word)))


def _is_sure(word: str, near: Sequence[Near]) -> bool:
    best = near[0]
    folded = "".join(words(word))
    if len(folded) < (_SURE_LENGTH if best.edits == 1 else _SURE_TWO_EDITS):
        return False
    rivals = [other for other in near[1:] if other.edits == best.edits]
    if any(best.passages < _CLEARLY_MORE * other.passages for other in rivals):
        return False
    meant = "".join(words(best.word))
    return meant[:1] == folded[:1] or meant[:2] == folded[1::-1]


def _is_capitalised(word: str, text: str) -> bool:
    """Whether the word is written like a name, not only because it comes first."""
    return word[0].isupper() and not word.isupper() and not text.lstrip("\"'“‘( ").startswith(word)


def _in_case_of(typed: str, word: str) -> str:
    return word[:1].upper() + word[1:] if typed[:1].isupper() else word


# Other forms of an English word that its stem does not tell: "kept" of "keep", "children" of "child", "40th" of 40.

#: Without forms that are more often other words ("led" of a lamp, "rose", "bit", "ground", "lives", "leaves"), and
#: without verbs that mean little by themselves: get, give, go, come, make, take.
_IRREGULAR = """
    arise arose arisen | awake awoke awoken | beat beaten | become became | begin began begun | bend bent
    bite bitten | bleed bled | blow blew blown | break broke broken | breed bred | bring brought | build built
    burn burnt | buy bought | catch caught | choose chose chosen | cling clung | creep crept | deal dealt | dig dug
    draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten | fall fell fallen
    feed fed | feel felt | fight fought | find found | flee fled | fly flew flown | forbid forbade forbidden
    forget forgot forgotten | forgive forgave forgiven | freeze froze frozen | grow grew grown | hang hung
    hear heard | hide hid hidden | hold held | keep kept | kneel knelt | know knew known | lean leant | learn learnt
    leave left | lend lent | light lit | lose lost | mean meant | meet met | pay paid | ride rode ridden
    ring rang rung | rise risen | run ran | say said | see saw seen | seek sought | sell sold | send sent | sew sewn
    shake shook shaken | shine shone | shoot shot | show shown | shrink shrank shrunk | sing sang sung
    sink sank sunk | sit sat | sleep slept | slide slid | sow sown | speak spoke spoken | spend spent | spill spilt
    spin spun | spoil spoilt | stand stood | steal stole stolen | sting stung | strike struck | string strung
    swear swore sworn | sweep swept | swim swam swum | swing swung | teach taught | tear tore torn | tell told
    think thought | throw threw thrown | understand understood | wake woke woken | wear wore worn | weave wove woven
    weep wept | win won | write wrote written
    child children | foot feet | goose geese | knife knives | loaf loaves | man men | mouse mice | person people
    shelf shelves | tooth teeth | wife wives | woman women
"""
#: A number with an ending or without; long ones (years, codes) are none of a row.
_NUMBER = re.compile(r"(\d{1,3})(st|nd|rd|th)?")
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


#: Arrows, mathematical signs, pictures.
_FIRST_PICTURE = "\u2190"
_AS_PICTURE = "\ufe0f"  # asks for the coloured form of a sign


def other_forms(term: str) -> tuple[str, ...]:
    """The index terms of a word's other forms; of most words there are none.

    >>> other_forms("kept"), other_forms("40th"), other_forms("3"), other_forms("garden")
    (('keep',), ('40',), ('3rd',), ())
    """
    if number := _NUMBER.fullmatch(term):
        return (number[1] if number[2] else number[1] + _ending(int(number[1])),)
    return _irregular().get(term, ())


def _ending(number: int) -> str:
    return "th" if 10 < number % 100 < 14 else _ENDINGS.get(number % 10, "th")


@cache
def _irregular() -> dict[str, tuple[str, ...]]:
    """The other forms by each; a form of two words ("found", "left") is one of each."""
    found: dict[str, dict[str, None]] = {}
    for forms in _IRREGULAR.replace("\n", "|").split("|"):
        stems = dict.fromkeys(stem for form in forms.split() for stem in terms(form))
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items() if others}


def pictures(text: str) -> tuple[str, ...]:
    """The emoji and symbols of a text without a word; nothing of any other text.

    >>> pictures("🚀 ❤️"), pictures("🚀 launch"), pictures("?!")
    (('🚀', '❤'), (), ())
    """
    if words(text):
        return ()
    signs = (sign.replace(_AS_PICTURE, "") for sign in text.split())
    return tuple(dict.fromkeys(sign for sign in signs if any(c >= _FIRST_PICTURE for c in sign)))


def surface(text: str) -> tuple[str, ...]:
    """The surface words of a phrase."""
    return tuple(words(text))
