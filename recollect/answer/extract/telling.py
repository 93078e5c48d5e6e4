"""Quotes put into a text: a line a quote with who said it and when, in groups under headings where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.answer.evidence import Citation
from recollect.answer.extract import showing
from recollect.answer.extract.quote import Draft, Quote, dates_of, speaker_of

#: Stands before what is near, where something else is clearly nearer.
ALSO = "Also near:"


@dataclass(frozen=True, slots=True)
class QuoteGroup:
    """Quotes that belong together, under a heading or none. `dated` says that the heading tells the day."""

    quotes: Sequence[Quote]
    heading: str = ""
    dated: bool = False


def tell(groups: Sequence[QuoteGroup], *, first: int = 1) -> Draft:
    """The groups in order, numbered from `first`."""
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
            cited.append(quote.citation(first + len(cited)))
            said = quote.text if quote.instead else f"{head}: {quote.text}{dates_of(quote)}"
            line = f"{bullet}{said} [{cited[-1].number}]"
            if quote.asked is not None:
                cited.append(quote.asked.citation(first + len(cited)))
                line += f", to “{quote.asked.text}” [{cited[-1].number}]"
            written.append(line)
    return Draft("\n".join(written), tuple(cited))


def by_nearness(quotes: Sequence[Quote]) -> list[QuoteGroup]:
    """What answers, and apart from it what is only near."""
    groups = [QuoteGroup([q for q in quotes if not q.is_near]), QuoteGroup([q for q in quotes if q.is_near], ALSO)]
    return [group for group in groups if group.quotes]
