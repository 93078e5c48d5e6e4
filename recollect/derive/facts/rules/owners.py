"""Where what is said of one ends and another begins: a fact never has two owners.

"Luna is allergic to chicken and Rex to beef": behind a comma or an "and" stands somebody, and more is said of him. So
a value ends there, whether the sentence goes on with a clause of its own or leaves the verb out.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from recollect.derive.entities.known import FIRST_NAMES
from recollect.derive.facts.rules.subjects import NAME, is_name

#: What stands between what is said of one and of another.
JOIN = (
    r"(?:[,;:/]\s*(?:and|but|or|und|aber)?\s*|\s*[(\[]\s*|\s[–—-]+\s|\s(?:and|but|or|nor|&|while|whereas|plus|then|though|whilst|unlike|und|aber"
    r"|oder|sondern|während)\s+(?:then |also |that |so )?)"
)
_POSSESSED = rf"(?:(?i:my|our|your|his|her|their|its|meine?|unsere?|seine?|ihre?)|{NAME}(?: {NAME})?['’]s?)\s+[\w-]+(?: {NAME}\b)?"
_KIN = "(?:wife|husband|mother|father|mom|mum|dad|daughter|son|sister|brother|grandma|grandpa|aunt|uncle)"
_OTHER = r"(?i:the|another|one|both|each|der|die|das)\s+[\w-]+"
_START = re.compile(
    rf"(?P<join>{JOIN})(?=(?P<all>(?P<pronoun>(?i:i|he|she|we|they|it|you|mine|yours|hers|ours|theirs|ich|er|sie|wir)(?!\w)|{_KIN}(?!\w))|(?P<bare>{NAME}['’]s(?=\s+(?:is|are|was|has)\b))"
    rf"|(?P<possessed>{_POSSESSED})|(?P<perhaps>[a-z]+\s+)?(?P<name>{NAME})\b|(?P<other>{_OTHER}))(?P<more>\s*\(\d+\))?,?(?P<rest>.*))",
    re.DOTALL,
)
# More is said, unless the list goes on or ends.
_MORE = re.compile(r"\s+(?!(?:and|or|but|und|oder)\b|[,;.!?&–—-])\S|:\s+\S|['’]s\b")
_SURNAME = re.compile(rf"\s+{NAME}(?=\s*(?:[,;.!?]|$|\s(?:and|or)\b))")
_LAST = re.compile(rf"{NAME}$")
_PARTICLE = re.compile(r"\s*(?:of|de|von|the)\b")


def own_end(text: str, head: str = "", names: Collection[str] = (), *, strict: bool = False) -> int:
    """Where in a text what is said of its owner ends. `head` is what stands before it: of "is allergic to" the last word
    comes again where the verb is left out. `names` are of those who were spoken of. `strict`: any noun may be an owner.

    >>> text = "chicken and Rex to beef"
    >>> text[: own_end(text)]
    'chicken'
    """
    for match in _START.finditer(text):
        if match.start() and _begins_another(match, names, strict):
            return match.start()
    again = _again(text, head)
    return len(text) if again is None else again


def is_known(name: str, names: Collection[str] = ()) -> bool:
    """Whether a name is one of somebody: spoken of, or a frequent first name."""
    return name in names or name.lower() in FIRST_NAMES


def is_owned(text: str, names: Collection[str] = ()) -> bool:
    """Whether all of a text is said of one."""
    return own_end(text, names=names) == len(text)


def _begins_another(match: re.Match[str], names: Collection[str], strict: bool) -> bool:
    more = bool(match["more"]) or bool(_MORE.match(match["rest"]))
    if match["bare"]:
        return True
    if match["pronoun"] or match["possessed"]:
        return more or (strict and match["all"][:1].isupper())
    if match["other"]:
        return strict and more
    name = match["name"]
    if not is_name(name) or not more or (match["perhaps"] and not is_known(name, names)):
        return False
    if is_known(name, names):
        last = _LAST.search(match.string, 0, match.start())
        if last and is_known(last.group(), names):
            return False  # "with Tom and Clara today"
        return not _SURNAME.match(match["rest"]) or name in names
    surname = re.match(rf"\s+{NAME}", match["rest"])
    rest = match["rest"][surname.end() :] if surname else match["rest"]
    return bool(_MORE.match(rest)) and not _PARTICLE.match(rest)


def _again(text: str, head: str) -> int | None:
    """Where another item of a list has the last word of the head within: "nuts and tom to milk"."""
    last = head.split()[-1] if len(head.split()) > 1 else ""
    if not last:
        return None
    joins = list(re.finditer(JOIN, text))
    for match, end in zip(joins, [*(following.start() for following in joins[1:]), len(text)], strict=False):
        if match.start() and re.search(rf"\S\s{re.escape(last)}\s", text[match.end() : end]):
            return match.start()
    return None
