"""Answers without a language model: the best sentences, quoted, arranged by intent [0]."""

from recollect.answer.extract.drafts import extract, nearest
from recollect.answer.extract.quotes import Draft, best_quote

__all__ = ["Draft", "best_quote", "extract", "nearest"]
