"""Quotes put into a text: a line a quote with who said it and when, in groups under headings where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.ask.answer import Citation
from recollect.ask.extract import showing
from recollect.ask.extract.choosing import Draft, Quote, dates_of, speaker_of


@dataclass(frozen=True, slots=True)
class Group:
    """Quotes that belong together, under a heading or none. `dated` says that the heading tells the day."""

    quotes: Sequence[Quote]
    heading: str = ""
    dated: bool = False


def tell(groups: Sequence[Group], *, times: bool = False, first: int = 1) -> Draft:
    """The groups in order, numbered from `first`. With `times`, words like "yesterday" are told as dates."""
    written, cited = list[str](), list[Citation]()
    where = ("", "")
    for group in groups:
        if group.heading:
            written.append(group.heading)
        bullet = "- " if group.heading else ""
        for quote in group.quotes:
            when = "" if group.dated else showing.day(quote.message.timestamp)
            here = (quote.message.conversation_id, when)
            head = f"{speaker_of(quote)}, {when}" if when and here != where else speaker_of(quote)
            where = here
            dated = dates_of(quote) if times else ""
            cited.append(quote.citation(first + len(cited)))
            written.append(f"{bullet}{head}: {quote.text}{dated} [{first + len(cited) - 1}]")
    return Draft("\n".join(written), tuple(cited))
