"""What was taken out of the memory is looked for where it may stand, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recollect.ingest.withheld import Withheld


class Unread(Mapping[str, str]):
    """A text that nobody may look at."""

    def __getitem__(self, name: str) -> str:
        raise AssertionError("read")

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("read")

    def __len__(self) -> int:
        return 1


def test_titles_that_were_taken_away_have_no_text_read() -> None:
    titles = Withheld({}).and_title("About Zsofka")
    assert titles.holds_title("About Zsofka")
    assert titles.held_in(Unread()) == set()
    both = titles.and_these([("hunter2x9", "password")])
    assert both.held_in({"text": "It is hunter2x9 now."}) == {("hunter2x9", "password")}
