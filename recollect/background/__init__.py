"""The quiet worker that writing leaves behind: a process of its own, of low priority, one a store."""

from recollect.background.process import is_working, start, stop
from recollect.background.starter import Starter

__all__ = ["Starter", "is_working", "start", "stop"]
