"""What can go wrong, as one small tree: each error says what, where and what to do.

`code` is the stable name that the command line's `--json` envelope and later the REST face show;
`hint` is the remedy, ending where possible with the command that helps.
"""

from __future__ import annotations

from collections.abc import Mapping


class RecollectError(Exception):
    """The root of everything that Recollect raises on purpose."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInput(RecollectError, ValueError):
    """An argument, a filter or a name that cannot be used as it is."""

    code = "invalid_input"


class NotFound(RecollectError, LookupError):
    """A conversation, message or file that is not there."""

    code = "not_found"


class NotAllowed(RecollectError):
    """What whoever asks may not do: the token of a server is that of other namespaces."""

    code = "forbidden"


class ImportProblem(RecollectError):
    """A file that cannot be read at all, or a part of one that cannot."""

    code = "import_problem"


class StoreError(RecollectError):
    """The store cannot be opened, read or written."""

    code = "store_error"


class StoreUnusable(StoreError):
    """It fails again however often it is tried, until somebody does something: the store is read-only, damaged, closed,
    or of a newer version.
    """


class StoreDamaged(StoreUnusable):
    """What is stored cannot be read, or not all of it. `Memory.export` and `recollect.recover` save what is left."""


class Incomplete(StoreDamaged):
    """Everything that can be read of a damaged memory was exported: `records` of them. `lost` counts by kind what could
    not be read, at least.
    """

    def __init__(self, message: str, *, records: int, lost: Mapping[str, int], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.records, self.lost = records, lost


class StoreBusy(StoreError):
    """Another process has been writing for longer than we were told to wait."""

    code = "store_busy"


class ModelError(RecollectError):
    """An embedding or language model is missing, refuses or answers nonsense.

    `again`: the same request may succeed later, after `retry_after` seconds where the server names them. `outage`: the
    cause is not this request. The kinds are in recollect/models/language/base.py.
    """

    code = "model_error"
    again: bool = False
    outage: bool = False
    retry_after: float | None = None
