from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.convert import main
from benchmarks.datasets import public_set

SAID = [("Ada", "D1:1", "I planted tomatoes."), ("Ben", "D1:2", "In May?")]


def published(name: str) -> dict[str, Any]:
    """A conversation in the published form."""
    turns = [{"speaker": speaker, "dia_id": turn, "text": text} for speaker, turn, text in SAID]
    turns[1]["blip_caption"] = "a frozen plant"
    asked = [(1, ["D1:1; D1:2"]), (5, ["D1:1"]), (2, []), (4, ["D1:2", "D9:9"])]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns
        },
        "qa": [{"question": f"{c}?", "category": c, "evidence": evidence} for c, evidence in asked],
    }  # fmt: skip


def test_what_nobody_tuned_on_becomes_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    source, known = tmp_path / "locomo10.json", tmp_path / "known.json"
    source.write_text(json.dumps([published("conv-1"), published("conv-2")]))
    known.write_text(json.dumps({"conversations": [{"id": "conv-1", "messages": [], "questions": []}]}))

    assert main([str(source), str(tmp_path / "sets" / "others.json"), "--without", str(known)]) == 0
    (history,) = public_set(tmp_path / "sets" / "others.json").histories

    assert history.id == "conv-2"
    assert [message.line for message in history.messages] == [
        "Ada: I planted tomatoes.",
        "Ben: In May? [shared a photo: a frozen plant]",
    ]
    assert [(question.category, question.evidence) for question in history.questions] == [
        ("1", {"conv-2/D1:1", "conv-2/D1:2"}),
        ("4", {"conv-2/D1:2"}),
    ]
