"""Settings that people edit: one entry is set, all else stays as it was, whatever they look like."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.faces.cli.setup import jsonc, toml

ENTRY = {"command": "recollect", "args": ["mcp", "--namespace", 'a "b"'], "env": {"RECOLLECT_HOME": "C:\\memory"}}

_NAMES = st.text(min_size=1, max_size=6)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)
_BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // it's {a} note,\n", '/* ["x": */', "\n\n"])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as somebody may have written it: blanks and comments anywhere, commas behind the last."""
    blank = lambda: draw(_BLANKS)  # noqa: E731
    if isinstance(value, dict | list):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        items = (
            [f"{blank()}{json.dumps(key)}{blank()}:{blank()}{draw(written(inner))}" for key, inner in value.items()]
            if isinstance(value, dict)
            else [f"{blank()}{draw(written(inner))}" for inner in value]
        )
        comma = "," if items and draw(st.booleans()) else ""
        return f"{opening}{f'{blank()},'.join(items)}{blank()}{comma}{blank()}{closing}"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(st.data(), st.dictionaries(_NAMES, _VALUES, max_size=4), st.booleans())
def test_json_keeps_everything_but_the_entry(data: st.DataObject, said: dict[str, Any], there: bool) -> None:
    if there:
        said["servers"] = {"other": {"command": "x"}} | ({"recollect": {"command": "old"}} if len(said) % 2 else {})
    elif not isinstance(said.get("servers", {}), dict):
        del said["servers"]
    text = data.draw(_BLANKS) + data.draw(written(said)) + data.draw(_BLANKS)
    assert jsonc.read(text) == said
    after = jsonc.put(text, ["servers", "recollect"], ENTRY)
    expected = {**said, "servers": {**said.get("servers", {}), "recollect": ENTRY}}
    assert jsonc.read(after) == expected
    assert jsonc.read(jsonc.put(after, ["servers", "recollect"], ENTRY)) == expected
    if not (there and "recollect" in said["servers"]):  # nothing goes, characters only come
        rest = iter(after)
        assert all(character in rest for character in text if not character.isspace())


@given(st.data(), st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=3), st.lists(_VALUES, min_size=1, max_size=3))
def test_what_comes_into_json_and_goes_again_leaves_no_trace(
    data: st.DataObject, said: dict[str, Any], items: list[Any]
) -> None:
    said.pop("recollect", None)
    text = data.draw(_BLANKS) + data.draw(written({**said, "items": items})) + data.draw(_BLANKS)
    for path in (["recollect"], ["items", len(items)]):
        after = jsonc.put(text, path, ENTRY)
        assert jsonc.read(after) != jsonc.read(text)
        assert jsonc.drop(after, path) == text


def test_json_keeps_its_comments_and_its_indent() -> None:
    before = '{\n\t// of mine\n\t"servers": {\n\t\t"x": {"command": "y"} /* old */, // stays\n\t},\n\t"a": 1\n}\n'
    after = jsonc.put(before, ["servers", "recollect"], {"command": "r"})
    assert after == (
        '{\n\t// of mine\n\t"servers": {\n\t\t"x": {"command": "y"} /* old */, // stays\n'
        '\t\t"recollect": {\n\t\t\t"command": "r"\n\t\t},\n\t},\n\t"a": 1\n}\n'
    )


def test_what_python_calls_json_is_read_the_same() -> None:
    plain = json.dumps({"a": [1, -2.5e3, True, None, '\u2028 " \\'], "b": {}}, indent=3)
    assert jsonc.read(plain) == json.loads(plain)
    assert jsonc.read("") == {}


@pytest.mark.parametrize("text", ["{", '{"a": }', '{"a" 1}', "{} {}", "nonsense", '{"a": 1 "b": 2}', "[" * 100_000])
def test_what_is_no_json_is_not_touched(text: str) -> None:
    with pytest.raises(InvalidInput):
        jsonc.put(text, ["servers", "recollect"], ENTRY)


@pytest.mark.parametrize("text", ["[]", '"x"', '{"servers": []}', '{"servers": {"recollect": 1}, "servers": null}'])
def test_what_has_another_shape_is_not_touched(text: str) -> None:
    with pytest.raises(InvalidInput):
        jsonc.put(text, ["servers", "recollect"], ENTRY)


_TOML = """\
# of mine
model = "x" # stays

[mcp_servers.other]
command = "y"
args = [
  "[mcp_servers.recollect]",
]

[[profiles]]
name = "a"
"""


@pytest.mark.parametrize(
    "there", ["", "[mcp_servers.recollect]\ncommand = 'old'\n\n[mcp_servers.recollect.env]\nA='b'\n\n"]
)
@pytest.mark.parametrize("behind", [False, True])
def test_toml_keeps_everything_but_the_table(there: str, behind: bool) -> None:
    text = _TOML + "\n" + there if behind else there + _TOML.replace('model = "x" # stays\n', "")
    after = toml.put(text, ["mcp_servers", "recollect"], ENTRY)
    said = tomllib.loads(after)
    assert said["mcp_servers"]["recollect"] == ENTRY
    del said["mcp_servers"]["recollect"]
    expected = tomllib.loads(text)
    expected["mcp_servers"].pop("recollect", None)
    assert said == expected
    assert toml.put(after, ["mcp_servers", "recollect"], ENTRY) == after
    assert "# of mine" in after


def test_a_quoted_table_is_the_same_table() -> None:
    after = toml.put('[ mcp_servers . "recollect" ]\ncommand = "old"\n', ["mcp_servers", "recollect"], {"command": "r"})
    assert after == '[mcp_servers.recollect]\ncommand = "r"\n'


def test_what_is_no_toml_is_told() -> None:
    with pytest.raises(InvalidInput, match="no valid TOML"):
        toml.read("model = ")
