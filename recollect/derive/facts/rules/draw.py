"""Claims from one message, by rules. A pure function of the message and of what stood before it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.derive.facts.claim import USER, Category, Claim, Polarity, content_of
from recollect.derive.facts.rules import naming
from recollect.derive.facts.rules.naming import RuleMatch
from recollect.derive.facts.rules.predicates import PREDICATES, Predicate
from recollect.derive.facts.rules.sentences import (
    OwnSentence,
    is_held_back,
    is_joke,
    is_play,
    is_restricted,
    is_said_by_another,
    is_shared_out,
    is_value,
    listed,
    own_sentences,
    taken_back,
    told_part,
    told_since,
    told_until,
    trimmed,
)
from recollect.derive.facts.rules.subjects import (
    JOIN,
    NAME,
    OWN,
    KnownPeople,
    expanded,
    is_animal,
    is_known,
    is_name,
    is_owned,
    own_end,
    place_in,
    relation_of,
    sex_of,
)
from recollect.index.passages import is_person
from recollect.record import Kind, Message, Role

#: Raised with every change of what is drawn.
VERSION = 7
_MOST_LEAD = 4  # words before a clause that tell when, if they tell a time
MADE_BY = f"rules/{VERSION}"


def draw(message: Message, before: Sequence[Message] = ()) -> list[Claim]:
    """The claims of a message, in the order of its text. `before`: at most four messages right before it.

    Only what people say counts: of assistants, tools and instructions nothing is drawn.
    """
    who = speaker_of(message)
    if who is None or any(speaker_of(m) and is_play(m.content) for m in before):
        return []
    known = KnownPeople()
    if _PRONOUN.search(message.content):
        for earlier in before:
            if speaker_of(earlier) == who:
                for sentence in own_sentences(earlier.content, earlier.speaker):
                    naming.introduce(expanded(sentence.text), who, known)
    claims: dict[tuple[str, str, str, Polarity], Claim] = {}
    meant = taken_back(message.content)
    for sentence in own_sentences(message.content, message.speaker):
        if sentence.start < meant:
            continue
        for found in _found(sentence, who, known):
            claim = _claim(found, sentence, message, who) if is_owned(found.value, known.names) else None
            if claim is not None:
                claims.setdefault((claim.entity_key, claim.attribute, claim.identity, claim.polarity), claim)
    return list(claims.values())


def speaker_of(message: Message) -> str | None:
    """Whose facts a message may tell: the name of a person who talks, or the user; nobody else's."""
    if message.kind is not Kind.SAID or message.deleted or message.erased:
        return None
    if is_person(message.speaker):
        name = " ".join((message.speaker or "").split())
        return None if not name or _NOBODY.search(name) else name
    return USER if message.role is Role.USER else None


def _found(sentence: OwnSentence, who: str, known: KnownPeople) -> Iterator[RuleMatch]:
    if not _TELLS.search(sentence.text):
        return
    text = told_part(expanded(sentence.text))
    if text and not is_joke(text) and not is_said_by_another(text) and not is_shared_out(text):
        yield from naming.german_matches(text, who)
        yield from naming.named_matches(text, who, known, is_own=not sentence.is_led_in)
        for clause in _apart(text, _clauses(text, who, known)):
            if not is_held_back(clause.before):
                yield from _predicates(clause, who, known.names)
    else:
        naming.introduce(expanded(sentence.text), who, known)


@dataclass(frozen=True, slots=True)
class _Clause:
    entity: str
    group: str  # "self", "people", "things"
    before: str
    rest: str


def _clauses(text: str, who: str, known: KnownPeople) -> Iterator[_Clause]:
    """What the sentence says of whom, from left to right."""
    for match in _SUBJECT.finditer(text):
        entity, group = who, "self"
        if match["own"]:
            if _NOT_OWN.search(text[: match.start()]):
                continue
            entity, group = _own(match, who)
            known.add(entity, sex_of(match["own"]))
        elif name := match["name"]:
            if not is_name(name) or not _STARTS_CLAUSE.search(text[: match.start()]):
                continue
            entity, group = name.removesuffix("'s"), "people"
            known.add(entity)
        elif pronoun := match["pronoun"]:
            meant = known.meant(pronoun.lower())
            if meant is None:
                continue
            entity, group = meant, "people"
        if group != "self" and _BASE_FORM.match(text, match.end()) and not _PLURAL.search(entity):
            continue
        yield _Clause(entity, group, text[: match.start()], text[match.end() :])


def _own(match: re.Match[str], who: str) -> tuple[str, str]:
    """Who "my dog Luna" is, and whether that is a person."""
    relation, name = match["own"], match["own_name"]
    animal = is_animal(relation)
    entity = name if name and is_name(name) else f"{who}'s {relation_of(relation) if animal else relation.lower()}"
    return entity, "things" if animal else "people"


