"""Names of entities: how they are spelled and known, which mean the same, and what kind of thing each names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from recollect.record import NodeId, stable_id
from recollect.text.terms import STOP_WORDS, fold
from recollect.text.words import word_lists

_NAMES = {kind: frozenset(listed) for kind, listed in word_lists("names").items()}

FIRST_NAMES, PLACES, TECHNOLOGY, ORGANISATIONS = (
    _NAMES[kind] for kind in ("first names", "places", "technology", "organisations")
)
KNOWN = FIRST_NAMES | PLACES | TECHNOLOGY | ORGANISATIONS
#: Plain words that are names only where something beside the capital says so.
WORDS_TOO = _NAMES["words too"]

#: Short forms that mean one thing to everybody who writes them.
SHORT_FORMS = {
    "postgres": "postgresql",
    "k8s": "kubernetes",
    "golang": "go language",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "mongo": "mongodb",
    "react.js": "react",
    "reactjs": "react",
    "vue.js": "vue",
    "vuejs": "vue",
    "node": "node.js",
    "express.js": "express",
    "tailwind css": "tailwind",
    "tailwindcss": "tailwind",
    "gcp": "google cloud",
    "usa": "united states",
    "us": "united states",
    "uk": "united kingdom",
    "nyc": "new york city",
    "la": "los angeles",
    "sf": "san francisco",
    "gh": "github",
    "vs code": "visual studio code",
    "vscode": "visual studio code",
    "hf": "hugging face",
}


# Words that begin with a capital and name nothing: weekdays, greetings, what sentences and lists begin with.

_CALENDAR, _OPENINGS = word_lists("calendar"), word_lists("openings")

TIMES = frozenset[str]().union(*(_CALENDAR[part] for part in _CALENDAR if part != "times in any language"))
NATIONS = frozenset(_NAMES["nations"])
GREETINGS, LABELS = frozenset(_OPENINGS["greetings"]), frozenset(_OPENINGS["labels"])
#: What is no part of a name, wherever it stands.
CUTS = (TIMES | GREETINGS | NATIONS | STOP_WORDS) - {"of", "the", "for", "new", "best", "us"}
#: What names nothing alone.
NEVER = CUTS | LABELS | frozenset({"of", "the", "for", "new"})

TITLES = frozenset(_NAMES["titles"])
#: Small words within a name: University of Porto, Vincent van Gogh, Bodega do Mar.
WITHIN = frozenset(_NAMES["within names"])

_FIRST_WHOLE_WORD = 1_996  # before it stand signs and single letters
_FREQUENT = 8_000  # behind it stand most names of people and places


@cache
def ordinary_words() -> frozenset[str]:
    """English words that are frequent enough to begin any sentence, and names among them: what a capital alone cannot
    make a name at the beginning of one. The packaged tokenizer's vocabulary stands in order of frequency.
    """
    from recollect.models.embedding.tokenizer import vocabulary

    return frozenset(
        word
        for word, number in vocabulary().items()
        if number >= _FIRST_WHOLE_WORD and word.isascii() and word.isalpha()
    )


@cache
def frequent_words() -> frozenset[str]:
    """The most frequent of the ordinary words: a capital in the midst of a sentence makes no name of them either."""
    from recollect.models.embedding.tokenizer import vocabulary

    return frozenset(word for word, number in vocabulary().items() if _FIRST_WHOLE_WORD <= number < _FREQUENT)


@cache
def _ordinary_stems() -> frozenset[str]:
    from recollect.text.terms import stemmed

    return frozenset(stemmed(sorted(ordinary_words())))


@cache
def is_ordinary(word_lower: str) -> bool:
    """Whether this is a plain English word, in any of its forms: what a capital alone makes no name of at the beginning
    of a sentence.
    """
    if "'" in word_lower or "’" in word_lower:
        return True
    if "-" in word_lower:
        return all(map(is_ordinary, word_lower.split("-")))
    from recollect.text.terms import stemmed

    if word_lower in ordinary_words():
        return True
    stems = stemmed([word_lower])
    return not stems or stems[0] in _ordinary_stems()


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


# What kind of thing a name names, by lists, by its form, and by the words around it.

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


# Names in Chinese text that signs or titles give away: 《titles》, and people with a title after their surname.

_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史"
    "顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
_TITLES = "先生|女士|小姐|老师|教授|医生|大夫|律师|经理|主任|总监|教练|阿姨|叔叔|师傅|老板|院长|校长|同学|大哥|大姐|总"
_CJK_TITLED = re.compile(
    rf"(?:(?<=[^\u4e00-\u9fff])|^|(?<=[和跟与给找让请问向对，。]))([{_SURNAMES}][\u4e00-\u9fff]{{0,2}}?)({_TITLES})"
)
_FAMILIAR = re.compile(
    rf"(?:(?<=[^\u4e00-\u9fff])|^|(?<=[和跟与给找让请问向对，。]))([小老阿][{_SURNAMES}])(?![\u4e00-\u9fff]?[子的])"
)
_BOOK = re.compile(r"《([^《》\n]{1,30})》")


def names(text: str) -> Iterator[tuple[str, str, int]]:
    """Name, type and place of each."""
    for match in _BOOK.finditer(text):
        yield match[1], "concept", match.start(1)
    for match in _CJK_TITLED.finditer(text):
        yield match[0], "person", match.start()
    for match in _FAMILIAR.finditer(text):
        yield match[1], "person", match.start()
