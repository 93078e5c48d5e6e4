"""The configuration of the context, with the names and defaults of the Infinite Chat specification [4]."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from recollect.errors import InvalidInput
from recollect.text.sentences import Chunking

SnippetStrategy = Literal["first", "semantic_core", "summary"]
IndexStrategy = Literal["adaptive", "recent_plus_relevant", "clustered", "hierarchical"]
IndexForm = Literal["full", "snippet", "clustered", "hierarchical", "recent_only", "simple"]

#: The most results for which each form is taken; beyond the last it is hierarchical.
_FULL, _SNIPPET, _CLUSTERED = 50, 500, 5_000


def form_for(strategy: IndexStrategy, relevant: int) -> IndexForm:
    """The form of the index for so many relevant results.

    >>> [form_for("adaptive", count) for count in (0, 50, 51, 500, 501, 5000, 5001)]
    ['full', 'full', 'snippet', 'snippet', 'clustered', 'clustered', 'hierarchical']
    """
    if strategy == "clustered" or strategy == "hierarchical":
        return strategy
    if relevant <= _FULL:
        return "full"
    if relevant <= _SNIPPET or strategy == "recent_plus_relevant":
        return "snippet"
    return "clustered" if relevant <= _CLUSTERED else "hierarchical"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNames:
    """What the model calls the tools that open what a context only names: as in `memory.toolbox()`, unless it has
    others. Without a `cluster` what is alike is searched for.
    """

    message: str = "get_message_by_id"
    messages: str = "get_messages_by_ids"
    around: str = "get_conversation_thread"
    period: str = "get_period_messages"
    topic: str = "get_topic_messages"
    cluster: str = "get_cluster"
    search: str = "vector_search"
    searching: str = "query, limit"  # what that is called with

    @property
    def guide(self) -> str:
        """How they are used."""
        opens = (
            f"{self.messages} opens them, {self.around} shows what stands around one"
            if self.around != self.messages
            else f"{self.messages} opens one with what stands around it"
        )
        return f"[Codes] name messages: {opens}, {self.search} finds what is not shown here."

    def alike(self, id: str, label: str, quote: str = '"') -> str:
        """The call that opens a cluster."""
        name, given = (self.cluster, id) if self.cluster else (self.search, label)
        return f"{name}({quote}{given}{quote})"


#: The fewest tokens in which a context makes sense: what says what it is, and some lines.
LEAST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """How the index of what was said is made. Lengths are characters, budgets and thresholds tokens.

    `max_index_tokens` is the budget of the whole context. `clustering_threshold` (0 to 1) says how much nearer to each
    other than usual messages must be to form a cluster: 0.85 is nearer than 85 % of the pairs among the results, which
    means the same for every embedder. `recent_window_size` are messages that are always there. `chunk_threshold` is
    from where on a message is cut in chunks when it is stored, `chunk_overlap` how much of one the next one repeats:
    less than half of it (None: 200, of small chunks a twentieth). Raises InvalidInput for what makes no sense.
    """

    snippet_length: int = 100
    snippet_strategy: SnippetStrategy = "semantic_core"
    max_index_tokens: int = 10_000
    index_strategy: IndexStrategy = "adaptive"
    clustering_threshold: float = 0.85
    min_cluster_size: int = 3
    recent_window_size: int = 10
    chunk_threshold: int = 4_000
    chunk_overlap: int | None = None
    include_tool_calls: bool = True

    def __post_init__(self) -> None:
        for name, read in _READERS.items():
            object.__setattr__(self, name, _told(name, read, getattr(self, name)))
        Chunking.of(self.chunk_threshold, self.chunk_overlap)  # raises where the one does not fit the other

    @classmethod
    def of(cls, values: Mapping[str, Any] | Self | None, environment: Mapping[str, str] | None = None) -> Self:
        """From a map with these names (or those of TypeScript: `snippetLength`), or as it is; what is not given comes
        from the environment. Raises InvalidInput, also for a name that there is not.
        """
        if isinstance(values, cls):
            return values
        given = {_snake(name): value for name, value in (values or {}).items()}  # type: ignore[union-attr]
        for name in given:
            if name not in _READERS:
                from difflib import get_close_matches

                near = get_close_matches(name, _READERS, 1)
                hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_READERS)}."
                raise InvalidInput(f"The index configuration has no {name!r}.", hint=hint)
        return cls(**{**from_environment(environment), **given})


@dataclass(frozen=True, slots=True)
class Patience:
    """What is waited for, in milliseconds, and what is handed out when that takes longer [4]."""

    vector_search_timeout: int = 5_000
    index_build_timeout: int = 3_000
    on_vector_timeout: str = field(default="recent_only", init=False)
    on_index_timeout: str = field(default="simple", init=False)

    def __post_init__(self) -> None:
        for name in ("vector_search_timeout", "index_build_timeout"):
            object.__setattr__(self, name, _told(name, _whole(1), getattr(self, name)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """VECTOR_SEARCH_TIMEOUT and INDEX_BUILD_TIMEOUT, where they are set. Raises InvalidInput."""
        environment = os.environ if environment is None else environment
        named = {name: environment.get(name.upper(), "") for name in ("vector_search_timeout", "index_build_timeout")}
        return cls(**{name: _told(name.upper(), _whole(1), value) for name, value in named.items() if value})


#: The environment's names. Those of the specification come first, the rest are made like them.
VARIABLES: Mapping[str, str] = {
    "snippet_length": "INDEX_SNIPPET_LENGTH",
    "max_index_tokens": "INDEX_MAX_TOKENS",
    "recent_window_size": "INDEX_RECENT_WINDOW",
    "clustering_threshold": "INDEX_CLUSTERING_THRESHOLD",
    "chunk_threshold": "INDEX_CHUNK_THRESHOLD",
    "chunk_overlap": "INDEX_CHUNK_OVERLAP",
    "include_tool_calls": "INDEX_INCLUDE_TOOL_CALLS",
    "snippet_strategy": "INDEX_SNIPPET_STRATEGY",
    "index_strategy": "INDEX_STRATEGY",
    "min_cluster_size": "INDEX_MIN_CLUSTER_SIZE",
}


def from_environment(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What the environment sets of an IndexConfig. Raises InvalidInput with the variable's name."""
    environment = os.environ if environment is None else environment
    return {
        name: _told(variable, _READERS[name], environment[variable])
        for name, variable in VARIABLES.items()
        if environment.get(variable)
    }


