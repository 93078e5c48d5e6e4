"""LoCoMo (Maharana et al., 2024) as it is published, `locomo10.json`, in the shape of our sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

#: Questions whose answer is that there is none.
_ADVERSARIAL = 5
_TURN = re.compile(r"D(\d+):(\d+)")


def locomo(sample: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation of two people with its questions; those without evidence, or without an answer, are left out."""
    name, conversation = sample["sample_id"], sample["conversation"]
    messages = list(_messages(name, conversation))
    sessions = {message["id"]: message["session"] for message in messages}
    questions = [_question(name, given, sessions) for given in sample["qa"] if given["category"] != _ADVERSARIAL]
    return {"id": name, "messages": messages, "questions": [question for question in questions if question["evidence"]]}


def _messages(name: str, conversation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for number in count(1):
        if f"session_{number}" not in conversation and f"session_{number}_date_time" not in conversation:
            return
        for turn in conversation.get(f"session_{number}", ()):
            shown = f" [shared a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield {
                "id": f"{name}/{turn['dia_id']}",
                "session": number,
                "date": conversation[f"session_{number}_date_time"],
                "role": "user" if turn["speaker"] == conversation["speaker_a"] else "assistant",
                "speaker": turn["speaker"],
                "content": turn["text"] + shown,
            }


def _question(name: str, given: Mapping[str, Any], sessions: Mapping[str, int]) -> dict[str, Any]:
    turns = [turn for text in given.get("evidence", ()) for turn in _TURN.findall(text)]
    named = (f"{name}/D{int(session)}:{int(turn)}" for session, turn in turns)
    evidence = [message for message in dict.fromkeys(named) if message in sessions]
    return {
        "question": given["question"],
        "category": str(given["category"]),
        "evidence": evidence,
        "evidence_sessions": sorted({sessions[message] for message in evidence}),
    }
