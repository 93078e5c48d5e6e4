"""What a chat answers without a model, or where that fails: the extract that `ask` gives, of what the chat found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.answer.ask.evidence import Evidence, Passage, around
from recollect.answer.ask.extract import Draft, extract
from recollect.answer.ask.intents import read_intent
from recollect.answer.chat.retrieve import Source, telling
from recollect.answer.citations import renumbered
from recollect.record import Conversation
from recollect.store import Space

#: Why there is an extract, without a model and where one `failed`.
_WHY = {False: "No language model is set", True: "The language model failed"}


def extract_of(
    space: Space, question: str, sources: Sequence[Source], *, failed: bool = False
) -> tuple[str, list[Source]]:
    """The extract with the numbers of the sources, and these, those that it quotes marked as used. A message around
    them that it quotes as well becomes a source.
    """
    nothing = f"{_WHY[failed]}, and the memory holds nothing near this."
    if not sources:
        return nothing, []
    for some in (telling(space, question, sources), sources):
        if some and (draft := _draft(space, question, some)).citations:
            break
    else:
        return nothing, list(sources)
    numbers = {source.message.id: source.number for source in reversed(sources)}
    beside = list[Source]()
    for citation in draft.citations:
        if citation.message.id not in numbers:
            numbers[citation.message.id] = max(numbers.values()) + 1
            title = citation.conversation.title if citation.conversation is not None else ""
            beside.append(Source(numbers[citation.message.id], citation.message, title, citation.quote, 0.0))
    quoted = {citation.number: numbers[citation.message.id] for citation in draft.citations}
    text = renumbered(draft.text, quoted)
    used = [replace(source, is_used=source.number in quoted.values()) for source in (*sources, *beside)]
    return f"{_WHY[failed]}, so this is an extract of what was said:\n\n{text}", used


def _draft(space: Space, question: str, sources: Sequence[Source]) -> Draft:
    messages = [source.message for source in sources if not source.cited]
    with space.view() as view:
        found = view.get(Conversation, list({message.conversation_id for message in messages}))
    conversations = {conversation.id: conversation for conversation in found}
    passages = tuple(
        Passage(
            source.number,
            source.message,
            conversations.get(source.message.conversation_id),
            source.score,
            cited=source.cited,
        )
        for source in sources
    )
    return extract(
        Evidence(
            question=question,
            intent=read_intent(question),
            passages=passages,
            around=around(space, messages),
            known=True,
        )
    )
