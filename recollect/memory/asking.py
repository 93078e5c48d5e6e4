"""Ask: an answer from everything that was said, with the messages that prove it [0]."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.memory.chat import Chatting
from recollect.memory.ends import end_of

if TYPE_CHECKING:
    from recollect.answer.ask import Remembered
    from recollect.answer.results import AskAnswer, AskEvent
    from recollect.record import RoleName
    from recollect.search.query.request import Mode


class Asking(Chatting):
    """Answers."""

    def ask(
        self,
        question: str,
        *,
        intent: str | None = None,
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
    ) -> AskAnswer:
        """Answers a question from what was said, with numbered citations, or says that the conversations do not say.

        By the model, where one is set; without one, or where it fails (`notes` say so), the answer is an extract: the
        best sentences as they were said. The question may hold filters, as that of `search`. `intent` (RETRIEVAL, QA,
        DECISION, CODE_LOOKUP, SYNTHESIS) is read from the question, unless given. Nothing is written. Raises
        InvalidInput, StoreError.
        """
        from recollect.answer.results import AskAnswer
        from recollect.search.query.request import Filters

        filters = Filters.of(
            source=source, role=role, conversation=conversation, since=since, until=until, before=before, mode=mode
        )
        return end_of(self.ask_stream(question, intent=intent, **filters.given), AskAnswer)

    def ask_stream(
        self,
        question: str,
        *,
        intent: str | None = None,
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
    ) -> Generator[AskEvent, None, None]:
        """As `ask`, told while it happens: each `Step`, the `AnswerWords` of a model as they come, with checked
        citations, that it broke off and is asked for `Again`, and last the `AskAnswer`.
        """
        from recollect.answer.ask import NO_QUESTION, Asker
        from recollect.answer.intents import named_intent
        from recollect.search.query.request import Filters

        filters = Filters.of(
            source=source, role=role, conversation=conversation, since=since, until=until, before=before, mode=mode
        )
        search = self._read_search(question, filters, limit=10, group_by="message", otherwise=NO_QUESTION)
        self._written()
        yield from Asker(self._searcher, self._space, self._remembered).events(
            search, self._answering(question), named_intent(intent)
        )

    @cached_property
    def _remembered(self) -> Remembered:
        """What models made of questions."""
        from recollect.answer.ask import Remembered

        return Remembered()
