"""The prompt in the four parts of [2]: the system, the graph of the conversation, what was retrieved, and the question.

What stays the same from turn to turn stands first, so that a provider's cache of prompts holds; what is new with every
question stands in the last message, which carries the mark of recall and is therefore never stored (text/marks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from recollect.answer.evidence import SourcePassage
from recollect.answer.references.candidates import TurnText, candidates
from recollect.derive.entities.message import found_in
from recollect.derive.topics.segments import Drift
from recollect.models.language.talk import Said
from recollect.models.language.transcript import TranscriptEntry, heading, material
from recollect.record import Conversation, Kind, Message, NodeId, Role, Turn, stable_id
from recollect.store import View
from recollect.text.clean import marked

_NOTHING = "(nothing)"


#: What to do where what was given does not hold the answer: for a model that has tools, and for one that has none.
_LOOK = {
    True: "When the memory may hold the answer and what you were given does not, call a tool to look for it, at most a "
    "few times. When it still is not there, say that the memory does not hold it.",
    False: "When what you were given does not hold the answer, say that you did not find it in the memory.",
}


@cache
def system(with_tools: bool = True) -> str:
    """What the model is told first."""
    written = resources.files("recollect.models.language.prompts").joinpath("chat.md").read_text("utf-8").strip()
    return written.replace("{look}", _LOOK[with_tools])


def asked(
    question: str,
    sources: Sequence[SourcePassage],
    salient: Sequence[str],
    relations: Sequence[str],
    answered: Sequence[str],
    *,
    more: Sequence[str] = (),
    most_tokens: int,
) -> str:
    """The last message: graph, knowledge and question. `answered` is what the last answer was about, `more` what is
    known beside the messages that may answer.
    """
    parts = ["CONVERSATIONAL CONTEXT GRAPH:", *_graph(salient, relations, answered), "", "RETRIEVED KNOWLEDGE:"]
    entries = [
        TranscriptEntry(source.message.id, _heading(source), source.message.content, _place(source))
        for source in sources
    ]
    knowledge = material(entries, most_tokens=most_tokens).text if entries else _NOTHING
    beside = [f"| {line}" for part in more for line in part.splitlines()]
    return f"{marked(chr(10).join([*parts, knowledge, *beside]))}\n\nUSER QUERY:\n{question}"


def talk(before: Sequence[Said], last: str) -> list[Said]:
    """The messages in the order that providers take: the person first, then by turns."""
    said: list[Said] = []
    for turn in [*before, Said(role="user", text=last)]:
        if not turn.text.strip() or (not said and turn.role != "user"):
            continue
        if said and said[-1].role == turn.role:
            turn = Said(role=turn.role, text=f"{said.pop().text}\n\n{turn.text}")
        said.append(turn)
    return said


def _graph(salient: Sequence[str], relations: Sequence[str], answered: Sequence[str]) -> list[str]:
    told = []
    if salient:
        told.append(f"| The conversation is about: {', '.join(map(_line, salient))}.")
    if answered:
        told.append(f"| The last answer was about: {', '.join(map(_line, answered))}.")
    return [*told, *(f"| {_line(relation)}" for relation in relations)] or [_NOTHING]


def _heading(source: SourcePassage) -> str:
    if source.cited:
        return "document"
    return f"{heading(source.message)}, {'this conversation' if source.is_own else 'elsewhere'}"


def _place(source: SourcePassage) -> str:
    """Where it was said: words of others, which stand with what was said and not in our heading."""
    return source.cited or ("" if source.is_own else source.title)


def _line(text: str) -> str:
    return " ".join(text.split())[:120]


# The newest of a conversation, as the next turn needs it: what was said, what is salient, where it drifted [2].

#: Messages that are looked at. What is older is found by search.
LOOKED_BACK = 12

_READ = 40  # messages, tool output among them, in which those are
_MOST_SALIENT, _MOST_ANSWERED = 8, 4


@dataclass(frozen=True, slots=True)
class RecentMessages:
    """The last messages of a conversation, oldest first, with the turns that they belong to. `conversation` is None
    where there is none yet.
    """

    conversation: Conversation | None = None
    messages: tuple[Message, ...] = ()
    turns: dict[NodeId, Turn] = field(default_factory=dict)  # by the question's id

    @property
    def lines(self) -> list[TurnText]:
        """What was said since the talk last turned to something else, with what is known of its references."""
        messages = self.messages[_drifted_at(self.messages) :]
        return [TurnText(message.role is Role.USER, self._whole(message)) for message in messages]

    @property
    def salient(self) -> list[str]:
        """The names that matter most now, by frequency and recency."""
        return [one.name for one in candidates(self.lines) if one.is_named and one.type != "people"][:_MOST_SALIENT]

    @property
    def answered(self) -> list[str]:
        """What the last answer was about: the names in it, of one that names nothing those that it was asked about."""
        answers = [place for place, message in enumerate(self.messages) if message.role is Role.ASSISTANT]
        if not answers:
            return []
        asked = self.messages[max(answers[-1] - 1, 0)]
        texts = (self.messages[answers[-1]].content, self._whole(asked))
        named = (list(dict.fromkeys(mention.name for mention in found_in(text))) for text in texts)
        return next((names[:_MOST_ANSWERED] for names in named if names), [])

    def drifts(self, question: str) -> bool:
        """Whether a question turns to something else than what was just spoken of."""
        if not self.messages:
            return False
        drift = Drift()
        for message in self.messages:
            drift.takes(message)
        last = self.messages[-1]
        asked = Message(NodeId(""), last.conversation_id, Role.USER, question)
        return drift.takes(asked)

    def _whole(self, message: Message) -> str:
        turn = self.turns.get(message.id)
        return turn.resolved_query if turn is not None and turn.resolved_query else message.content


def recent(view: View, conversation_id: NodeId) -> RecentMessages:
    """The newest of a conversation, at a cost that does not depend on its length."""
    end = view.end(conversation_id)
    if end is None or end.conversation.erased:
        return RecentMessages()
    above = [end.leaf, *view.above(end.leaf.id, _READ)] if end.leaf is not None else []
    said = [message for message in above if _is_said(message)][:LOOKED_BACK]
    asked = [stable_id("turn", message.id) for message in said if message.role is Role.USER]
    turns = {turn.query_id: turn for turn in view.get(Turn, asked)}
    return RecentMessages(end.conversation, tuple(reversed(said)), turns)


def _is_said(message: Message) -> bool:
    said = message.kind is Kind.SAID and message.role in (Role.USER, Role.ASSISTANT)
    return said and not (message.deleted or message.erased) and bool(message.content.strip())


def _drifted_at(messages: Sequence[Message]) -> int:
    """Where the last subject begins."""
    drift, begins = Drift(), 0
    for position, message in enumerate(messages):
        if drift.takes(message):
            begins = position
    return begins