def _whole(least: int, most: int = 10_000_000) -> Callable[[object], int]:
    def read(value: object) -> int:
        try:
            number = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else least - 1
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise InvalidInput(f"{value!r} is out of range.", hint=f"Use a whole number from {least} to {most}.")
        return number

    return read


def _share(value: object) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(f"{value!r} is out of range.", hint="Use a number from 0 to 1.")
    return number


def _switch(value: object) -> bool:
    word = str(value).strip().lower()
    if word not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise InvalidInput(f"{value!r} is neither yes nor no.", hint="Use true or false.")
    return word in ("1", "true", "yes", "on")


def _one_of(*names: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in names:
            raise InvalidInput(f"{value!r} is not a choice.", hint=f"Use one of: {', '.join(names)}.")
        return str(value)

    return read


_READERS: Mapping[str, Callable[[object], Any]] = {
    "snippet_length": _whole(1, 10_000),
    "snippet_strategy": _one_of(*get_args(SnippetStrategy)),
    "max_index_tokens": _whole(LEAST_TOKENS),
    "index_strategy": _one_of(*get_args(IndexStrategy)),
    "clustering_threshold": _share,
    "min_cluster_size": _whole(2, 10_000),
    "recent_window_size": _whole(0, 1_000),
    "chunk_threshold": _whole(1),
    "chunk_overlap": lambda value: None if value is None else _whole(0)(value),
    "include_tool_calls": _switch,
}


def _told(place: str, read: Callable[[object], Any], value: object) -> Any:
    """What is read; where it cannot be used, the error names the place."""
    try:
        return read(value)
    except InvalidInput as problem:
        raise InvalidInput(f"{place}: {problem.message}", hint=problem.hint) from None


def _snake(name: str) -> str:
    """The specification's TypeScript names as Python's: snippetLength is snippet_length."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in str(name)).lstrip("_")
