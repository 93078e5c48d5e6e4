"""Summaries by a language model: what it is asked, and how its answer replaces the extract in the same node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from recollect.derive.summaries.extract import DEFAULT, Policy
from recollect.derive.summaries.nodes import CONVERSATION, COVERS, L1, L2, PERIOD
from recollect.derive.summaries.periods import SUMMARY_TASK, is_ripe, prompt_name, ripened
from recollect.derive.tasks.base import LIVE, Effects, ModelWork, Setting
from recollect.models.language.base import Completion, Request
from recollect.record import Conversation, Message, Node, NodeId, NodeKind, iso
from recollect.store import Task, View, Where
from recollect.store.transfer import every

_MANY = 10_000_000  # edges
#: What is resolved stands below what is open.
_PARTS_TOLD = (
    *("specifics", "concerns", "long_term_concerns", "tried", "actions", "highlights", "emotional_state", "resolved"),
)
_MOST_ENTRIES = 60  # summaries that a request is made of
_NEWEST = 200  # messages of a long conversation that no tactical summary covers


class SummariesByModel(ModelWork):
    """The work on all kinds of summaries: the node that the task is about says which prompt it is."""

    kind = SUMMARY_TASK

    def __init__(self, policy: Policy = DEFAULT) -> None:
        self._policy = policy

    def request(self, view: View, task: Task) -> Request | None:
        """The prompt of its kind about what the node covers; None where that has changed since."""
        from recollect.models.language.prompts import request

        node = _wanted(view, task)
        return None if node is None else request(prompt_name(node), _material(view, node))

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """The node with the model's words; and the tasks for what waited for them."""
        node = _wanted(view, task)
        if node is None:
            return Effects()
        data = dict(answer.data)
        text = str(data.pop("summary"))
        body = {
            **node.body,
            "version": int(str(orjson.loads(task.payload)["prompt"]).rpartition("/")[2]),
            "extractive": False,
            "made": iso(setting.now),
            "parts": data,
        }
        made_by = f"{orjson.loads(task.payload)['prompt']} {answer.model}"
        written = replace(node, text=text, made_by=made_by, body=body)
        return Effects(put=[written], tasks=ripened(view, node, setting, self._policy))

    def is_early(self, view: View, task: Task) -> bool:
        """Whether a model still has to write what it is made of: else it would be made of extracts for good."""
        node = _wanted(view, task)
        return node is not None and not is_ripe(view, node)

    def go_without(self, view: View, task: Task, setting: Setting) -> Effects:
        """What waited for this summary takes its extract."""
        node = _wanted(view, task)
        return Effects() if node is None else Effects(tasks=ripened(view, node, setting, self._policy))


def _wanted(view: View, task: Task) -> Node | None:
    """The node, where it lives, is still an extract, and covers the words that the task is about."""
    from recollect.models.language.prompts import prompt

    wish = orjson.loads(task.payload)
    for node in view.get(Node, [task.subject] if task.subject else []):
        living = node.state == LIVE and not node.erased and node.kind is NodeKind.SUMMARY
        if living and node.body["extractive"] and node.body["digest"] == wish["digest"]:
            return node if prompt(prompt_name(node)).id == wish["prompt"] else None
    return None


def _material(view: View, node: Node) -> str:
    """What the prompt is about: the messages, or for what was made of summaries these."""
    from recollect.models.language.transcript import transcript

    covered = _covered(view, node)
    if node.key == CONVERSATION:
        made = _of_summaries(view, node, covered)
        if made is not None:
            return made
    messages = view.get(Message, covered)
    if not messages:
        return _told(view.get(Node, covered))
    return transcript(messages, title=_title(view, node)).text


def _of_summaries(view: View, node: Node, covered: Sequence[NodeId]) -> str | None:
    """A long conversation as its blocks, the tactical summaries that none has yet, and what these leave out."""
    where = Where(kinds=(NodeKind.SUMMARY,), keys=(L1, L2), states=(LIVE,), conversation=node.conversation_id)
    levels = list(every(view, Node, where))
    tactical = sorted((one for one in levels if one.key == L1), key=_place)
    if not tactical:
        return None
    blocks = sorted((one for one in levels if one.key == L2), key=_place)
    in_blocks = {e.target_id for e in view.edges([one.id for one in blocks], (COVERS,), "out", _MANY)}
    told = {e.target_id for e in view.edges([one.id for one in tactical], (COVERS,), "out", _MANY)}
    rest = view.get(Message, [one for one in covered if one not in told][-_NEWEST:])
    return _told([*blocks, *(one for one in tactical if one.id not in in_blocks)], rest, _title(view, node))


def _told(nodes: Sequence[Node], messages: Sequence[Message] = (), title: str = "") -> str:
    """Summaries in the order of time as material, the messages after them."""
    from recollect.models.language.transcript import TranscriptEntry, heading, material

    if len(nodes) > _MOST_ENTRIES:  # the beginning, and what is newest
        nodes = [*nodes[: _MOST_ENTRIES // 4], *nodes[-_MOST_ENTRIES * 3 // 4 :]]
    entries = [TranscriptEntry(node.id, f"{_named(node)}{_when(node)}", _with_parts(node)) for node in nodes]
    entries += [TranscriptEntry(message.id, heading(message), message.content) for message in messages]
    return material(entries, title=title).text


def _when(node: Node) -> str:
    """From when to when, where that is several days and the name does not tell."""
    from recollect.models.language.transcript import when

    first, last = node.valid_from, node.valid_to
    if node.key == PERIOD or first is None or last is None or first.date() == last.date():
        return when(first)
    return f"{when(first)} to{when(last).removeprefix(',')}"


def _with_parts(node: Node) -> str:
    """The text, and what is exact, worrying or to be done beside it: a model may have put it there and nowhere else."""
    lines = [node.text]
    for name in _PARTS_TOLD:
        said = node.body["parts"].get(name, ())
        items = [_item(one) for one in ([said] if isinstance(said, str) else said)]
        if any(items):
            lines.append(f"{name.replace('_', ' ')}: {'; '.join(items)}")
    return "\n".join(lines)


def _item(one: Any) -> str:
    """As in "Call the practice", "A crate: worse"."""
    if not isinstance(one, dict):
        return str(one)
    return f"{one['what']}: {one['outcome']}" if one.get("outcome") else str(one["what"])


def _named(node: Node) -> str:
    return str(node.body.get("period", "period")) if node.key == PERIOD else f"summary {node.key.upper()}"


def _covered(view: View, node: Node) -> list[NodeId]:
    edges = view.edges([node.id], (COVERS,), "out", _MANY)
    return [edge.target_id for edge in sorted(edges, key=lambda edge: int(edge.properties.get("place", 0)))]


def _title(view: View, node: Node) -> str:
    if node.conversation_id is None:
        return ""
    return next((one.title for one in view.get(Conversation, [node.conversation_id])), "")


def _place(node: Node) -> int:
    return int(node.body["block"])
