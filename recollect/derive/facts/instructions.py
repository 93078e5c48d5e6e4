"""Rules: what the user wants of every answer ("use metric units"). They stand first in every context.

A rule is a fact of the category `rule`, in a slot of its own: it settles with the same told again and supersedes
nothing, and is edited, pinned, forgotten, exported and undone like any other. Only a rule that the user wrote, pinned
or edited is live. One that was heard in a message, or that a model stored, is offered: pinning it confirms it,
forgetting it dismisses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from recollect.derive.facts.changes import OFFERED
from recollect.derive.facts.claim import USER, Category, Claim, Provenance, entity_key, identity_of
from recollect.derive.facts.fact import is_rule
from recollect.derive.facts.rules.draw import MADE_BY, speaker_of
from recollect.derive.facts.rules.sentences import OwnSentence, is_play, own_sentences, taken_back
from recollect.derive.facts.stored import record, stored_claim
from recollect.errors import InvalidInput
from recollect.record import Message, Node, NodeId, NodeKind, stable_id, to_microseconds
from recollect.store import View, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_text

#: Whom rules are about, and the attribute that they are. No other fact has this entity.
WHOSE, RULE = f"{USER}'s rules", "rule"
#: The characters of a rule, and the tokens of all together as a prompt lists them: so many fit into every context of
#: 2,000 tokens or more.
MOST_CHARACTERS, MOST_TOKENS = 500, 800
_LISTED = "To see and shorten them: recollect facts --rules"


def told_rule(text: str, *, is_confirmed: bool, said_by: str, now: datetime, id: NodeId) -> Node:
    """The record of a rule. Raises InvalidInput for an empty one, and one that is too long."""
    words = rule_words(text)
    provenance = Provenance.BY_HAND if is_confirmed else Provenance.STORED
    more = {"settles_in": rule_slot(words), "category": Category.RULE, "provenance": provenance}
    # Since now: what was decided about the same words before is about the time before.
    claim = stored_claim(id, words, WHOSE, RULE, words, said_by=said_by, said_at=now, since=now, **more)
    return record(words, [claim], 1.0, {"category": Category.RULE.value, "tags": []})


def heard_rule(words: str, message: Message, start: int, end: int, *, said_by: str, made_by: str) -> Claim:
    """The claim of a message that says a rule."""
    return Claim(
        entity=WHOSE,
        attribute=RULE,
        value=words,
        content=words,
        message_id=message.id,
        start=start,
        end=end,
        quote=message.content[start:end],
        said_by=said_by,
        said_at=message.timestamp,
        order=(message.conversation_id, message.position),
        category=Category.RULE,
        made_by=made_by,
        settles_in=rule_slot(words),
    )


def rule_words(text: str) -> str:
    """A rule as it is stored, in one line. Raises InvalidInput."""
    words = " ".join(clean_text(text).split())
    if not words:
        raise InvalidInput("Nothing to remember: the rule is empty.")
    if len(words) > MOST_CHARACTERS:
        raise InvalidInput(
            f"A rule of {len(words):,} characters is too long: at most {MOST_CHARACTERS}.",
            hint="Every context holds it: say it shorter, or as several rules.",
        )
    return words


def rule_slot(words: str) -> NodeId:
    """The slot of a rule. It holds no words."""
    return stable_id("slot", RULE, identity_of(RULE, words))


def rules_in(view: View) -> list[Node]:
    """The rules, in the order in which they were told."""
    return _in_order(_nodes(view, "live"))


def offered_in(view: View) -> list[Node]:
    """What may be a rule and waits for the user, in the order in which it was told."""
    known = {node.body["identity"] for node in _nodes(view, "live")}
    return _in_order(node for node in _nodes(view, OFFERED) if node.body["identity"] not in known)


def same_rule(view: View, told: Node, *, is_confirmed: bool) -> Node | None:
    """The rule that says the same already."""
    identity = identity_of(RULE, told.text)
    states = ("live",) if is_confirmed else ("live", OFFERED)
    return next((node for node in _nodes(view, *states) if node.body["identity"] == identity), None)


def check_room(view: View, words: str, but: NodeId | None = None) -> None:
    """Raises InvalidInput where a rule does not fit beside those that are there; `but` is one that it replaces."""
    from recollect.models.embedding.tokenizer import count_tokens

    others = [node.text for node in _nodes(view, "live") if node.id != but]
    cost = sum(count_tokens(f"- {one}") + 1 for one in (*others, words))
    if cost > MOST_TOKENS:
        raise InvalidInput(
            f"All rules together would have {cost:,} tokens: at most {MOST_TOKENS:,}, as every context holds them.",
            hint=_LISTED,
        )


def _nodes(view: View, *states: str) -> list[Node]:
    where = Where(kinds=(NodeKind.FACT.value,), keys=(entity_key(WHOSE),), states=states, deleted=False)
    return [node for node in every(view, Node, where) if is_rule(node) and node.text and not node.erased]


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (to_microseconds(node.valid_from) or 0, node.id))


# Rules that a person tells the one who answers: "From now on give me grams". They are offered, never followed
# unasked.

_LONGEST = 50  # words: who says more tells of something


def heard_rules(message: Message, before: Sequence[Message] = ()) -> list[Claim]:
    """The claims of a message in which the user says rules, in its order. `before`: at most four messages before it.

    What people with names say to each other is no rule for an assistant.
    """
    if speaker_of(message) != USER:
        return []
    if any(speaker_of(m) and is_play(m.content) for m in before):
        return []
    meant = taken_back(message.content)
    claims: list[Claim] = []
    for start, end in _places(
        [s for s in own_sentences(message.content, message.speaker, _is_own) if s.start >= meant]
    ):
        words = " ".join(message.content[start:end].split())
        if len(words) <= MOST_CHARACTERS and len(words.split()) <= _LONGEST:
            claims.append(heard_rule(words, message, start, end, said_by=USER, made_by=MADE_BY))
    return claims


def _places(sentences: Sequence[OwnSentence]) -> Iterator[tuple[int, int]]:
    """Where rules are said: in one sentence, else in one and the one beside it that says that it lasts."""
    plain = [(sentence, sentence.text.replace("’", "'")) for sentence in sentences]
    alone = [sentence for sentence, text in plain if not _is_otherwise(text) and _is_rule(text)]
    if alone:
        yield from ((sentence.start, sentence.end) for sentence in alone)
        return
    for (first, one), (second, other) in pairwise(plain):
        if _is_otherwise(one) or _is_otherwise(other):
            continue
        if (_TOLD.search(one) and _LASTS.search(other)) or (_TOLD.search(other) and _LASTS.search(one)):
            yield first.start, second.end
            return


def _is_rule(text: str) -> bool:
    return bool(_SAYS_BOTH.search(text) or (_LASTS.search(text) and _TOLD.search(text)))


def _is_otherwise(text: str) -> bool:
    is_question = text.rstrip("\"”') ").endswith("?")
    return bool(_OTHERWISE.search(text)) or (is_question and not _ASKED_TO.search(text))


def _is_own(label: str) -> bool:
    """Whether what follows a label is the user's own: "For the future: …"."""
    return bool(_LASTS.search(label))


