"""Under which name an entity is kept, which names mean the same, and why."""

from __future__ import annotations

import re
from typing import Final

from recollect.derive.entities.known import SHORT_FORMS
from recollect.derive.entities.wording import TITLES
from recollect.record import NodeId, stable_id
from recollect.text.terms import fold

#: The entity that "I" and "we" of a user without a name stand for.
YOU: Final = "you"
#: The edges from facts to the names that they relate, be they those of an entity or not.
ABOUT: Final = "ABOUT"

_COMPANY = re.compile(r",?\s(?:inc|ltd|llc|gmbh|corp|co|plc|s\.a|ag)\.?$")
_APART = re.compile(r"[\s\u00a0]+")
_NO_LETTER = re.compile(r"[^\w+#\s]|_")
_BLANKS_BEFORE_DIGITS = re.compile(r"(?<=[a-z])[\s-](?=\d)")


def folded(name: str) -> str:
    """The name in lower case, without accents, with single blanks: names that are the same to everybody.

    >>> folded("  Dr. María  López ")
    'dr. maria lopez'
    """
    spaced = _APART.sub(" ", name.replace("’", "'")).strip()
    plain = spaced.lower() if spaced.isascii() else _kept_signs(spaced)
    return plain.removesuffix("'s").strip(" .") or plain


def group(name_folded: str) -> str:
    """What all spellings of one name share: no title, no sign, short forms in full. Nodes are found by it.

    >>> group("next.js"), group("dr. maria lopez"), group("postgres"), group("gpt 4")
    ('nextjs', 'maria lopez', 'postgresql', 'gpt4')
    """
    known = SHORT_FORMS.get(name_folded, name_folded)
    plain = _COMPANY.sub("", without_title(known))
    plain = SHORT_FORMS.get(plain, plain)
    plain = _BLANKS_BEFORE_DIGITS.sub("", plain)
    squeezed = _APART.sub(" ", _NO_LETTER.sub("", plain)).strip()
    return squeezed or name_folded


def without_title(name_folded: str) -> str:
    """The name without "Dr." and the like before it, where a full name is left: of a surname alone there are many.

    >>> without_title("prof. maria chen"), without_title("prof. chen")
    ('maria chen', 'prof. chen')
    """
    first, blank, rest = name_folded.partition(" ")
    return rest if blank and " " in rest and first.rstrip(".") in TITLES else name_folded


def why_same(spelling: str, name: str) -> str:
    """Why two names of one group are the same, in words."""
    one, other = folded(spelling), folded(name)
    if one == other:
        return "the same letters"
    if SHORT_FORMS.get(one) == other or SHORT_FORMS.get(other) == one:
        return "a known short form"
    if without_title(one) == without_title(other):
        return "the same name with a title"
    if _NO_LETTER.sub("", one) == _NO_LETTER.sub("", other):
        return "the same but for signs"
    return "another spelling"


def entity_id(name: str) -> NodeId:
    """The id of the node of a name, whatever its case."""
    return stable_id("entity", folded(name))


def about_id(entity: NodeId) -> NodeId:
    """Where the facts about an entity lead to, whether any message mentions it or not: no node."""
    return stable_id("about", entity)


def correction_id(entity: NodeId) -> NodeId:
    """The id of what a person said of an entity."""
    return stable_id("entity-said", entity)


def _kept_signs(text: str) -> str:
    """Folded, letter by letter: `fold` makes blanks of signs that are not ASCII, and changes nothing else here."""
    return _APART.sub(" ", fold(text)).strip()
