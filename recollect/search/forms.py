"""Other forms of an English word that its stem does not tell: "kept" of "keep", "children" of "child", "40th" of 40."""

from __future__ import annotations

import re
from functools import cache

from recollect.text.terms import terms

_IRREGULAR = """
    arise arose arisen | awake awoke awoken | bear bore borne | beat beaten | become became | begin began begun
    bend bent | bind bound | bite bit bitten | bleed bled | blow blew blown | break broke broken | breed bred
    bring brought | build built | burn burnt | buy bought | catch caught | choose chose chosen | cling clung
    come came | creep crept | deal dealt | dig dug | draw drew drawn | dream dreamt | drink drank drunk
    drive drove driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled
    fly flew flown | forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen
    get got gotten | give gave given | go went gone | grind ground | grow grew grown | hang hung | hear heard
    hide hid hidden | hold held | keep kept | kneel knelt | know knew known | lead led | lean leant | learn learnt
    leave left | lend lent | light lit | lose lost | make made | mean meant | meet met | pay paid | ride rode ridden
    ring rang rung | rise rose risen | run ran | say said | see saw seen | seek sought | sell sold | send sent
    sew sewn | shake shook shaken | shine shone | shoot shot | show shown | shrink shrank shrunk | sing sang sung
    sink sank sunk | sit sat | sleep slept | slide slid | sow sown | speak spoke spoken | spend spent | spill spilt
    spin spun | spoil spoilt | stand stood | steal stole stolen | stick stuck | sting stung | strike struck
    string strung | swear swore sworn | sweep swept | swim swam swum | swing swung | take took taken | teach taught
    tear tore torn | tell told | think thought | throw threw thrown | understand understood | wake woke woken
    wear wore worn | weave wove woven | weep wept | win won | wind wound | write wrote written
    child children | foot feet | goose geese | knife knives | leaf leaves | life lives | loaf loaves | man men
    mouse mice | person people | shelf shelves | tooth teeth | wife wives | woman women
"""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def other_forms(term: str) -> tuple[str, ...]:
    """The index terms of a word's other forms; of most words there are none.

    >>> other_forms("kept"), other_forms("40th"), other_forms("garden")
    (('keep',), ('40',), ())
    """
    if ordinal := _ORDINAL.fullmatch(term):
        return (ordinal[1],)
    return _irregular().get(term, ())


@cache
def _irregular() -> dict[str, tuple[str, ...]]:
    """The other forms by each; a form of two words ("found", "left") is one of each."""
    found: dict[str, dict[str, None]] = {}
    for forms in _IRREGULAR.replace("\n", "|").split("|"):
        stems = dict.fromkeys(stem for form in forms.split() for stem in terms(form))
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items() if others}