def _apart(text: str, clauses: Iterable[_Clause]) -> Iterator[_Clause]:
    """The clauses, each up to where the next one says something of its own."""
    every = list(clauses)
    if len(every) == 1:
        yield from every
        return
    starts = [len(clause.before) for clause in every if _matching(_normal(clause.rest)[0], PREDICATES)]
    for clause in every:
        begun = len(text) - len(clause.rest)
        end = min((start for start in starts if start >= begun), default=len(text))
        said, joins = _JOINED.subn("", text[begun:end])
        yield clause if end == len(text) else replace(clause, rest=said if joins else f"{said}{_CUT}")


def _matching(rest: str, predicates: Iterable[Predicate]) -> bool:
    return any(predicate.pattern.match(rest) for predicate in predicates)


def _predicates(clause: _Clause, who: str, names: Collection[str]) -> Iterator[RuleMatch]:
    lead = clause.before if len(clause.before.split()) <= _MOST_LEAD else ""  # "In 2019 I moved to York."
    rests = (clause.rest, *(_joined(clause.rest) if clause.group == "self" else ()))
    for rest, polarity in (normal for each in rests for normal in _normals(each)):
        for predicate in PREDICATES:
            if predicate.only == "people" and clause.group == "things":
                continue
            if polarity is Polarity.ENDED and predicate.attribute in _NEVER_ENDED:
                continue
            if match := predicate.pattern.match(rest):
                end = _end(predicate, match, rest, names, strict=clause.group != "self")
                if _OR.match(rest, end):
                    continue  # one of two, and nobody knows which
                if own := predicate.pattern.match(rest[:end]):
                    for found in _values(predicate, own, clause.entity, polarity, rest[:end]):
                        yield found._replace(rest=f"{found.rest} {lead}") if lead else found
                if polarity is predicate.polarity is Polarity.IS:
                    yield from _left_out(predicate, rest[: match.start("v")], rest[end:], who, names)


def _end(predicate: Predicate, match: re.Match[str], rest: str, names: Collection[str], *, strict: bool) -> int:
    """Where in a clause what is said of its subject ends."""
    begin = match.start("v")
    head, said = rest[:begin], rest[begin:]
    value = said if predicate.exact or predicate.clause else trimmed(said, article=True)
    at = said.find(value)
    if at < 0:
        return len(rest)
    end = at + own_end(value, head, names, strict=strict)
    if end == at + len(value):
        further = own_end(said, head, names, strict=strict)
        end = further if further >= end else len(said)  # "Rome and Paris in spring" is all one's own
    return begin + end


def _left_out(predicate: Predicate, head: str, more: str, who: str, names: Collection[str]) -> Iterator[RuleMatch]:
    """What is said of others without the verb: "and Rex to beef", "and my brother a plumber"."""
    match = _GAPPED.match(more)
    if match is None:
        return
    entity, group = _own(match, who) if match["own"] else (match["name"], "people")
    if match["name"] and not is_name(entity):
        return
    tail, words = match["tail"], head.split()
    if len(words) > 1 and tail.lower().startswith(f"{words[-1].lower()} "):
        rest = head + tail[len(words[-1]) :].lstrip()
    elif len(words) == 1 and (predicate.exact or _ONE.match(tail)) and (match["own"] or is_known(entity, names)):
        rest = head + tail  # of any words it were not sure that they are no verb
    else:
        return
    if predicate.only == "people" and group == "things":
        return
    if again := predicate.pattern.match(rest):
        end = _end(predicate, again, rest, names, strict=True)
        if again := predicate.pattern.match(rest[:end]):
            yield from _values(predicate, again, entity, Polarity.IS, rest[:end])


def _values(
    predicate: Predicate, match: re.Match[str], entity: str, polarity: Polarity, rest: str
) -> Iterator[RuleMatch]:
    raw = match["v"]
    value = raw.strip(' ,.;:!?"“”') if predicate.exact else trimmed(raw)
    if predicate.clause:
        value = _CLAUSE_END.split(raw, maxsplit=1)[0].strip(" ,.;:!?")
    if _CUT in value or (rest.endswith(_CUT) and rest.rstrip(f"{_CUT} ").endswith(value)):
        return
    attribute = predicate.attribute
    if attribute in ("home", "from"):
        value = place_in(value)
    if attribute == "likes" and (is_restricted(raw) or " or " in value):
        return
    if "{a}" in attribute:
        attribute = attribute.format(a=match["a"])
    parts = listed(value) if predicate.several else [value]
    if predicate.several and _CAPITAL.match(rest, match.end("v")):
        parts = parts[:-1]  # the beginning of something else: "German and Ben Italian"
    for part in parts:
        if not is_value(part, predicate.most_words) and not predicate.exact:
            continue
        if not part or (predicate.check is not None and not predicate.check(part)):
            continue
        ended = polarity if predicate.polarity is Polarity.IS else predicate.polarity
        yield RuleMatch(entity, attribute, part, predicate.category, ended, rest)
        if predicate.attribute == "version of {a}":
            for more in _MORE_VERSIONS.finditer(rest, match.end()):
                yield RuleMatch(entity, f"version of {more['a']}", more["v"], predicate.category, ended, rest)
        if attribute == "medication" and "d" in match.re.groupindex:
            yield RuleMatch(entity, f"dose of {part}", match["d"], predicate.category, ended, rest)


