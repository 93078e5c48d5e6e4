"""Command lines taken apart."""

from __future__ import annotations

import pytest

from recollect.faces.cli.parser import Arguments, Command, HelpWanted, Option, WrongUsage, parse, whole

COMMAND = Command(
    lambda session: None,
    (),
    (
        Option(("--limit", "-n"), "How many.", "N", default=10, read=whole(1, 100)),
        Option(("--source",), "Which.", "NAME", several=True),
        Option(("--since", "--after"), "When.", "WHEN"),
        Option(("--why",), "Why.", default=False),
    ),
    Arguments("QUERY", "query", required=True, several=True, dashes=True),
)
STRICT = Command(lambda session: None, (), (), Arguments("FILE", "file"))


def read(*words: str, command: Command = COMMAND) -> dict[str, object]:
    """What was given, without what was left out."""
    common = {"store": None, "namespace": None, "color": None, "json": False}
    given = parse("search", command, words)
    return {name: value for name, value in given.items() if name not in common or value != common[name]}


def test_options_stand_anywhere_and_keep_their_defaults() -> None:
    plain = {"limit": 10, "source": [], "since": None, "why": False}
    assert read("a", "b") == plain | {"query": ["a", "b"]}
    assert read("--why", "a", "--source", "x", "b", "--source=y") == plain | {
        "why": True,
        "source": ["x", "y"],
        "query": ["a", "b"],
    }


@pytest.mark.parametrize("words", [("-n", "5"), ("-n5",), ("-n=5",), ("--limit", "5"), ("--limit=5",)])
def test_a_value_is_joined_or_not(words: tuple[str, ...]) -> None:
    assert read("a", *words)["limit"] == 5


def test_an_alias_means_the_same_option() -> None:
    assert read("a", "--after", "2024")["since"] == "2024"


def test_words_may_begin_with_a_dash_where_the_command_says_so() -> None:
    assert read("nginx", "-mixer", "-nginx", "-")["query"] == ["nginx", "-mixer", "-nginx", "-"]
    with pytest.raises(WrongUsage, match="has no option -x"):
        read("-x", command=STRICT)


def test_two_dashes_end_the_options() -> None:
    assert read("a", "--", "--why", "-n")["query"] == ["a", "--why", "-n"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("a", "--sorce", "x"), "has no option --sorce. Did you mean --source?"),
        (("a", "--nope"), "has no option --nope. See"),
        (("a", "-n", "0"), "-n: 0 is out of range. Use 1 to 100."),
        (("a", "--limit", "many"), "--limit: 'many' is not a whole number."),
        (("a", "--source"), "--source needs NAME."),
        (("a", "--since", "--why"), "--since needs WHEN."),
        (("a", "--why=yes"), "--why takes no value."),
        ((), "recollect search needs QUERY."),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(words: tuple[str, ...], told: str) -> None:
    with pytest.raises(WrongUsage) as wrong:
        read(*words)
    assert told in str(wrong.value)


def test_too_many_words_are_told() -> None:
    with pytest.raises(WrongUsage, match="takes one FILE, not 2"):
        read("a", "b", command=STRICT)
    with pytest.raises(WrongUsage, match="takes no 'a'"):
        read("a", command=Command(lambda session: None, ()))


def test_help_is_wanted_wherever_it_stands() -> None:
    with pytest.raises(HelpWanted):
        read("a", "-n", "5", "--help")


def test_a_value_in_brackets_may_be_left_out() -> None:
    listening = Command(lambda session: None, (), (Option(("--token",), "Whose.", "[NS=]", several=True),))
    for words, tokens in (
        (["--token"], [""]),
        (["--token", "--json"], [""]),
        (["--token", "a=", "--token=b=c", "--token"], ["a=", "b=c", ""]),
    ):
        assert parse("serve", listening, words)["token"] == tokens
    with pytest.raises(WrongUsage, match="has no option --nonsense"):
        parse("serve", listening, ["--token", "--nonsense"])
