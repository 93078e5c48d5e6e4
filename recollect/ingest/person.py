"""What there is of a person: what they said, what others say of them, and what was derived.

A person is a name with its other spellings, as entities and speakers know them. Whether words mention them is decided
by these names alone, so that it does not depend on what was derived by now.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.derive.entities.directory import Directory
from recollect.derive.entities.naming import WORDS_TOO, YOU, folded
from recollect.derive.facts.claim import USER
from recollect.errors import InvalidInput, NotFound
from recollect.record import Conversation, Document, Message, Node, NodeId, NodeKind, Origin, Thread
from recollect.store import View, Where
from recollect.store.transfer import every
from recollect.text.clean import title_from
from recollect.text.terms import STOP_WORDS, fold

_ME = frozenset(("me", "i", "user", YOU, USER))
#: Words that are names too: written small they name nobody.
_WORDS = WORDS_TOO | STOP_WORDS
#: Letters of languages that put no blanks between words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


@dataclass(frozen=True, slots=True)
class Person:
    """What there is of somebody, in three groups. `names` begin with the usual one; the others are taken for the same.

    First `said`: their messages. Then `mentions`: messages of others, and `documents`, that name them, and `titled`:
    conversations whose title does. Last `facts`: the ids of facts that name them; `derived` counts by kind what was
    made of what they said and goes with it or is made anew. `removed` is set once they were forgotten.
    """

    names: tuple[str, ...]
    said: tuple[Message, ...] = ()
    mentions: tuple[Message, ...] = ()
    documents: tuple[Document, ...] = ()
    titled: tuple[Conversation, ...] = ()
    facts: tuple[NodeId, ...] = ()
    derived: Mapping[str, int] = field(default_factory=dict)
    removed: bool = False

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles that name them."""
        return tuple(conversation.title for conversation in self.titled)

    @property
    def is_known(self) -> bool:
        """Whether there is anything of them."""
        return bool(self.said or self.mentions or self.documents or self.titled or self.facts)


def find_person(view: View, name: str) -> Person:
    """What there is of the person of a name. Raises NotFound, InvalidInput for no name, and for you yourself."""
    if not name.strip():
        raise InvalidInput("The name is empty.")
    directory = Directory(view)
    entity = directory.find(name)
    spellings = [entity.name, *(alias.name for alias in entity.aliases)] if entity else [name.strip()]
    meant = {folded(one) for one in (*spellings, name)}
    if meant & _ME:
        raise InvalidInput("This is you.", hint="To remove everything: recollect forget --all")
    spoken = [speaker for speaker in view.speakers() if folded(speaker) in meant]
    names = tuple(dict.fromkeys((*spellings, *spoken)))
    fits = _Naming((*names, name))
    said: list[Message] = []
    mentions: list[Message] = []
    titled: list[Conversation] = []
    for conversation in every(view, Conversation):
        thread = None if conversation.erased else view.thread(conversation.id)
        if thread is None:
            continue
        calls = _calls_that_name(thread, fits)
        for message in thread.messages:
            if message.erased:
                continue
            if message.speaker is not None and folded(message.speaker) in meant:
                said.append(message)
            elif message.id in calls or fits(_texts(message)):
                mentions.append(message)
        titled += [conversation] if fits([conversation.title]) else []
    documents = [d for d in every(view, Document) if not d.erased and fits([d.title, d.content])]
    facts = [n.id for n in _nodes_that_name(view, fits, NodeKind.FACT) if n.text]
    found = Person(names, tuple(said), tuple(mentions), tuple(documents), tuple(titled), tuple(facts))
    if not found.is_known and entity is None:
        near = directory.near(name)
        hint = f"Did you mean: {', '.join(near)}?" if near else "To see who there is: recollect entities"
        raise NotFound(f"No person called {name!r} is known.", hint=hint)
    return found


def nodes_naming(view: View, person: Person, origin: Origin | None = None) -> list[NodeId]:
    """The nodes beside the record that still hold one of their names; of an `origin` alone the facts."""
    fits = _Naming(person.names)
    if origin is None:
        return [node.id for node in _nodes_that_name(view, fits)]
    return [node.id for node in _nodes_that_name(view, fits, NodeKind.FACT) if node.origin is origin]


def first_words_without(view: View, conversation: Conversation, person: Person) -> str:
    """A title for a conversation that does not name them: how the first message begins that does not; or none."""
    fits = _Naming(person.names)
    messages = every(view, Message, Where(conversation=conversation.id))
    for message in sorted(messages, key=lambda message: message.position):
        if message.content and not (message.erased or message.deleted) and not fits([message.content]):
            return title_from(message.content)
    return ""


class _Naming:
    """Tells whether texts name somebody. A name that is a word too, such as Will, counts where it has its capital."""

    def __init__(self, names: Iterable[str]) -> None:
        plain = {fold(name).strip() for name in names} - {""}
        self.anyhow = _pattern(plain)
        self._names, words = _pattern(plain - _WORDS), plain & _WORDS
        self._words = _pattern({*map(str.capitalize, words), *map(str.upper, words)})

    def __call__(self, texts: Iterable[str | None]) -> bool:
        return any(text and (self._names.search(fold(text)) or self._words.search(text)) for text in texts)


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Any of these as words of a text, the longest first; of none it never fits."""
    words = sorted(names, key=lambda word: (-len(word), word))
    found = "|".join(f"{_edge(w[0], before=True)}{re.escape(w)}{_edge(w[-1], before=False)}" for w in words)
    return re.compile(found or r"(?!)")


def _edge(letter: str, *, before: bool) -> str:
    if _UNSPACED.match(letter):
        return ""
    return r"(?<![^\W_])" if before else r"(?![^\W_])"


def _texts(message: Message) -> Iterator[str | None]:
    yield message.content
    yield message.speaker
    for part in message.parts:
        yield part.text
        yield part.name
    for version in message.versions:
        yield version.content
    yield _plain(message.metadata)


def _calls_that_name(thread: Thread, fits: _Naming) -> set[NodeId]:
    """The messages whose calls of tools name them."""
    calls = (call for call in thread.tool_calls if fits((call.arguments, call.result)))
    return {call.message_id for call in calls}


def _nodes_that_name(view: View, fits: _Naming, kind: NodeKind | None = None) -> Iterator[Node]:
    for node in every(view, Node, Where(kinds=(kind.value,) if kind else ())):
        if not node.erased and (fits((node.text, _plain(node.body))) or fits.anyhow.search(fold(node.key))):
            yield node


def _plain(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, default=str) if value else ""


def ids_of(person: Person, *, mentions: bool) -> Sequence[NodeId]:
    """What of the record goes with them."""
    also: Iterable[Message | Document] = (*person.mentions, *person.documents) if mentions else ()
    return [record.id for record in (*person.said, *also)]
