"""Other forms of an English word that its stem does not tell: "kept" of "keep", "children" of "child", "40th" of 40."""

from __future__ import annotations

import re
from functools import cache

from recollect.text.terms import terms, words

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
