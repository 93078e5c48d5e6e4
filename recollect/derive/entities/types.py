"""What kind of thing a name names, by lists, by its form, and by the words around it."""

from __future__ import annotations

import re

from recollect.derive.entities.known import FIRST_NAMES, ORGANISATIONS, PLACES, TECHNOLOGY
from recollect.derive.entities.naming import folded, without_title

#: All types, the vaguest last.
TYPES = (
    "person", "animal", "place", "organisation", "technology", "project", "product", "work", "event", "concept",
)  # fmt: skip

_ORGANISATION = re.compile(
    r"\b(?:inc|ltd|llc|gmbh|corp|company|corporation|university|college|school|institute|hospital|clinic|bank|agency|"
    r"foundation|association|council|committee|ministry|department|church|museum|library|group|studio|studios|labs|"
    r"airlines|airways|partners|insurance|media|club|league)\b\.?$"
)
_PLACE = re.compile(
    r"\b(?:street|st|road|avenue|lane|square|park|beach|island|islands|lake|river|mountain|mountains|bay|valley|city|"
    r"town|county|district|province|airport|station|bridge|hotel|restaurant|cafe|coffee|mall|garden|gardens|plaza|"
    r"tower|falls|canyon|reef|ocean|sea|forest|village|theatre|theater|community|center|centre)$"
)
_CODE = re.compile(r"[a-z][A-Z]|_|\w\.\w|^[A-Z]{2,}\d|\d[A-Z]|\+\+$|#$")
_PROJECT_BEFORE = re.compile(r"\b(?:project|codename|codenamed|initiative)\s*[\"“]?$", re.IGNORECASE)
_PLACE_BEFORE = re.compile(
    r"\b(?:live[sd]? in|living in|moved? to|moving to|trip to|travel(?:l?ed|l?ing)? to|flew to|flight to|"
    r"visit(?:ed|ing)?|born in|grew up in|based in|back from|city of|town of|vacation in|holiday in)\s+(?:the\s)?$",
    re.IGNORECASE,
)
#: "in Malmö.", "in Braga last week": not "in Checkout mode", which another noun follows.
_IN_BEFORE = re.compile(r"(?<!log )(?<!sign )(?<!plug )\b(?:in|near)\s+$")
_IN_AFTER = re.compile(
    r"^(?:\s*[.,;!?)]|\s*$|\s+(?:on|last|this|next|and|with|for|since|until|is|was|today|tomorrow|from|to)\b)"
)
_ORGANISATION_BEFORE = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:at|for)|job at|intern(?:ed|ship)? at|hired by|ceo of|founder of|employed by|"
    r"offer from|interview (?:at|with))\s+(?:the\s)?$",
    re.IGNORECASE,
)
_TECHNOLOGY_BEFORE = re.compile(
    r"\b(?:using|use|used|uses|install(?:ed|ing)?|library|framework|package|tool|database|plugin|migrat\w+ to|"
    r"deploy\w* (?:to|on|with)|written in|built with|powered by|api of)\s+(?:the\s)?$",
    re.IGNORECASE,
)
_TECHNOLOGY_AFTER = re.compile(
    r"^\W{0,2}\s*(?:library|framework|package|database|server|api|sdk|cli|plugin|extension|module|driver|queries|"
    r"query|container|containers|cluster)\b",
    re.IGNORECASE,
)
_PERSON_AFTER = re.compile(
    r"^(?:'s (?:mom|mother|dad|father|wife|husband|birthday|sister|"
    r"brother|son|daughter|house|idea|email|advice)|"
    r",?\s(?:said|says|told|asked|thinks|thought|suggested|"
    r"wants|texted|called me|emailed|recommended|mentioned|agreed|and I\b|who is))\b"
)
_PERSON_BEFORE = re.compile(
    r"\b(?:my (?:\w+ )?(?:friend|wife|husband|brother|sister|son|daughter|mother|father|mom|dad|boss|manager|mentor|"
    r"colleague|coworker|partner|girlfriend|boyfriend|neighbor|neighbour|cousin|aunt|uncle|roommate|teacher|doctor|"
    r"therapist|niece|nephew|fianc[eé]e?)|named|called|friend|colleague|met|with my|"
    r"hi|hey|hello|dear|thanks|thank you)[, ]\s*$",
    re.IGNORECASE,
)
_TITLED = re.compile(
    r"^(?:mr|mrs|ms|miss|dr|prof|professor|sir|uncle|aunt|auntie|coach|captain|sister|brother|master|"
    r"grandma|grandpa|teacher|director|manager)\b\.? \w",
    re.IGNORECASE,
)
#: "Wow, Mel," "Good idea, Nate!": who is spoken to.
_SPOKEN_TO = re.compile(r"(?:^|[.!?]\s)(?:(?!in |at |to |from |and )[A-Za-z'’]+ ?){1,4},\s$")
_LOOKED_AROUND = 40


def type_of(name: str, text: str, start: int) -> str:
    """The type of a name that stands in a text at `start`."""
    plain = folded(name)
    before, after = text[max(0, start - _LOOKED_AROUND) : start], text[start + len(name) : start + len(name) + 40]
    if _TITLED.match(name):
        return "person"
    if plain in TECHNOLOGY:
        return "technology"
    if plain in PLACES:
        return "place"
    if plain in ORGANISATIONS:
        return "organisation"
    if _PROJECT_BEFORE.search(before) or plain.startswith("project "):
        return "project"
    first = without_title(plain).partition(" ")[0]
    if _ORGANISATION.search(plain):
        return "organisation"
    if " " in plain and _PLACE.search(plain):
        return "place"
    if first in FIRST_NAMES and not re.search(r"\d|\bof\b|\bthe\b", plain):
        return "person"
    if _CODE.search(name):
        return "technology"
    return _by_context(name, before, after)


def _by_context(name: str, before: str, after: str) -> str:
    if _PERSON_AFTER.match(after) or _PERSON_BEFORE.search(before):
        return "person"
    if " " not in name and after[:1] in "!.,?" and _SPOKEN_TO.search(before):
        return "person"
    if _ORGANISATION_BEFORE.search(before):
        return "organisation"
    if _PLACE_BEFORE.search(before):
        return "place"
    if _TECHNOLOGY_AFTER.match(after) or (_TECHNOLOGY_BEFORE.search(before) and " " not in name):
        return "technology"
    if _IN_BEFORE.search(before) and _IN_AFTER.match(after) and len(name) > 3 and not name.isupper():
        return "place"
    return "concept"