def _joined(rest: str) -> Iterator[str]:
    """Further predicates of the same subject: "I'm a nurse and live in Bergen"."""
    for match in _AND_VERB.finditer(rest):
        yield rest[match.end() :]


def _normals(rest: str) -> Iterator[tuple[str, Polarity]]:
    """Its one form; and of "no longer takes" that which ends whatever was taken, be it with a dose or not."""
    rest, polarity = _normal(rest)
    yield rest, polarity
    if polarity is Polarity.ENDED and (takes := _TAKE.match(rest)):
        yield f"stopped taking {rest[takes.end() :]}", Polarity.IS


def _normal(rest: str) -> tuple[str, Polarity]:
    """One form for all subjects, and whether it has ended."""
    rest = rest.lstrip(" ,")
    polarity = Polarity.IS
    if ended := _ENDED.match(rest):
        rest, polarity = f"{ended['is'] or ''} {rest[ended.end() :]}".lstrip(), Polarity.ENDED
    elif negated := _NOT_ANY_MORE.match(rest):
        verb = "is " if negated["be"] else ""
        rest, polarity = f"{verb}{negated['what']}", Polarity.ENDED
    rest = _ADVERBS.sub("", rest)
    rest = _HAVE_BEEN.sub("is ", rest)
    rest = _BE.sub("is ", rest)
    rest = _HAVE_HAD.sub("has ", rest)
    rest = _HAVE.sub("has ", rest)
    return _ADVERBS_AFTER.sub(r"\1 ", rest), polarity


def _claim(found: RuleMatch, sentence: OwnSentence, message: Message, who: str) -> Claim | None:
    quote = message.content[sentence.start : sentence.end]
    if found.value.replace("'", "’") not in quote.replace("'", "’"):
        return None  # a value is verbatim, or not drawn
    since = until = None
    lasts = " since " in found.rest
    if found.polarity is Polarity.ENDED or found.attribute in _BEGIN:
        since = told_since(found.rest, message.timestamp)
    elif lasts:
        since = told_since(found.rest[found.rest.index(" since ") :], message.timestamp)
    if found.polarity is Polarity.ENDED:
        since, until = None, since
    elif found.category is Category.PROSPECTIVE:
        until = told_until(found.value, message.timestamp)
    return Claim(
        entity=found.entity,
        attribute=found.attribute,
        value=found.value,
        content=content_of(found.entity, found.attribute, found.value, found.polarity),
        message_id=message.id,
        start=sentence.start,
        end=sentence.end,
        quote=quote,
        said_by=who,
        said_at=message.timestamp,
        order=(message.conversation_id, message.position),
        polarity=found.polarity,
        category=found.category,
        since=since,
        until=until,
        event=since is not None and not lasts,
        made_by=MADE_BY,
    )


# Names that stand for no single person: groups, shops, services.
_NOBODY = re.compile(
    r"[()\[\]【】@#]|\b(?:group|chat|team|community|store|shop|bank|service|support|bot|notification|hotline|hospital|school)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:[Hh]e|[Ss]he)\b")
