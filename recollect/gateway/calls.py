"""Which call of a tool a result is of."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.gateway.talk import DialogueCall, DialogueResult


class Calls:
    """The calls of a talk, by their ids. Some servers give several at once the same: then results come in the order of
    the calls; and some count them anew in every step: then the latest is meant.
    """

    def __init__(self) -> None:
        self._latest: dict[str, DialogueCall] = {}
        self._waiting: dict[str, list[DialogueCall]] = {}  # those of this step
        self._is_answered = False

    def made(self, calls: Sequence[DialogueCall]) -> None:
        """Takes in calls."""
        if calls and self._is_answered:
            self._waiting, self._is_answered = {}, False
        for call in calls:
            self._latest[call.id] = call
            self._waiting.setdefault(call.id, []).append(call)

    def answered(self, result: DialogueResult) -> DialogueCall:
        """The call that a result is of."""
        self._is_answered = True
        if waiting := self._waiting.get(result.call_id):
            return waiting.pop(0)
        return self._latest.get(result.call_id) or DialogueCall(result.call_id, "", "")
