"""A model of the test's own that looks once and answers with what it found."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.models.language.base import Completion, Request, RequestRejected, Usage
from recollect.models.language.talk import Call, Said, Spoken, Talk


class Parrot:
    """Calls a tool, then says what it was asked about, with the first source."""

    name = "parrot"

    def complete(self, request: Request) -> Completion:
        """Knows no schema: references are left to the rules."""
        raise RequestRejected("A parrot knows no schema.")

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """Words as they come."""
        looked = any(turn.results for turn in talk.said)
        question = talk.said[-1 - 2 * looked].text.rpartition("USER QUERY:\n")[2]
        words = f"About {question.rstrip('?')}: Luna [1]." if looked else "Let me look."
        search = Call("1", "vector_search", f'{{"query": "{len(talk.said)} Luna"}}')
        calls = () if looked or not talk.tools else (search,)
        for word in words.split(" "):
            yield f"{word} "
        said = Said(role="assistant", text=words, calls=calls)
        yield Spoken(said=said, stop="calls" if calls else "end", model=self.name, usage=Usage(1, 10, 5))
