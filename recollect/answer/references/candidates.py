"""What was spoken of before a question, and how much each matters there: salience by recency and frequency [2]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile

from recollect.derive.entities.extract import RUN
from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import folded, type_of
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
    return list(_things_before(text))


def plural_before(text: str) -> bool:
    """Whether some plural noun stands in a text, which a later "they" may mean."""
    return any(
        match[0].lower() not in STOP_WORDS and match[0].lower() not in _VERBS and match[0].lower() not in COUNTED
        for match in _PLURAL.finditer(text)
    )


def _things_before(text: str) -> Iterator[Thing]:
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


#: Each message back counts so much less than the one after it; a mention early in a sentence so much more than others.
DECAY, SUBJECT = 0.6, 1.5
#: What the person names counts more than what the answer brings in besides.
ASKER = 1.25
#: Messages that are looked at for names, and of those the newest for things without one.
LOOKED_BACK, THINGS_BACK = 8, 4

_READ = 1_500  # characters of a message: a long answer says at its beginning what it is about
_NOBODY = 0.5  # a thing without a name, beside one that has one
_COUPLE = re.compile(r"\b([A-ZÀ-Þ][\w’'-]+) (?:and|&) ([A-ZÀ-Þ][\w’'-]+)\b")
_TITLE = re.compile(r"(?:Dr|Prof|Mr|Mrs|Ms|Miss|Sir|Lady)\.? ")
_FULL_NAME = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ’'-]+(?: [A-ZÀ-Þ][\wà-ÿ’'.-]+){1,2}$")
_NO_PERSON = re.compile(
    r"(?:The|A|Project|Operation|Mount|Lake|Saint|New|Hotel|House|Opera|University|Model|City|Street|Prize|Museum)\b|\d"
)


@dataclass(frozen=True, slots=True)
class TurnText:
    """A message before a question: who says it, and what, with its own references resolved where that is known."""

    is_user: bool
    text: str


@dataclass(slots=True)
class Referent:
    """Somebody or something that an expression may stand for."""

    name: str
    type: str
    score: float = 0.0
    last: int = 0  # messages ago, from 0
    first: int = 0  # where it first stands in that message
    lines: set[int] = field(default_factory=set)
    is_named: bool = True
    plural: bool = False
    man: bool = False
    woman: bool = False

    @property
    def is_person(self) -> bool:
        """Whether "he" or "she" may stand for it, as far as can be told."""
        if self.type == "person":
            return True
        if self.type != "concept" or not self.is_named or self.plural:
            return False
        return bool(_TITLE.match(self.name)) or bool(_FULL_NAME.match(self.name) and not _NO_PERSON.search(self.name))


def candidates(lines: Sequence[TurnText]) -> list[Referent]:
    """What the last messages speak of, the most salient first."""
    recent = list(enumerate(reversed(lines[-LOOKED_BACK:])))
    found: dict[str, Referent] = {}
    for ago, line in recent:
        for mention in found_in(line.text[:_READ]):
            known = _known(found, mention.name)
            if known is None:
                found[folded(mention.name)] = Referent(mention.name, mention.type, last=ago, first=mention.start)
            elif known.type == "concept":
                known.type = mention.type
    for candidate in _echoed(recent):
        own = folded(candidate.name)
        if not any(own in key or key in own for key in found):
            found[own] = candidate
    for candidate in found.values():
        for ago, line in recent:
            _weigh(candidate, ago, line)
    every = [candidate for candidate in found.values() if candidate.lines]
    for ago, line in recent:
        every += _couples(line, ago, every)
    every += _things(recent, every)
    return sorted(every, key=lambda candidate: (-candidate.score, candidate.last, candidate.first))


def _echoed(recent: Sequence[tuple[int, TurnText]]) -> Iterator[Referent]:
    """Names of several words that begin a sentence, which says nothing by itself, and that another message has as well,
    in capitals or not: "project titan", and "Project Titan is …" in answer.
    """
    texts = [line.text[:_READ] for _, line in recent]
    for place, (ago, _) in enumerate(recent):
        others = [folded(text) for text in (*texts[:place], *texts[place + 1 :])]
        for run in RUN.finditer(texts[place]):
            words = list(dropwhile(lambda word: word.lower() in STOP_WORDS, run[0].rstrip(".").split(" ")))
            name = " ".join(words)
            if len(words) > 1 and any(re.search(rf"(?<!\w){re.escape(folded(name))}(?!\w)", text) for text in others):
                yield Referent(name, type_of(name, "", 0), last=ago, first=run.start())


def _known(found: dict[str, Referent], name: str) -> Referent | None:
    """The candidate of this name: a part of a longer one ("Lovelace" after "Ada Lovelace") is the same."""
    own = folded(name)
    if own in found:
        return found[own]
    longer = [key for key in found if own in key.split() or key.endswith(f" {own}")]
    if len(longer) == 1:
        return found[longer[0]]
    shorter = [key for key in found if key in own.split() or own.endswith(f" {key}")]
    if len(shorter) == 1:  # the longer name is the better one
        known = found.pop(shorter[0])
        known.name = name
        found[own] = known
        return known
    return None


def _weigh(candidate: Referent, ago: int, line: TurnText) -> None:
    """Adds what a message says of it."""
    text = line.text[:_READ]
    match = re.search(rf"(?<!\w){re.escape(candidate.name)}(?!\w)", text, re.IGNORECASE)
    last = candidate.name.rpartition(" ")[2]
    if match is None and candidate.is_named and len(last) > 3 and last[0].isupper():
        match = re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text)
    if match is None:
        return
    before = re.split(r"[.!?:]\s", text[: match.start()])[-1]
    subject = len(before.split()) <= 2
    count = len(re.findall(rf"(?<!\w){re.escape(match[0])}(?!\w)", text))
    weight = DECAY**ago * (SUBJECT if subject else 1.0) * (ASKER if line.is_user else 1.0)
    candidate.score += weight * (1 + 0.25 * min(count - 1, 3))
    if not candidate.lines or ago < candidate.last:
        candidate.last, candidate.first = ago, match.start()
    candidate.lines.add(ago)
    around = text[max(0, match.start() - 24) : match.start()].lower()
    words = set(re.findall(r"[a-z]+", around)[-2:])
    candidate.man |= bool(words & MEN) or match[0].startswith(("Mr ", "Mr. ", "Sir "))
    candidate.woman |= bool(words & WOMEN) or match[0].startswith(("Mrs", "Ms", "Miss", "Lady"))
    if before.lower().endswith("the ") and candidate.type in ("concept", "person"):
        candidate.plural |= candidate.name.endswith("s")


def _couples(line: TurnText, ago: int, known: Sequence[Referent]) -> list[Referent]:
    """Two people named together, whom "they" may mean."""
    made = []
    names = {folded(candidate.name): candidate for candidate in known if candidate.type in ("person", "concept")}
    for match in _COUPLE.finditer(line.text[:_READ]):
        pair = [names.get(folded(name)) for name in match.groups()]
        if all(one is not None and one.type == "person" for one in pair) and not any(
            candidate.name == match[0] for candidate in known
        ):
            score = sum(one.score for one in pair if one is not None)
            made.append(Referent(match[0], "people", score, ago, match.start(), {ago}, plural=True))
    return made


def _things(recent: Sequence[tuple[int, TurnText]], named: Sequence[Referent]) -> list[Referent]:
    """Things without a name. Those that are somebody's, or that the answer takes up, are what the talk is about."""
    found: dict[str, Referent] = {}
    said = [line.text.lower() for _, line in recent]
    for ago, line in recent[:THINGS_BACK]:
        for thing in things(line.text[:_READ]):
            if any(folded(thing.head) == folded(candidate.name) for candidate in named):
                continue
            taken_up = sum(bool(re.search(rf"\b{re.escape(thing.head)}\b", text)) for text in said)
            fresh = line.is_user and ago < 2
            if not thing.own and (thing.is_old or (taken_up < 2 and not fresh)):
                continue
            candidate = found.get(thing.head)
            if candidate is None:
                candidate = found[thing.head] = _thing(thing, line, ago)
            elif line.is_user or len(thing.text) > len(candidate.name):
                candidate.name = _as_the_asker_says(thing, line)
            weight = DECAY**ago * _NOBODY * (ASKER if line.is_user else 1.0)
            candidate.score += weight * (1.0 + 0.5 * thing.own + 0.5 * (taken_up > 1))
            candidate.lines.add(ago)
    return list(found.values())


def _thing(thing: Thing, line: TurnText, ago: int) -> Referent:
    kind = "person" if thing.is_person else ("animal" if thing.living else "thing")
    return Referent(
        _as_the_asker_says(thing, line),
        kind,
        last=ago,
        first=thing.start,
        is_named=False,
        plural=thing.plural,
        man=thing.head in MEN,
        woman=thing.head in WOMEN,
    )


def _as_the_asker_says(thing: Thing, line: TurnText) -> str:
    """The phrase in the mouth of who asks: "your chain" in an answer is "my chain"."""
    if line.is_user:
        return thing.text
    return f"my {thing.text[5:]}" if thing.text.startswith("your ") else thing.text
