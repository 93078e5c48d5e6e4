"""Context: what a model needs of a history of any length, within a token budget [1, 4]."""

from recollect.context.result import Context, ContextPart
from recollect.context.settings import IndexConfig, Patience, ToolNames

__all__ = ["Context", "ContextPart", "IndexConfig", "Patience", "ToolNames"]
