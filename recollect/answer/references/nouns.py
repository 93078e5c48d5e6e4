"""Things without a name: "my sourdough starter", "our landlord". A few rules and lists stand in for a parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.text.dates import MONTHS, SEASONS, WEEKDAYS
from recollect.text.terms import STOP_WORDS

#: Nouns for people, by which "he" and "she" may go.
MEN = frozenset(
    "father dad daddy brother son husband boyfriend grandfather grandpa uncle nephew man boy guy king stepfather "
    "stepson groom".split()
)
WOMEN = frozenset(
    "mother mom mum mommy sister daughter wife girlfriend grandmother grandma aunt niece woman girl lady queen "
    "stepmother midwife bride".split()
)
PERSONS = (
    MEN
    | WOMEN
    | frozenset(
        "landlord neighbour neighbor boss manager doctor dentist teacher professor colleague coworker friend partner "
        "roommate flatmate lawyer mentor coach therapist client customer candidate intern child kid baby toddler cousin "
        "author writer painter singer artist plumber electrician gardener nurse physiotherapist tutor student supervisor "
        "director president mayor minister ceo founder tenant tailor barber vet cleaner babysitter nanny psychologist "
        "teenager person stranger guest host driver pilot chef architect engineer developer designer recruiter".split()
    )
)
_ANIMALS = frozenset("cat dog puppy kitten horse rabbit parrot hamster pony mare hen cow bird tortoise".split())

#: Nouns that name a type of entity, as in "the company".
TYPED: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        "company firm startup employer bank university agency hospital school insurer".split(),
        frozenset({"organisation"}),
    ),
    **dict.fromkeys("city town village country island region".split(), frozenset({"place"})),
    **dict.fromkeys("book novel film movie album song play opera podcast".split(), frozenset({"work"})),
    **dict.fromkeys(
        "library framework".split(),
        frozenset({"technology", "product"}),
    ),
    **dict.fromkeys("drug medicine medication".split(), frozenset({"substance"})),
    **dict.fromkeys(["project"], frozenset({"project"})),
}

#: Words that no noun phrase goes beyond, though they are no stop words.
COUNTED = frozenset(
    "yesterday today tomorrow now then soon later again already still yet ever never always often also just even ago "
    "last next first second third every one two three four five six seven eight nine ten many much several another "
    "something anything nothing everything someone anyone nobody everyone please maybe really quite well away back "
    "like better best more less without within along across around since among per via whose let lets".split()
)
_TIMES = frozenset(
    "second minute hour day week month year decade century morning afternoon evening night weekend time moment date while "
    "birthday easter christmas".split()
).union(SEASONS, WEEKDAYS, (name for name in MONTHS if name != "may"))
#: Nouns that a later "it" hardly ever means.
_VAGUE = frozenset(
    "way lot bit kind sort thing stuff question answer problem idea reason example case point part side end start rest "
    "number amount percent little few fact sense chance matter difference list summary look try deal word luck help "
    "advice future past money people things work job world life home food water weather rain snow".split()
)
_ENDINGS = ("ing", "ly")  # of words that are no heads, unless an article stands right before them
_PHRASE = re.compile(
    r"(?<![\w'’-])(my|our|your|his|her|their|a|an|the|this|that)\s+((?:[a-zà-ÿ][a-zà-ÿ'’-]*\s*){1,6})", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ'’-]*")
_PLURAL = re.compile(r"(?<![\w'’-])[a-zà-ÿ]{2,}[^s\W]s(?![\w'’])")
_VERBS = frozenset(
    "is was has does keeps wants needs smells plays says said told wants works runs makes looks seems got went came gave "
    "sent put me pays won bought broke stopped started began died moved left works recommended called named".split()
)


@dataclass(frozen=True, slots=True)
class Thing:
    """A noun phrase: as it stands ("my bike chain"), its head ("chain"), and where it begins."""

    text: str
    head: str
    start: int
    plural: bool = False
    own: bool = False  # "my", "our", "your": somebody's, and so the likelier subject of the talk
    is_old: bool = False  # "the", "this": spoken of before, or known to everybody

    @property
    def is_person(self) -> bool:
        """Whether it is somebody."""
        return self.head in PERSONS

    @property
    def living(self) -> bool:
        """Whether it is an animal, which is "he" and "she" too."""
        return self.head in _ANIMALS


def things(text: str) -> list[Thing]:
    """The noun phrases of a text with an article or a possessive before them."""
    return list(_things(text))


def plural_before(text: str) -> bool:
    """Whether some plural noun stands in a text, which a later "they" may mean."""
    return any(
        match[0].lower() not in STOP_WORDS and match[0].lower() not in _VERBS and match[0].lower() not in COUNTED
        for match in _PLURAL.finditer(text)
    )


def _things(text: str) -> Iterator[Thing]:
    for match in _PHRASE.finditer(text):
        begins = not text[: match.start()].rstrip() or text[: match.start()].rstrip()[-1:] in ".!?:;\n"
        words = _noun_words([word[0] for word in _WORD.finditer(match[2])], subject=begins)
        if not words:
            continue
        head = words[-1].lower()
        plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
        single = head[:-1] if plural else head
        if single in _TIMES or head in _VAGUE or len(head) < 3:
            continue
        article = match[1].lower()
        own = article in ("my", "our", "your")
        phrase = f"{article if own else 'the'} {' '.join(words)}"
        yield Thing(phrase, head, match.start(), plural, own, article not in ("a", "an") and not own)


def _noun_words(words: list[str], *, subject: bool) -> list[str]:
    """The words up to the end of the noun phrase; of a subject the verb is cut off."""
    kept: list[str] = []
    for position, word in enumerate(words[:4]):
        small = word.lower()
        if small in STOP_WORDS or small in COUNTED or small in _VERBS or (position and small in _TIMES):
            break
        if position and (small.endswith(("ly", "ed")) or (small.endswith("ing") and subject)):
            break
        if subject and position and small.endswith("s") and not small.endswith(("ss", "us")):
            break  # "our neighbour plays"
        kept.append(word)
    return kept
