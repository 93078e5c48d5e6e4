"""A household of two pets in one store: no prompt, no answer and nothing derived of one holds a word of the other."""

from __future__ import annotations

import re
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.derive.worker import Worker
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.models.language.base import Completion, Request
from recollect.models.language.budget import Limits, Metered, SpendingLog, within
from recollect.record import Namespace, Node
from recollect.store import Where
from tests.derive.workshop import write
from tests.properties import examples
from tests.store.builders import Clock, embedder, talk

#: What is said alike in every namespace, with a name that is said in one alone.
SAID = (
    "I am allergic to {}.",
    "We moved to {} in May 2024.",
    "My dog is called {}.",
    "Let us use {} for the website, and drop the old tool.",
    "The vet gave her {} 10 mg once daily since 2025-03-02.",
    "{} was restless all night, what could I do about it?",
)
REPLIES = ("Try {} for a week.", "That is common with {}, do not worry.", "Then {} it is.")


class Echo:
    """A model whose answers are made of the words that it was asked about, and which remembers what it was asked."""

    name = "echo:1"

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Completion:
        with self._lock:
            self.asked.append(request)
        lines = [line[2:] for line in request.text.splitlines() if line.startswith("| ") and line[2:].strip()]
        return Completion(data=echoed(request.prompt.schema, lines), model=self.name, input_tokens=10, output_tokens=5)


def echoed(schema: Mapping[str, Any], lines: list[str]) -> Any:
    """An answer of that schema, made of these lines."""
    match schema["type"]:
        case "object":
            return {name: echoed(part, lines) for name, part in schema["properties"].items()}
        case "array":
            return [echoed(schema["items"], lines)]
        case "integer":
            return 1
        case _:
            return schema["enum"][0] if "enum" in schema else lines[len(lines) // 2][: schema.get("maxLength", 100)]


def marks(text: str) -> set[str]:
    """The namespaces whose words a text holds."""
    return {mark.lower() for mark in re.findall("zq(rex|luna|milo)x", text, re.IGNORECASE)}


namespaces = st.lists(st.sampled_from(["rex", "luna", "milo"]), min_size=2, max_size=3, unique=True)
lengths = st.lists(st.integers(1, 26), min_size=1, max_size=2)


@settings(max_examples=examples(6))
@given(names=namespaces, sizes=lengths, together=st.booleans())
def test_nothing_of_one_namespace_reaches_another(names: list[str], sizes: list[int], together: bool) -> None:
    echo, clock = Echo(), Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore(Path(folder) / "memory.db", durable=False, clock=clock)
        model = Metered(
            echo, SpendingLog(Path(folder) / "spending.db"), Limits(), price=None, store="s", namespace="nobody"
        )
        own = Worker(store, embedder(), model=lambda name: within(model, name), clock=clock, random=Random(1))
        for number, size in enumerate(sizes):
            for name in names:  # the same conversations, with the same ids, in each
                lines = [
                    (REPLIES[turn % 3] if turn % 2 else SAID[turn // 2 % 6]).format(f"Zq{name}x{number}{turn}")
                    for turn in range(size)
                ]
                write(store.space(Namespace(f"acme/{name}")), talk(f"t{number}", *lines))
                if not together:
                    own.drain()
        for _ in range(4):
            own.drain()
            clock.forward(hours=3)
        asked: dict[str, int] = defaultdict(int)
        for request in echo.asked:
            found = marks(request.text)
            assert len(found) <= 1
            assert not marks(request.prompt.system)
            asked.update({name: asked[name] + 1 for name in found})
        for name in names:
            with store.space(Namespace(f"acme/{name}")).view() as view:
                nodes = view.find(Node, Where(), limit=10_000).items
                told = [str(task) + why for state in ("due", "leased", "dead") for task, why in view.tasks(state)]
                edges = [str(edge) for edge in view.edges(None)]
            assert nodes
            for text in [*map(str, nodes), *told, *edges]:
                assert marks(text) <= {name}
            spent = sum(row.calls for row in model.within(f"acme/{name}").spent())
            assert spent == asked[name]  # what one costs is not counted under another
        assert model.spent() == []
        store.close()
