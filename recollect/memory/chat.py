"""Stateful chat [2]: a question made whole, and a turn from the question to what is written of it."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING

from recollect.memory.ends import end_of
from recollect.memory.handle import LIVE_SOURCE
from recollect.memory.tools import Tools
from recollect.record import NodeId, checked_id

if TYPE_CHECKING:
    from recollect.answer.chat.session import Chat, Save
    from recollect.answer.results import ChatAnswer, ChatEvent
    from recollect.models.language.base import LanguageModel
    from recollect.search.query.request import Mode


class Chatting(Tools):
    """Chats."""

    def resolve_references(self, conversation_id: str, question: str) -> str:
        """The question made whole by what was said before it in a conversation, or as it was [2]: "How does it scale?"
        becomes "How does Project Titan scale?". By the model, where one is set, else by rules; what is not certain
        stays.
        """
        return self._chat.resolve(NodeId(conversation_id), question, self._answering(question)).text

    def chat(
        self,
        conversation_id: str | None,
        text: str,
        *,
        budget: int = 10_000,
        mode: Mode = "auto",
        title: str = "",
        tools: bool = True,
        save: Save = "now",
    ) -> ChatAnswer:
        """Answers within a conversation, from what was said in it, then from all the rest, and writes the turn [2].

        Without a `conversation_id`, or with one that is not there yet, a new conversation begins. `budget` is how many
        tokens the model is given, besides what its `tools` answer. The turn is written in one transaction, `save` now
        or behind the answer; the next turn sees it either way. Without a model, or where it fails, the answer says so
        and quotes the messages that may answer. Raises InvalidInput, StoreError; then nothing was written.
        """
        from recollect.answer.results import ChatAnswer

        stream = self.chat_stream(conversation_id, text, budget=budget, mode=mode, title=title, tools=tools, save=save)
        return end_of(stream, ChatAnswer)

    def chat_stream(
        self,
        conversation_id: str | None,
        text: str,
        *,
        budget: int = 10_000,
        mode: Mode = "auto",
        title: str = "",
        tools: bool = True,
        save: Save = "now",
    ) -> Generator[ChatEvent, None, None]:
        """As `chat`, told while it happens: the words as they come (`AnswerWords`), tools that are called (`ToolUsed`),
        that an answer broke off and is asked for `Again`, and last the `ChatAnswer`. Whoever stops before that has no
        turn written.
        """
        from recollect.answer.chat.session import Options

        options = Options(budget=budget, mode=mode, title=title, with_tools=tools, save=save)
        own = checked_id(conversation_id, "conversation_id") if conversation_id else None
        try:
            yield from self._chat.turn(own, text, self._answering(text), options)
        finally:
            if self._background is not None:
                self._background.wrote()

    @property
    def _chat(self) -> Chat:
        from recollect.answer.chat.session import Chat, Parts
        from recollect.answer.chat.sources import extract_of

        return Chat(
            Parts(
                space=self._space,
                ingest=self._ingest,
                find=self._searcher,
                builder=lambda tools: self._context_builder(tools=tools),
                tools=lambda: self.toolbox(read_only=True),
                extract=lambda question, sources, failed: extract_of(self._space, question, sources, failed=failed),
                behind=self._behind,
                record=partial(self.record_request, "chat"),
                clock=self._clock,
                ids=self._ids,
                source=LIVE_SOURCE,
            )
        )

    def _answering(self, spoken: str) -> LanguageModel | None:
        """The model for what is asked for now. It is told no secret but those of the text that was just spoken."""
        if not self._asked_model:
            return None
        from recollect.models.language.budget import within
        from recollect.models.language.choose import discreet

        return discreet(within(self._asked_model, self.namespace), partial(self.masked, spoken=spoken))
