"""What a model is given: the context of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.memory.arguments import shown
from recollect.memory.knowledge import Knowledge
from recollect.record import Message, NodeId, to_microseconds
from recollect.runtime.tracing import records, traced

if TYPE_CHECKING:
    from recollect.context import Context, IndexConfig, Patience, ToolNames
    from recollect.context.brief import Brief
    from recollect.context.building import ContextBuilder
    from recollect.ingest.requested import By, GivenPart, Requested
    from recollect.store import View

#: Parts that hold nothing of the memory.
_NOT_OF_THE_MEMORY = ("guide", "asked")
_TYPICAL = 40  # messages of a cluster that its summary is made of where there is none


class Contexts(Knowledge):
    """Contexts for a model, and the clusters that they name."""

    @traced("search_memory", lambda context: records(context.named_ids()), query=True)
    def prepare_context(
        self,
        text: str,
        conversation_id: str | None = None,
        budget: int | None = None,
        *,
        config: IndexConfig | Mapping[str, Any] | None = None,
        patience: Patience | None = None,
        known: Iterable[str] = (),
        tools: bool | ToolNames = True,
    ) -> Context:
        """What a model needs of everything that was said to answer `text`, in at most `budget` tokens [1, 4].

        Your rules, the newest messages (of a conversation, or of all), summaries, current facts, what answers in full,
        and an index of the rest in the form that its size asks for. `config` (or INDEX_… in the environment) sets the
        index, `patience` (or VECTOR_SEARCH_TIMEOUT and INDEX_BUILD_TIMEOUT) how long is waited before less is handed
        out. `known` are messages that the model is sent anyway. Without `tools` nothing is named that only they could
        open; who has others than those of the `toolbox` names them. Raises InvalidInput where the text alone is over
        the budget, NotFound for an unknown conversation.
        """
        self._written()
        build = self._context_builder(config, patience, tools=tools)
        return build(text, NodeId(conversation_id) if conversation_id else None, budget, frozenset(map(NodeId, known)))

    def _context_builder(
        self,
        config: IndexConfig | Mapping[str, Any] | None = None,
        patience: Patience | None = None,
        *,
        tools: bool | ToolNames = True,
    ) -> ContextBuilder:
        """What builds every context: of `prepare_context`, of chats, of the proxy and of MCP."""
        from recollect.context.building import ContextBuilder
        from recollect.context.choices import ToolNames
        from recollect.context.settings import IndexConfig, Patience

        return ContextBuilder(
            self._space,
            self._kept,
            self._embedder,
            self._make_quality,
            self._clock,
            IndexConfig.of(config),
            patience or Patience.from_environment(),
            tools=ToolNames() if tools is True else tools or None,
            masking=self._masking,
        )

    def fingerprint(self, ids: Iterable[str]) -> str:
        """What stays the same as long as nothing that these ids name was reworded, deleted or forgotten: for who keeps
        what was handed out.
        """
        from recollect.context.kept import fingerprint

        with self._space.view() as view:
            return fingerprint(view, list(map(NodeId, ids)), self._kept)

    def brief(self, folder: str | Path | None = None, budget: int = 1_500) -> Brief:
        """What matters for work in a folder, for a coding agent at the start of a session: how the last session there
        ended, what was left open, what stands of the person in every context, what is known from there, and the
        sessions before, in at most `budget` tokens.

        Sessions belong to a folder where they ran in it, in its repository, or below. Without a folder it is the one of
        this process. Rules come first. Its `text` is empty where nothing was said there and there are none. Raises
        InvalidInput for a budget under 200.
        """
        from recollect.context.brief import brief_of
        from recollect.context.standing import Read

        self._written()
        with self._space.view() as view:
            brief = brief_of(Read(view, self._kept), Path(folder or Path.cwd()), budget, self._clock(), Path.home())
            masked = self._masking.of(view).all(brief)
            return replace(masked, folder=brief.folder, name=brief.name)

    def requests(self, limit: int = 20) -> list[Requested]:
        """What the newest requests were given of this memory, the newest first, by the ids of what stood in them: those
        of proxied and wrapped clients, chats, clients of MCP and hooks. 200 are kept; what is forgotten leaves them.
        """
        from recollect.ingest.requested import newest

        self._written()
        with self._space.view() as view:
            mask = self._masking.of(view)
            return [mask.all(one) for one in newest(view, limit, mask)]

    def record_request(
        self,
        by: By,
        parts: Iterable[GivenPart],
        *,
        text: str = "",
        conversation_id: str | None = None,
        message_id: str | None = None,
    ) -> None:
        """Records for `requests` what was put into one, behind whatever is done with it: the parts of a context or a
        brief. `message_id` is what was asked, where that is stored; else `text` is, of which the beginning is kept.
        While recording is paused, or this process is marked, nothing is; of chats it is, since they are stored too.
        Raises InvalidInput.
        """
        from recollect.ingest.requested import Given, Requested, keep
        from recollect.memory.recording import Recording

        every = list(parts)
        for part in every:
            if not all(hasattr(part, name) for name in ("name", "tokens", "ids")):
                raise InvalidInput(f"parts holds {shown(part)}.", hint="Give the parts of a context or of a brief.")
        given = [part for part in every if part.name not in _NOT_OF_THE_MEMORY]
        try:
            if not given or (by != "chat" and not Recording.own().is_on()):
                return
        except RecollectError:  # whoever cannot read it must not record
            return
        request = Requested(
            at=self._clock(),
            by=by,
            parts=tuple(Given(part.name, part.tokens, tuple(part.ids)) for part in given),
            conversation_id=NodeId(conversation_id) if conversation_id else None,
            message_id=NodeId(message_id) if message_id else None,
            text=self.masked(text),
        )
        self._behind.write(NodeId(""), lambda: keep(self._space, request))

    def get_cluster(self, cluster_id: str, limit: int = 50) -> list[Message]:
        """The messages of a cluster that a context names: those of a topic, by its id, label or a term of it; those
        whose ids, or the ends of them, are given with commas between; or those nearest in meaning to one message,
        itself first [4]. Raises NotFound.
        """
        from recollect.context.wording import BETWEEN
        from recollect.models.embedding import is_remote
        from recollect.runtime.processes import turn
        from recollect.search.recalling import alike

        try:
            return self.get_topic_messages(cluster_id, limit)
        except NotFound:
            with turn(waits=is_remote(self._embedder)), self._space.view() as view:
                found = _called(view, cluster_id.strip())
                if not found and BETWEEN in cluster_id:
                    each = (_called(view, code) for part in cluster_id.split(BETWEEN) if (code := part.strip(" []")))
                    if members := list({m.id: m for some in each for m in some}.values()):
                        return members[:limit]
                if len(found) != 1:
                    raise
                return alike(view, found[0], self._embedder, self._make_quality, self._clock().date(), limit)

    def cluster_summary(self, cluster_id: str) -> str:
        """What a cluster comes down to: the summary of its topic, else an extract of its most typical messages. Raises
        NotFound.
        """
        from recollect.derive.summaries.works import topic_text
        from recollect.derive.topics.reading import named
        from recollect.models.embedding.static import StaticEmbedder

        with self._space.view() as view, suppress(NotFound):
            if summary := named(view, cluster_id).summary:
                return summary
        return topic_text(_in_time(self.get_cluster(cluster_id, _TYPICAL)), StaticEmbedder())


def _in_time(messages: Sequence[Message]) -> list[Message]:
    return sorted(messages, key=lambda m: (to_microseconds(m.timestamp) or 0, m.conversation_id, m.position))


def _called(view: View, text: str) -> list[Message]:
    """The messages of an id or the end of one that can be read: more than one only where it names several."""
    return [m for m in view.get(Message, view.named(text, 2)) if not m.deleted and not m.erased]
