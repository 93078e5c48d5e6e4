"""Whether search is well: a real search for a real message, rather than a look at whether things are there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from recollect.memory.reading import Reading
from recollect.record import Conversation, Kind, Message
from recollect.store import Where

_CONVERSATIONS, _MESSAGES = 5, 40  # that are looked through for something to search for
_WORDS = 8  # of it that are searched
_LEAST = 4
_WITHIN = 10  # results


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of it. `message_id` is None where nothing is there that could be searched for."""

    well: bool
    when: datetime
    took_ms: float
    message_id: str | None = None


class Probing(Reading):
    """A look at one's own health."""

    def probe(self) -> Probe:
        """Searches for the beginning of one of the newest messages, and says whether that message was found.

        Raises StoreError where the store cannot be read.
        """
        message = self._something_said()
        if message is None:
            return Probe(well=True, when=self._clock(), took_ms=0.0)
        query = " ".join(message.content.split()[:_WORDS])
        began = time.perf_counter()
        found = self.search(
            query, limit=_WITHIN, group_by="message", conversation=message.conversation_id, mode="instant"
        )
        took = (time.perf_counter() - began) * 1000
        ids = {one for hit in found for entry in hit.messages for one in (entry.message.id, *entry.copies)}
        return Probe(message.id in ids, self._clock(), took, message.id)

    def _something_said(self) -> Message | None:
        """Words of the newest conversations that can be searched for."""
        with self._space.view() as view:
            newest = view.find(Conversation, Where(deleted=False, order="newest"), limit=_CONVERSATIONS).items
            for conversation in newest:
                for message in view.find(Message, Where(conversation=conversation.id), limit=_MESSAGES).items:
                    if message.kind is Kind.SAID and not message.deleted and len(message.content.split()) >= _LEAST:
                        return message
        return None
