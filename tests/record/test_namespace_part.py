"""A foreign name gets a part of a namespace that no other name gets."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from recollect.record import namespace, namespace_part

NAMES = st.text(max_size=80)
#: What people might do to a name so that it leads where another does.
NEAR: tuple[Callable[[str], str], ...] = (
    namespace_part,
    str.strip,
    str.casefold,
    str.upper,
    lambda name: unicodedata.normalize("NFC", name),
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: unicodedata.normalize("NFKC", name),
    lambda name: name.replace(" ", "-"),
    lambda name: f" {name}",
    lambda name: f"{name}\t",
    lambda name: name[:60],
    lambda name: name.rstrip("."),
)


@given(NAMES, st.sampled_from(NEAR), NAMES)
@example("Anna Smith", namespace_part, "Anna-Smith")
@example("Ünal", NEAR[5], "U\u0308nal")
@example("x" * 61, NEAR[10], "x" * 62)
@example("..", NEAR[11], "")
def test_two_names_never_share_a_namespace(name: str, near: Callable[[str], str], other: str) -> None:
    for one in {near(name), other} - {name}:
        assert namespace_part(one) != namespace_part(name)


@given(st.text(max_size=200))
@example(".")
@example("a/b")
@example("\ud800")
def test_any_name_is_one_part_of_a_namespace(name: str) -> None:
    part = namespace_part(name)
    assert namespace(f"user/{part}").count("/") == 1
    assert len(part) <= 60
    assert part == namespace_part(name)


def test_a_name_that_fits_stays_itself() -> None:
    for name in ("mia", "mia-kay", "anna@example.org", "Ünal", "名前", "a.b+c_d", "Anna-Smith-h1g7e6", "x" * 60):
        assert namespace_part(name) == name


def test_a_changed_name_can_be_read_and_not_be_chosen() -> None:
    part = namespace_part("Anna Smith")
    assert part.startswith("Anna-Smith~")
    assert len(part.partition("~")[2]) * 5 >= 96  # bits
    assert namespace_part(part) != part
