"""What can go wrong with a language model, told apart by what helps: another attempt, a pause, or a person.

Three attributes, all of `ModelError` (recollect.errors), say what to do. `again`: the same request may succeed later.
`retry_after`: how many seconds the server asks to wait. `outage`: the cause is not this request, so the next one would
fail as well; nothing should be asked for a while, and no task should be given up for it.
"""

from __future__ import annotations

from recollect.errors import ModelError
from recollect.models.language.usage import NOTHING_USED, Usage


class LanguageModelError(ModelError):
    """What a language model raises. `usage` is what the request had taken when it failed."""

    usage: Usage = NOTHING_USED


class ModelNotReady(LanguageModelError):
    """The model cannot be used until somebody does something: a package, a key, a name, an address, a quota."""

    code = "model_not_ready"
    outage = True


class ModelUnreachable(LanguageModelError):
    """The server cannot be reached, is overloaded or has a problem of its own."""

    code = "model_unreachable"
    again = True
    outage = True


class ModelTimeout(LanguageModelError):
    """The server was silent for too long, or took too long in all."""

    code = "model_timeout"
    again = True


class RateLimited(LanguageModelError):
    """Too many requests in too short a time."""

    code = "rate_limited"
    again = True
    outage = True


class BudgetSpent(LanguageModelError):
    """What may be spent a day is spent. `retry_after` is the time until the next day."""

    code = "budget_spent"
    again = True
    outage = True


class BudgetHeld(LanguageModelError):
    """What is left of the day's budget is held by requests under way, which free in seconds what they do not take."""

    code = "budget_held"
    again = True
    outage = True


class RequestRejected(LanguageModelError):
    """The server does not take this request, such as one that is too long."""

    code = "request_rejected"


class ModelRefused(LanguageModelError):
    """The model declines to answer this request."""

    code = "model_refused"


class BadAnswer(LanguageModelError):
    """An answer that cannot be used. Another attempt may give a better one."""

    code = "bad_answer"
    again = True


class EmptyAnswer(BadAnswer):
    """Nothing was answered."""

    code = "empty_answer"


class CutAnswer(BadAnswer):
    """The answer ended too early: the connection broke, or the limit of its tokens was reached."""

    code = "cut_answer"


class HugeAnswer(BadAnswer):
    """The answer is longer than any good one; it was not read to its end."""

    code = "huge_answer"


class BrokenAnswer(BadAnswer):
    """The answer holds no JSON."""

    code = "broken_answer"


class WrongAnswer(BadAnswer):
    """The answer is JSON, and not what was asked for."""

    code = "wrong_answer"