_VERBS = (
    r"(?:answer|reply|respond|use|write|give|call|address|keep|put|tell|speak|talk|explain|ask|cite|end|start|begin"
    r"|leave|skip|avoid|refrain|suggest|recommend|mention|remember|assume|consider|sign|show|remind|include|add"
    r"|describe|convert|format|stop|drop|omit|challenge|translate|make|take|treat|spell|check|apologi[sz]e|repeat"
    r"|restate|say|do|provide|list|state|round|quote|link|return|prefer|antworte|schreibe?|nenne?|gib)\b"
)
#: What may stand before a command: the beginning of a clause, and words that say nothing of it.
_BEGINS = (
    r"(?:(?:^|[,;:(–—]|\s-|\b(?:and|so|but|ok|okay|then|now))\s*(?:(?:please|pls|kindly|just|also|btw|from\ now\ on|so"
    r"|going\ forward|henceforth|in\ future|in\ the\ future|bitte|you\ can|you\ may|you),?\s+)*)"
)
_NOT = r"(?:don'?t|do\ not|never|not)"
# That it lasts, whatever it is.
_LASTS = re.compile(
    r"""\b(?:
      from\ (?:now|today|here|this\ (?:point|moment|day))\b(?:\ (?:on(?:wards?)?|forward))? | (?:going|moving)\ forward
    | henceforth | in\ future\b | (?:in|for)\ the\ future | (?:for\ )?future\ reference | permanently | at\ all\ times
    | (?:all|every|each)\ (?:the\ )?(?:single\ |other\ )?times?\b | next\ times
    | (?:always|ever|(?:general|standing|house)\ (?:thing|rule))(?=[.!,)]|\s*$)
    | never(?=[.!]|\s*$) | whenever\ (?:i|we)\b | in\ your\ (?:answers?|repl(?:y|ies)|ideas)
    | not\ (?:just|only)\ (?:now|today) | any\ ?more(?=[.!,]|\s*$)
    | (?:for|in|to|of)\ (?:all|every|any|none|no|everything)\ (?:of\ )?(?:(?:our|my|your|the|later|future)\ )*
      (?:chats?|talks?|conversations?|answers?|repl(?:y|ies)|questions?|responses?)
    | (?:goes|true|applies|counts)\ (?:for|to)\ (?:all|every)\w* | keep\ it\ like\ that | make\ it\ a\ habit
    | that\ stays | (?:keep|bear)\ (?:it|that|this)\ in\ mind
    | ab\ (?:jetzt|sofort|heute)\b | k[uü]nftig | in\ zukunft
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# To whoever answers: a command, a wish, "please", or words about the answers.
_TOLD = re.compile(
    rf"""{_BEGINS}(?:(?:always|never|{_NOT}(?:\ ever)?)\ )?{_VERBS}
    | \b(?:i\ (?:want|need|prefer)|i(?:'d|\ would)\ (?:like|prefer|appreciate))\b | \b(?:please|pls|bitte)\b
    | \b(?:can|could|would|will)\ (?:you|u|we)\b
    | \b(?:your|every|all|any)\ (?:\w+\ )?(?:answers?|repl(?:y|ies)|ideas)\b
    | \b(?:you|u)\ (?:can|may|keep|also|must|should)\b | ^\W*no\ \w+
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Both in one: "always add …", "never suggest …", "whenever I ask …, add …", "call me …", "… every text you write me".
_SAYS_BOTH = re.compile(
    rf"""{_BEGINS}(?:i\ (?:want|need)\ (?:you|u)\ to\ )?(?:always|never|{_NOT}\ ever)\ (?:again\ )?{_VERBS}
    | {_BEGINS}(?:{_NOT}\ )?{_VERBS}[^?]*
      \b(?:always|ever|never|any\ ?more|immer|whenever|when\ (?:i|we)\ (?:ask|write|send|speak|say))\b
    | \bwhen(?:ever)?\ (?:i|we|you)\ [^?]*,\s*(?:please\ |always\ )?{_VERBS}
    | {_BEGINS}(?:call|address)\ me\b | \bmy\ pronouns\ are\b
    | \b(?:please|pls)\ (?:always|never)\b | \b(?:always|never)\b[^?]*\b(?:please|pls)\b
    | \bi\ never\ want\ (?:to|you)\b
    | \b(?:any|all|every|everything)\ (?:\w+\ ){{0,4}}(?:you|u)\ (?:ever\ )?
      (?:write|give|show|tell|suggest|do|plan|recommend)\b
    | \b(?:can|could|would)\ (?:you|u)\ (?:please\ )?(?:always|never)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# For once, of others, of oneself, or of what is being written.
_OTHERWISE = re.compile(
    r"""^\s*(?://|/\*|--)|\b(?:
      this\ (?:time(?!\ and)|once|one|letter|email|answer|recipe|role|text|paragraph|message|character|function)
    | here\ please
    | once\ and\ only | (?:only|just)\ (?:for|this|the)\b | the\ next\b | for\ (?:tonight|tomorrow|now\b|this|my\ novel)
    | for\ the\ (?:poster|presentation) | until\ (?:i|the)\b
    | (?:says|said|saying|told|telling|wrote|taught|insists?|agreed|decided|demands|shall)\b
    | i\ (?:always|never)\ (?!want) | i(?:'ve|'m|\ have|\ am)\ (?:never|always|going|planning|decided)\b
    | (?:we|they|he|she|it|one|people|guests|everybody)\ (?:\w+\ )?(?:must|should|always|never)
    | (?:a|my|our)\ rule\b
    | (?:a|the|my|our)\ (?:letter|toast|comment|slogan|novel|story|tale|sign|game|script|poster)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
#: A question that asks to do something.
_ASKED_TO = re.compile(
    r"^(?:\W*(?:hey|ok|so|and|please|pls|also)\b\W*)*(?:can|could|would|will) (?:you|u|we)\b"
    r"(?! (?:always |ever )?(?:tell if|put))"
    r"|\b(?:ok|okay|please|pls)\W*\?$",
    re.IGNORECASE,
)
