"""What the words of a question wish for: a talk to be found, code, the reasons of a choice, an overview."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from recollect.errors import InvalidInput
from recollect.search.query.wants import without_meta, without_opening
from recollect.text.terms import terms, words


def _wish(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_TALKS = r"(?:chats?|conversations?|threads?|discussions?|sessions?|talks?)"
_AFTER = (
    r"(?=\ ?[?.!]*$|,|\ (?:about|on|where|when|with|from|that|of|in|did|was|were|is|had|has|called"
    r"|mention\w*|we|i|it)\b)"
)

#: "summarize …", "give me an overview of …", "compare …": asked for at the beginning.
OVERVIEW = _wish(
    r"""^(?:please\ )?(?:(?:can|could|would)\ you\ (?:please\ )?)?(?:(?:give|make|write|show|get)\ me\ )?
    (?:an?\ |the\ |my\ )?(?:(?:
        quick|short|brief|full|complete|comprehensive|clear|concise|detailed|general|and
    )\ )*(?:
        summar(?:y|i[sz]e)\b | recap\b | overview\b | sum\ up\b | compar(?:e|ison)\b | contrast\b | outline\b
      | timeline\b | differences?\ between | history\ of | list\ the\ order | bring\ together | put\ together
      | key\ (?:points|takeaways) | main\ (?:points|themes|topics) | walk\ me\ through\b | pros\ and\ cons\ of
      | (?:tell\ me\ )?(?:everything|all)\ (?:about|that|i|we|you)\b | review\ (?:of\ )?(?:my|our|the)
      | fass(?:e|en)?\b.*\bzusammen | zusammenfassung | vergleich | überblick | résum | compar | resum | riassum
    ) | ^what\ do\ (?:you|we|i)\ know\ about\b | ^(?:请|帮我)?(?:总结|概括|比较|对比)"""
)

#: A conversation is sought, or whether there was one.
TALK = _wish(
    rf"""^(?:\w+\ )?(?:which|what|whose)\ (?:(?:of|was|were|is|that|the|my|our|those|these|other
      |past)\ ){{0,3}}{_TALKS}\b{_AFTER}
    | ^(?:where|find|open|show|pull|locate|look|get|list|search|all|any|was|were|the|i)\b
        .{{0,40}}?\b(?:(?<!did\ i\ )(?<!did\ we\ ){_TALKS}|(?:find|which)\ the\ message)\b{_AFTER}
    | ^(?:can|could)\ you\ find\ (?:me\ )?(?:the|that|my|our)\ (?:\w+\ )?(?:{_TALKS}|messages?)\b
    | \b(?:have|did|had)\ (?:i|we|you)\ (?:ever|already|once)\ (?:\w+\ )?(?:talk|discuss|chat|ask|mention|speak
      |spoke|bring)
    | ^where\ did\ (?:i|we|\w+)\ (?:talk|discuss|ask|write|paste|mention|say|send|post|note)\b
    | ^(?:find|search|look\ (?:up|for)|locate)\b.{{0,40}}\b(?:i|we)\ (?:asked|said|wrote|discussed|talked|mentioned)
    | ^search\ (?:my|our|all)\b | ^[\w\ -]{{2,40}}\ {_TALKS}$
    | ^in\ welche[mnr]\b | \bwelche[rsmn]?\ (?:chats?|gespräche?|unterhaltung) | \bquelles?\ conversations?\b
    | \b(?:qué|cuál)\ (?:chat|conversación) | 哪[次个场段].{{0,4}}(?:聊天|对话|谈话|讨论)"""
)

#: All that asks for a talk and says nothing of what it was about.
FIND = _wish(
    rf"""^(?:please\ )?(?:(?:can|could)\ you\ )?(?:
        (?:in\ )?(?:which|what)\b(?:\ (?:of|was|were|is|that|the|my|our|those|these|other|past)\b){{0,4}}\ {_TALKS}\b
      | (?:find|open|show|pull\ up|locate|look\ (?:up|for)|get|list|search)\b
        (?:\ (?:me|in|for|all|any|of|that|the|my|our|those|these|other|past|a)\b){{0,4}}\ {_TALKS}\b
      | (?:where(?:'s|\ (?:is|was))?|when\ was)\b
        (?:\ (?:that|the|my|our|a)\b){{0,2}}\ {_TALKS}\b
      | (?:all|any|the|was\ there\ an?|i(?:'m|\ am)\ (?:looking|searching)\ for\ (?:the|a|my|our))\ {_TALKS}\b
      | (?:where|when)\ did\ (?:i|we)\b | (?:have|did)\ (?:i|we)\ (?:ever|already)\b | find\ everything\ (?:i|we)\b
    )(?:\ (?:
        was|were|it|is|did|do|does|had|has|the|one|where|when|in|which|that|from|with|we|i|you|ever|once|about|on|of|over
      | talk(?:ed|ing)?|discuss(?:ed|ing)?|chat(?:ted|ting)?|ask(?:ed)?|speak|spoke|have|call(?:ed)?
      | mention(?:ed|s|ing)?
    )\b)*""",
)

_LANGUAGES = (
    r"(?:sql|css|html|python|bash|shell|typescript|javascript|rust|golang|java|kotlin|swift|yaml|toml|json"
    r"|terraform|ffmpeg"
    r"|git|docker|kubectl|curl|awk|sed|regex|excel|cron|systemd|nginx|makefile|latex)"
)
_THINGS = (
    r"(?:code|snippet|function|method|class|script|regex|regexp|query|command|config(?:uration)?|formula"
    r"|one-liner|import"
    r"|statement|block|loop|line|call|file|schema|type|example|expression|syntax)"
)

#: Code that was written: what names it, and that it is wanted as such.
CODE = _wish(
    rf"""\b(?:regexp?|snippets?|dockerfile|docker[\ -]compose|one-liner|stack\ trace)\b
    | \b{_LANGUAGES}\b(?:\ \S+){{0,2}}?\ {_THINGS}\b(?!\ (?:course|book|class))
    | \b(?:CREATE|ALTER|DROP)\ TABLE\b | \bSELECT\b.*\bFROM\b
    | ^(?:(?:show|give|get|paste|find|send|print)\b(?:\ me)?\ )?(?:the\ |our\ |my\ |that\ )?(?:{_LANGUAGES}|code)
      \ (?:for|to|of|that|which|we)\b
    | ^(?:(?:show|give|get|paste|find|send|print)\b(?:\ me)?|what(?:'s|\ (?:is|was|were))|where(?:'s|\ (?:is
      |was))|the|our|my)
        \ (?:\w+\ ){{0,3}}?(?<!dress\ )(?<!zip\ )(?<!promo\ )(?<!error\ )(?<!door\ )(?<!area\ )
        (?:code|function|method|script|query|command|config(?:uration)?|formula)\ (?:for|that|to|we|where|which
      |i|again|with|from)\b
    | ^(?:show|give|get|paste|find|send|print)\b(?:\ \S+){{1,6}}?\ (?:script|function|method|query|config(?:uration)?)
      (?:\ code)?(?:\ again|\ please)?\W*$
    | \b(?:what|which)\ (?:\w+\ )?(?:import|command|query|function|script|SQL)s?
      \ (?:did|do|does|was|would)\ (?:i|we|you)\b
    | ^how\ (?:do|did|would)\ (?:i|we|you)\ (?:write|code|implement)\b | \bcode\ (?:example|where)\b
    | \b(?:SQL|Python|Shell)-?\w*(?:abfrage|skript|befehl|code)\b | 代码 | \bcode\ (?:pour|para|für)\b"""
)

_CHOSE = (
    r"(?:choose|chose|chosen|choosing|pick|picked|picking|decide|decided|deciding|select|selected|opt|opted"
    r"|prefer|preferred"
    r"|drop|dropped|reject|rejected|refuse|refused|switch|switched|leave|left|quit|abandon|abandoned|adopt|adopted)"
)

#: A choice and its reasons; "why" alone asks for an explanation.
REASONS = _wish(
    rf"""\b(?:why|how\ come)\b.*\b(?:i|we|us|me|our|my)\b | \b(?:why|how\ come)\b.*\b{_CHOSE}\b
    | ^(?:so\ |and\ |but\ )?why\ not\b | \bwhy\b.*\b(?:and\ not|instead\ of|rather\ than|ruled\ out|against)\b
    | \b(?:reasons?|rationale|arguments?|grounds)\b.{{0,20}}\b(?:for|behind)\b
    | \b(?:on\ what\ grounds|what\ speaks\ (?:for|against)|tipped\ the|what\ (?:convinced|persuaded
      |made)\ (?:me|us|you))\b
    | \b(?:did|have|had)\ (?:i|we)\ (?:finally\ |really\ )?(?:decide|agree|settle|commit|go\ (?:with|for)|end\ up)
    | \b(?:i|we)\ (?:finally\ |really\ |did\ )?(?:decid|settled?\ (?:on|for)|commit(?:ted)?\ to|end(?:ed)?\ up
      |(?:go|went)\ (?:with|for)|ruled)
    | \b(?:our|my)\ (?:final\ )?(?:decision|choice)\b | \bhow\ did\ (?:i|we)\ (?:decide|choose|pick)\b
    | \bhave\ (?:i|we)\ (?:\w+\ )?(?:decided|settled|agreed|chosen)
    | ^(?:what|which)\b.*\bdid\ (?:i|we)\ (?:\w+\ )?{_CHOSE}\b | \b(?:i|we)\ (?:chose|picked|rejected|refused)\b
    | \b(?:warum|weshalb|wieso)\b.*\b(?:ich|wir|uns|mich)\b
      | \bpourquoi\b.*\b(?:je|j['’]|nous|on)\b|\bpourquoi\b.*-nous\b
    | \bpor\ qué\b | \bperché\b | (?<!因)为什么 | 为何 | 为啥"""
)

#: How something went over time, and what there was in all.
DEVELOPMENT = _wish(
    r"""\bsummar(?:y|i[sz]e)\b.*\bof\b | \b(?:overview|recap|timeline|takeaways|so\ far|over\ time|all\ in\ all)\b
    | ^how\ (?:did|has|have|do|does)\b.*\b(?:improv|chang|develop|evolv|differ|progress|go\ (?:from|over)
      |compare|grow|grew)
    | \b(?:list|in)\ the\ order\b | \b(?:themes|topics|trends)\b.*\b(?:i|we|my|our)\b
      | \bwhat\ (?:progress|ideas|lessons)\b
    | ^what\ (?:have|has|did)\ (?:all|i\ learn|we\ learn|everyone|everybody) | ^what\ are\ all\b
      | \bfrom\ start\ to\ (?:finish|end)\b
    | \bdifferen(?:ce|t|ly)\b.*\b(?:see|opinion|view|between\ (?:the|my|our)\b) | ^which\ recurring\b
      | \btaken\ together\b"""
)


# What kind of answer a question wants [0]: each kind has its own retrieval and its own prompt.


class Intent(StrEnum):
    """The five kinds of questions of [0]."""

    RETRIEVAL = "RETRIEVAL"  # find a conversation
    QA = "QA"
    DECISION = "DECISION"  # why something was chosen
    CODE_LOOKUP = "CODE_LOOKUP"
    SYNTHESIS = "SYNTHESIS"  # summarise, compare


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentSettings:
    """How an intent is served. `passages` may answer, at most `each` of one conversation; a model is given
    `material_tokens` of them and answers in at most `answer_tokens`. With a model it is searched for what an answer may
    be like (`hyde`), and by so many other `wordings` of the question.
    """

    passages: int = 8
    each: int = 8
    material_tokens: int = 5_000
    answer_tokens: int = 700
    hyde: bool = True
    wordings: int = 2


SETTINGS: dict[Intent, IntentSettings] = {
    Intent.RETRIEVAL: IntentSettings(passages=10, each=3, answer_tokens=500, hyde=False),
    Intent.QA: IntentSettings(),
    Intent.DECISION: IntentSettings(passages=10, material_tokens=6_000),
    Intent.CODE_LOOKUP: IntentSettings(passages=6, material_tokens=8_000, answer_tokens=2_000),
    Intent.SYNTHESIS: IntentSettings(
        passages=16, each=4, material_tokens=10_000, answer_tokens=1_500, hyde=False, wordings=4
    ),
}


def read_intent(question: str) -> Intent:
    """The kind of a question, by its words; QA where they say nothing else."""
    asked = without_opening(" ".join(question[:_LOOKED_AT].split()))
    return next((intent for intent, signs in _RULES if signs.search(asked)), Intent.QA)


def sought(question: str, intent: Intent) -> str:
    """What is looked for: of "which chat was it where we talked about the boiler" the boiler."""
    if intent is not Intent.RETRIEVAL:
        return question
    left = FIND.sub("", question).strip(" ?!.,:")
    return left if words(left) else question


def named_intent(name: str | None) -> Intent | None:
    """The intent of a name, in any case; None for none. Raises InvalidInput."""
    if name is None:
        return None
    try:
        return Intent(name.upper().replace("-", "_"))
    except ValueError:
        raise InvalidInput(f"There is no intent {name!r}.", hint=f"Use one of: {', '.join(Intent).lower()}.") from None


_LOOKED_AT = 600  # characters: what is longer was pasted

#: The first that fits; a wish for an overview is plain at the beginning of a question, and less so within it.
_RULES = (
    (Intent.SYNTHESIS, OVERVIEW),
    (Intent.RETRIEVAL, TALK),
    (Intent.CODE_LOOKUP, CODE),
    (Intent.DECISION, REASONS),
    (Intent.SYNTHESIS, DEVELOPMENT),
)


# What a question names side by side: the parts of a comparison or a list, each able to stand alone as a search.

#: How many parts are taken apart at most.
MOST = 4


def is_comparing(question: str) -> bool:
    """Whether things are compared in it."""
    return _COMPARING.search(question) is not None


def compared(question: str) -> list[str]:
    """What a question compares, each able to stand alone; nothing for one that compares nothing."""
    found = parts_of(subject_of(question), comparing=True) if is_comparing(question) else []
    return found if len(found) > 1 else []


def concrete(part: str) -> str:
    """A part without what only names the kind of thing: "deployment strategy" is told by what was deployed how."""
    left = " ".join(_ABSTRACT.sub(" ", part).split())
    return left if terms(left) else part


def subject_of(question: str) -> str:
    """The question without what it asks to be done with it: "compare X with Y" is "X with Y"."""
    left = without_meta(without_opening(question)).strip().rstrip("?.! ")
    for pattern in _OPENINGS:
        left = pattern.sub("", left, count=1).strip()
    return left if terms(left) else question.strip()


def parts_of(subject: str, *, comparing: bool) -> list[str]:
    """What is compared or listed, each able to stand alone: "React or Next.js for the shop" is "React for the shop" and
    "Next.js for the shop", "costs in Rome and in Paris" are "costs in Rome" and "costs in Paris". One where nothing is.
    """
    parts = [part.strip(" ,;") for part in (_COMPARED if comparing else _LISTED).split(subject)]
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= MOST or any(len(part.split()) > _WORDS or _CLAUSE.search(part) for part in parts):
        return [subject]
    first, *others = parts
    parts = [bare(first), *(_completed(bare(other), bare(first)) for other in others)]
    if not any(_NAMES.search(part) for part in parts) or any(_REFERS.search(part) for part in parts):
        return [subject]
    tail = _TAIL.search(parts[-1])
    if tail and not _TAIL.search(parts[0]) and terms(parts[-1][: tail.start()]):
        parts = [part if _TAIL.search(part) else f"{part}{tail[0]}" for part in parts[:-1]] + parts[-1:]
    return list(dict.fromkeys(filter(None, parts)))


def _completed(part: str, first: str) -> str:
    """A part that says only what is different: "in 2025" or "the one in 2025" after "the running in 2024"."""
    begins = _PREPOSITION.match(part)
    if begins is not None:
        place = first.lower().rfind(f" {begins[1].lower()} ")
        return f"{first[:place] if place > 0 else first} {part[begins.start(1) :]}"
    return part if _NAMES.search(part) else f"{_NUMBERS.sub('', first).strip()} {part}"


def bare(part: str) -> str:
    """Without the words before a name that name nothing: "what the boiler" is "boiler"."""
    return _BEFORE.sub("", part).strip(" ,;:")


_WORDS = 12  # of a part: what is longer is no name of a thing
_REFERS = re.compile(r"\b(?:they|them|their|it|its|he|him|she|her|this|these|those|ones?)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"^(?:(?:both|what|how|the|my|our|your|all|between|of|about|mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|mon|ma|mes)\s+)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"^(?:what|how|why|when|where|who|which)\s+(?:i|we|you|they|he|she|it|did|do|does|was|is|are|were|had|has|have)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"(?:(?:those|that|the\s+ones?|ones?)\s+)?\b(in|at|on|for|of|during|from|with)\s", re.IGNORECASE
)
_TAIL = re.compile(r"\s(?:for|in|at|on|during|since|before|after|when|while)\s.+$", re.IGNORECASE)
_NAMES = re.compile(r"[^\W\d_]{2,}")
_NUMBERS = re.compile(r"\b(?:in\s+)?\d+\b")
_COMPARING = re.compile(
    r"\b(?:compar\w*|contrast\w*|differ(?:s|ed|ences?)?|versus|vs|relat(?:e|es|ion|ions|ionship)|vergleich\w*|unterschied\w*)\b",
    re.IGNORECASE,
)
_AND = r"""\s*(?:;|,\s*(?:and|or|und|oder|et|ou)\b|,(?=\s))\s* | \s+(?:and|or|und|oder|et|ou|vs\.?|versus)\s+"""
_AGAINST = r"""(?:(?:compares?|differs?|relates?|contrasts?)\s+)?
    (?:against|with|to\ my|to\ our|from\ my|compared\ (?:with|to)|as\ opposed\ to|rather\ than|instead\ of|mit|avec)
  | (?:compares?|differs?|relates?|contrasts?)\s+(?:to|from)"""
_LISTED = re.compile(_AND, re.IGNORECASE | re.VERBOSE)
_COMPARED = re.compile(rf"{_AND} | \s+(?:{_AGAINST})\s+", re.IGNORECASE | re.VERBOSE)
_OPENINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:please\s+)?(?:compare|contrast|research|investigate|analy[sz]e|review|summari[sz]e|trace|recap|report on"
        r"|look into|find out(?: about)?|collect|gather|list|vergleiche|comparez)\b:?",
        r"^(?:and\s+)?how\s+(?:do|does|did)\b",
        r"^(?:(?:what|how)\s+(?:is|are|was|were)\s+)?(?:an?|the)?\s*(?:differences?|comparison|relation|relationship"
        r"|connection|links?|report|overview|summary)\s+(?:between|of|on|about)\b",
        r"^(?:what|everything|all)\s+(?:(?:did|do|have|has|had|was|were)\s+)?(?:i|we)?\s*(?:ever\s+)?"
        r"(?:know|learn|learned|learnt|say|said|decide|decided|discuss|discussed|write|written|done|do|tried|try)?"
        r"\s*(?:about|on|of|for)\b",
    )
)
_ABSTRACT = re.compile(
    r"\b(?:(?:my|our|the|your)\s+)?(?:decisions?|choices?|strateg(?:y|ies)|approach(?:es)?|thinking|thoughts?|views?"
    r"|opinions?|reasoning|rationale|considerations?|lessons?|learnings?|experiences?|stance|attitude)"
    r"(?:\s+(?:about|on|of|for|to|towards?|with))?\b",
    re.IGNORECASE,
)
