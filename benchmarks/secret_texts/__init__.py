"""Chat messages with and without secrets, by writers who had not seen the detector.

Made in November 2026: half of them written by hand, half composed of sentences and frames; a fifth is not in English.
`listed.jsonl` holds secrets that a format or a place tells, `prose.jsonl` passwords told in a sentence and
`ordinary.jsonl` none: a third of it looks like secrets (hashes, IDs, public keys, published examples).

A line of these files has a `text`, its `format` and its `lang`. The texts hold no secrets but placeholders, as
`{{openai_proj}}`; `values` makes the values up as a text is read. The same placeholder twice in a text is the same
value; `{{name#2}}` is another one. Names that begin with `x_` stand for values that are not secret.

Two parts: `dev`, to look at and to improve on; and `kept`, apart, only ever counted. A rule that was written after
reading a text of `kept` makes its figure worthless.

In addresses only the password is the secret; of a private key it is the whole block. Of AWS the ID of an access key
counts too, as for other scanners; client IDs, Twilio SIDs, DSNs and publishable keys do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from benchmarks.secret_texts.values import filled

Part = Literal["dev", "kept"]
Kind = Literal["listed", "prose", "ordinary"]
PARTS: tuple[Part, ...] = ("dev", "kept")
KINDS: tuple[Kind, ...] = ("listed", "prose", "ordinary")


class Message(NamedTuple):
    """A message with made-up values, the secrets in it, and the name of what it shows."""

    text: str
    secrets: list[str]
    kind: Kind
    format: str


def messages(part: Part) -> Iterator[Message]:
    """All messages of a part."""
    for kind in KINDS:
        with (Path(__file__).parent / part / f"{kind}.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                read = json.loads(line)
                yield Message(*filled(read["text"], seed=f"{part} {kind} {number}"), kind, read["format"])