# Words without which no rule finds anything: oneself, what is one's own, somebody by name with a verb.
_TELLS = re.compile(
    r"\b(?:I|i|[Ii]m|[Ii]ve|[Ww]e|[Mm]y|[Oo]ur|[Hh]e|[Ss]he|me|[Ii]ch|[Mm]eine?)\b|(?:^|[ (])[A-ZÀ-ÖØ-Þ][\w'’]+ [a-z]"
)
_SUBJECT = re.compile(
    rf"\b(?:(?P<self>[Ii]|[Ww]e)|(?:[Mm]y|[Oo]ur) (?P<own>(?i:{OWN}))(?:,? (?P<own_name>(?!I\b){NAME}(?: {NAME})?(?!'s)))?,?(?: here)?"
    rf"|(?P<pronoun>[Hh]e|[Ss]he)|(?P<name>{NAME}(?: {NAME})?))(?=\s+[a-z])"
)
# Where a clause is cut off since another begins.
_CUT = "¤"
_JOINED = re.compile(rf"{JOIN}$")
_CAPITAL = re.compile(r" [A-ZÀ-ÖØ-Þ]")
_OR = re.compile(r",?\s(?:n?or|oder)\b", re.IGNORECASE)
_ONE = re.compile(r"(?:an?|\d+)\b")
_GAPPED = re.compile(
    rf"{JOIN}(?:(?:[Mm]y|[Oo]ur) (?P<own>(?i:{OWN}))(?:,? (?P<own_name>{NAME}))?|(?P<name>{NAME})),?\s+(?P<tail>\S.*)"
)
_STARTS_CLAUSE = re.compile(
    r"(?:^|[,;:(—–-]\s*|\b(?:and|but|that|because|since|so|said|btw|also|project)\s+)(?:[Tt]he )?$", re.IGNORECASE
)
_NOT_OWN = re.compile(r"\b(?:of|for|with|to|about|from|than|like)\s+$|'s\s+$", re.IGNORECASE)
# "Flask 2.3.1, Python 3.11, and SQLite 3.39"
_MORE_VERSIONS = re.compile(
    r"(?:,| and|, and| with| on)\s+(?P<a>[A-Z][\w.+#-]*(?: [A-Z]\w+)?) v?(?P<v>\d+(?:\.\d+)+[\w-]*)(?=\W|$)"
)
_CLAUSE_END = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)[.;!?](?:\s|$)|:\s|\s[–—(-]|,? (?:and|but|so|because|which|where|although|though|while|since)"
    r" (?:i|we|my|it|he|she|they|that|the|will|want|need|has|have|had|am|is|are|would|was)\b|,? (?:so|because|but|which|where) "
    r"|, (?:so|see|the|then|i|we|dont|don't|please|right|can|could|what|how)\b",
    re.IGNORECASE,
)
_BASE_FORMS = (
    "like|love|hate|enjoy|live|work|take|use|run|drive|own|prefer|speak|study|weigh|have|go|do|play|eat|drink|need|want"
)
# What is said of one other person ends in -s: "Sounds like fun" says nothing of anybody.
_BASE_FORM = re.compile(rf"\s+(?:{_BASE_FORMS})\b")
_PLURAL = re.compile(r"(?:parents|grandparents|kids|children|daughters|sons|sisters|brothers|twins)$")
_AND_VERB = re.compile(
    r"(?:,| and|, and|, but| but)\s+(?=(?:am|is|are|have|has|live|lives|work|works|take|takes|drive|drives|speak|own|weigh"
    r"|weighs|moved|turned|just turned|prefer|do not|cannot)\s)"
)
_ENDED = re.compile(r"(?P<is>is|am|are)? ?(?:no longer|used to)\s+", re.IGNORECASE)
_NOT_ANY_MORE = re.compile(
    r"(?:(?P<be>am|is|are) not|do(?:es)? not) (?P<what>.+?) (?:any ?more|any longer)\b", re.IGNORECASE
)
_TAKE = re.compile(r"takes? ", re.IGNORECASE)
_ADVERB = (
    r"(?:really|also|actually|currently|still|just|now|recently|already|both|severely|highly|very|deathly|mildly|slightly"
    r"|extremely|quite|terribly|badly|finally|officially|originally|absolutely|totally|definitely|personally|mostly|only"
    r"|truly|honestly|genuinely|secretly|particularly|especially|temporarily|permanently|all|even|so|too|basically|sadly|unfortunately"
    r"|violently|seriously|strongly|clearly|proudly|happily)"
)
_ADVERBS = re.compile(rf"^(?:{_ADVERB},? )+", re.IGNORECASE)
_ADVERBS_AFTER = re.compile(rf"^(is|has) (?:{_ADVERB} )+", re.IGNORECASE)
_HAVE_BEEN = re.compile(rf"^(?:have|has) (?:{_ADVERB} )*been ", re.IGNORECASE)
_BE = re.compile(r"^(?:am|are) ", re.IGNORECASE)
_HAVE_HAD = re.compile(r"^(?:have|has) had ", re.IGNORECASE)
_HAVE = re.compile(r"^have ", re.IGNORECASE)
_NEVER_ENDED = frozenset(
    {"age", "birthday", "birth year", "from", "plan", "appointment", "height", "weight", "allergy"}
)
# These begin when they are told to have begun; other predicates merely hold when they are said.
_BEGIN = frozenset({"home", "employer", "owns", "marital status", "diet", "condition", "medication"})
