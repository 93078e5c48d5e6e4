"""One JSON value out of bytes that may be damaged in ways that do no harm."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

_MOST_DIGITS = 20  # of an integer that every store can hold; longer ones are read as floats, as orjson does

# Every backslash within JSON begins an escape, so that escapes can be read from left to right.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def decode(data: bytes | bytearray) -> Any:
    """The value that `data` holds.

    Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD; NaN, Infinity and numbers beyond all bounds
    become None; control characters inside of strings stay. Raises ValueError, quoting nothing, for what is no JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _decode_leniently(data)


def _decode_leniently(data: bytes | bytearray) -> Any:
    text = _ESCAPE.sub(_mended, data.decode("utf-8", "replace"))
    try:
        return json.loads(text, strict=False, parse_constant=lambda _: None, parse_float=_finite, parse_int=_bounded)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON (character {error.pos}: {error.msg})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _bounded(digits: str) -> int | float | None:
    return int(digits) if len(digits) < _MOST_DIGITS else _finite(digits)


def _mended(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["lone"] else escape[0]
