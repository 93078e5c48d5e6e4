"""What was taken out of the memory is looked for where it may stand, and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest

from recollect.ingest.secrets import Withheld
from tests.secret_values import OPENAI, PASSWORD


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


#: What may stand around a secret in another text.
AROUND = (
    "{}", "**{}**", "_{}_", "|{}|", "a=1&b={}&c=2", "#{}?!", "`{}`.", "«{}»", "“{}”", "…{}…", "用{}吧", "密码：{}。",
    '{{\\"x\\":\\"{}\\"}}', "a\\n{}\\nb", "%22{}%22", "\u200b{}\u200b", "\x1b[31m{}\x1b[0m", "C:\\{}\\x", "~~{}~~",
)  # fmt: skip


@pytest.mark.parametrize("value", [PASSWORD, "q7-Zu!", "p@ss:w0rd/=1!", "ab(12)<Xy>9", "x,y;Z9'k", OPENAI])
def test_a_secret_stays_out_whatever_stands_around_it(value: str) -> None:
    withheld = Withheld({}).and_these({(value, "password")})
    again = Withheld.of_node(withheld.node())
    for around in AROUND:
        text = f"note {around.format(value)} end"
        assert again.out_of(text) == text.replace(value, "[secret: password]"), around
    words = f"Not the {value[:-1]}, nor x{value}y."
    assert again.out_of(words) == words


def test_looking_for_secrets_takes_as_long_as_a_text_is() -> None:
    values = {(f"{'aB3-'[: n % 4]}{'x7K' * n}"[: 6 + n], "password") for n in range(20)}
    withheld = Withheld({}).and_these(values)
    for piece in ("你好世界", "aGk/+9kZ", '{"k1":[1,"v7"]},', "word and ", "-=", "\\n"):
        began = time.process_time()
        withheld.held_in(piece * (200_000 // len(piece)))
        assert time.process_time() - began < 10
