"""Secrets in texts: keys, tokens, passwords and private keys, found by their format or by what stands before them.

What is found is masked in everything that Recollect hands to a model. Two ways lead to a secret. Keys of vendors have
formats, a table (`recollect.text.secret_formats`). Everything else is told by its place: behind `password =`, in
`scheme://user:…@host`, in an `Authorization` header, between the lines of a PEM block. A placeholder, an expression of
a program or a word is none. Nothing is looked up or learned: the same text always gives the same.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from recollect.text.secret_formats import (
    EVERYWHERE,
    FORMATS,
    KEY_WORDS,
    PASSWORD_WORDS,
    is_expression,
    is_given_out,
    is_key_name,
    is_key_value,
    is_mixed,
    is_password_name,
    is_password_value,
    is_placeholder,
    is_short_key,
)

PASSWORD, KEY, PRIVATE_KEY, AUTHORIZATION = "password", "API key or token", "private key", "authorization"


class Secret(NamedTuple):
    """A secret in a text: `text[start:end]`, and what it is, as in "AWS access key"."""

    start: int
    end: int
    kind: str

    @property
    def mask(self) -> str:
        """What stands in its place where it is not shown."""
        return mask_of(self.kind)


def mask_of(kind: str) -> str:
    """What stands in the place of a secret of a kind."""
    return f"[secret: {kind}]"


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text, in order, none inside another."""
    found = [*_plainly(text), *_encoded(text)]
    if escaped := list(_escaped(text)):
        firsts = {one.start for one in escaped}
        found = [one for one in found if firsts.isdisjoint(_behind_quote(text, one.start))] + escaped
    if not found:
        return []
    kept: list[Secret] = []
    # Where two overlap, the one that begins first counts; of two that begin together the longer one.
    for one in sorted(found, key=lambda s: (s.start, -s.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
        elif one.end > kept[-1].end:
            kept[-1] = kept[-1]._replace(end=one.end)
    return kept


def without_secrets(text: str) -> str:
    """The text with a mask in the place of each secret."""
    found = find_secrets(text)
    return replaced(text, found) if found else text


def replaced(text: str, found: list[Secret]) -> str:
    """The text with masks in the place of these secrets, which are in order and apart."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], one.mask]
        at = one.end
    return "".join([*parts, text[at:]])


def _plainly(text: str) -> Iterator[Secret]:
    yield from _of_formats(text)
    yield from _of_places(text)


# --- keys of vendors -------------------------------------------------------------------------------------------------
# A key is a long run with a digit in it. Most texts have few, and cues are looked for in these alone.
_LONG = re.compile(r"[\w.~:/+%=@$!|-]{16,}")
_DIGIT = re.compile(r"\d")


def _of_formats(text: str) -> Iterator[Secret]:
    runs = "\n".join(run for run in _LONG.findall(text) if _DIGIT.search(run) or not run.islower())
    if not runs:
        return
    for name, cue, pattern, is_open in _formats():
        if cue in runs:
            for match in pattern.finditer(text):
                if begins(text, match.start()) and is_given_out(match.group()):
                    yield Secret(match.start(), _end(text, match.end()) if is_open else match.end(), name)


@cache
def _formats() -> tuple[tuple[str, str, re.Pattern[str], bool], ...]:
    """The table, compiled by who first reads a text with long runs, and whether a key may be of any length. A pattern
    that begins with no letter of its own is tried at beginnings only: it would else be tried everywhere.
    """
    return tuple(
        (
            name,
            cue,
            re.compile(f"{'' if pattern[:1].isalnum() else _BEGINS}(?:{pattern})(?![A-Za-z0-9])", re.ASCII),
            ",}" in pattern,
        )
        for name, cue, pattern in FORMATS
    )


_WRAPPED = re.compile(
    r"""(?:[\u200b\u200c\u2060\ufeff\u00ad]|["']\s?\+?\s{1,40}["']|\\?\r?\n[ \t>]{0,40})([\w.+/=-]{16,400})""", re.ASCII
)


def _end(text: str, at: int) -> int:
    """Where a key of any length ends that ends here for now: it may be wrapped, or put together of strings."""
    while (rest := _WRAPPED.match(text, at)) is not None and is_key_value(rest[1]):
        at = rest.end()
    return at


_BEGINS = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
#: What may stand before a key though it ends in a letter: an escaped line break or character, as in JSON and in
#: addresses, and what colours the text of a terminal.
ESCAPED = r"(?:\\[nrt]|\\u00[0-9a-fA-F]{2}|%(?:25)*[0-9a-fA-F]{2}|\x1b\[[\d;]{0,12}m)"
_BEFORE = re.compile(rf"{ESCAPED}\Z")
_FAR = 16  # characters that it has at most


def begins(text: str, at: int) -> bool:
    """Whether a key begins there: not behind a letter of those that keys have, unless that is no letter of the text.
    Languages without blanks between words put their own before it, and Markdown its underscores.
    """
    before = text[at - 1 : at]
    if not (before.isascii() and before.isalnum()):
        return True
    return _BEFORE.search(text, max(0, at - _FAR), at) is not None


# --- in other letters ---------------------------------------------------------------------------------------------
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,20000}={0,2}")


def _encoded(text: str) -> Iterator[Secret]:
    """Base64 of a text that holds a secret, as in manifests of Kubernetes: whoever reads it has the secret."""
    for run in _BASE64.finditer(text):
        plain = _decoded(run.group()[:24]) and _decoded(run.group())
        if plain and (found := next(_plainly(plain), None)):
            yield Secret(*run.span(), found.kind)


def _decoded(value: str) -> str:
    """The plain text that this encodes, empty for anything else."""
    whole = value.rstrip("=").replace("-", "+").replace("_", "/")
    whole = whole[:-1] if len(whole) % 4 == 1 else whole
    found = base64.b64decode(whole + "=" * (-len(whole) % 4))
    return found.decode() if found.isascii() and not _UNPRINTED.search(found) else ""


_UNPRINTED = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


# --- with escaped signs ------------------------------------------------------------------------------------------
_SIGNS = re.compile(
    r"""\\{2,}(?P<json>["'nrt])|\\u00(?P<code>2[0-9a-fA-F]|3[a-fA-F])|&(?P<html>quot|\#34|apos|\#0?39|\#x27|amp|lt|gt);
        |%(?:25)*(?P<percent>[2-7][0-9a-fA-F])|(?P<space>\u00a0)|(?P<curly>[“”„])|(?P<color>\x1b\[[\d;]{0,12}m)""",
    re.VERBOSE,
)
_WRITTEN = {
    "quot": '"',
    "#34": '"',
    "apos": "'",
    "#39": "'",
    "#039": "'",
    "#x27": "'",
    "amp": "&",
    "lt": "<",
    "gt": ">",
}
_LINES = {"n": "\n", "r": "\r", "t": "\t"}


def _escaped(text: str) -> Iterator[Secret]:
    """Secrets where the signs around them are escaped, as in JSON within JSON, addresses and HTML, or curly."""
    parts: list[str] = []
    starts, places, ends = [0], [0], dict[int, int]()  # of what stands between the signs; `ends` of signs, by place
    at = length = 0
    for sign in _SIGNS.finditer(text):
        meant = _meant(sign)
        parts += [text[at : sign.start()], meant]
        length += sign.start() - at + len(meant)
        at = sign.end()
        starts.append(length)
        places.append(at)
        if meant:
            ends[length - 1] = at
    if not parts:
        return

    def place(of: int) -> int:
        before = bisect_right(starts, of) - 1
        return places[before] + of - starts[before]

    for one in _plainly("".join([*parts, text[at:]])):
        last = one.end - 1
        yield Secret(place(one.start), ends.get(last) or place(last) + 1, one.kind)


def _behind_quote(text: str, at: int) -> range:
    """Where a value begins that has such a quotation mark at this place: it is none of it."""
    sign = _SIGNS.match(text, at)
    return range(sign.end(), sign.end() + 1) if sign is not None and _meant(sign) in ('"', "'") else range(0)


def _meant(sign: re.Match[str]) -> str:
    """The sign that an escaped one stands for."""
    kind, said = sign.lastgroup, sign[sign.lastgroup or 0]
    if kind == "json":
        return _LINES.get(said, said)
    if kind in ("code", "percent"):
        return chr(int(said, 16))
    if kind == "html":
        return _WRITTEN[said]
    return {"space": " ", "curly": '"'}.get(kind or "", "")


# --- secrets by their place ------------------------------------------------------------------------------------------
def _of_places(text: str) -> Iterator[Secret]:
    lowered = text.lower()
    if len(lowered) != len(text):  # as of İ
        lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    repeats = len(text) > _LONG_TEXT
    for word, readings in _READINGS.items():
        at, done = lowered.find(word), 0
        empty: set[int] = set()  # what was read and held nothing: a long text may repeat itself
        while at >= 0:
            around = hash(text[max(0, at - _AROUND) : at + _AROUND + _LONGEST]) if repeats else 0
            if around not in empty:
                before = done
                for reading in readings:
                    for found in reading(text, at):
                        done = found.end  # a secret has no others inside
                        yield found
                if repeats and done == before and not word.startswith("-----"):
                    empty.add(around)
            at = lowered.find(word, max(at + len(word), done))


def _assigned(text: str, at: int) -> Iterator[Secret]:
    """`password = value`, `"api_key": "value"`, `--token value`: the word at this place is the end of the name."""
    match = _ASSIGNED.match(text, at)
    if match is None:
        return
    before = text[max(0, at - _LONGEST_NAME) : at][::-1]
    name = _NAME_BACKWARDS.match(before)[0][::-1] + match["word"]  # type: ignore[index]  # it may be empty
    if _is_told(text, match, name) and not (match["quote"] and _TOLD_BARE.search(name)) and is_password_name(name):
        return
    yield from _value_of(text, match, name)


def _is_told(text: str, match: re.Match[str], name: str) -> bool:
    """Whether name and value stand in a sentence. They do not in a line of their own, or behind an instruction."""
    if match["by"].strip(" \t") and not match["by"].strip().isalpha():
        return False
    first, end = match.start() + len(match["word"]) - len(name), text.find("\n", match.end())
    value = text[match.end() : len(text) if end < 0 else end].rstrip()
    alone = _is_alone(text, first - 1) and " " not in name.strip() and is_password_value(value, plain=True)
    return not (alone or _OPTION.search(name) or _DIRECTIVE.fullmatch(name))


def _is_alone(text: str, before: int) -> bool:
    """Whether a line begins behind this place."""
    return before < 0 or text[before] == "\n"


def _value_of(text: str, match: re.Match[str], name: str) -> Iterator[Secret]:
    quote, start, by = match["quote"][-1:], match.end(), match["by"]
    before = match.start() + len(match["word"]) - len(name) - 1
    in_address = before >= 0 and text[before] in "?&"
    in_environment = _ENVIRONMENT.fullmatch(name) is not None
    password = is_password_name(name)
    if not password and not is_key_name(name) and not (in_address and name.lower() == "key"):
        return
    value = _value(text, start, quote, in_address=in_address)
    if is_placeholder(value) or (not quote and is_expression(value)):
        return
    if by.isspace() and "\n" in by and not (_is_alone(text, before) and is_key_value(value)):
        return
    if by == "|" and text[text.rfind("\n", 0, before + 1) + 1 : before + 1].strip(" *`") != "|":
        return  # but for the first cell of a row
    told_apart = by == "," and not text[max(0, before - 4) : before].rstrip().endswith("(")
    if told_apart or (by in ",(|" and password and not is_mixed(value)):
        return  # of a list of names, a label, or a cell of a table
    if password or (in_environment and name.endswith("SECRET")):
        is_set = in_environment or in_address or (by == "=" and _OPTION.search(name))
        good = is_password_value(value, plain=not quote and not is_set)
    else:
        good = is_key_value(value, whole=bool(quote) or in_environment) or is_short_key(value)
    if good:
        yield Secret(start, start + len(value), PASSWORD if password else KEY)


def _value(text: str, start: int, quote: str, *, in_address: bool) -> str:
    """What begins there: up to the quotation mark, or else up to a blank or what ends a value."""
    if quote:
        closing = "\\" + quote if text[start - 2 : start - 1] == "\\" else quote
        end = text.find(closing, start, start + _LONGEST)
        while end >= 0 and _backslashes(text, start, end) % 2:  # of the value itself
            end = text.find(closing, end + 1, start + _LONGEST)
        value = text[start:end] if end >= 0 else ""
        return "" if "\n" in value else value
    pattern = _BARE_IN_ADDRESS if in_address else _BARE
    match = pattern.match(text, start)
    return match.group().rstrip(".,:)]}>") if match else ""


def _backslashes(text: str, start: int, end: int) -> int:
    return end - start - len(text[start:end].rstrip("\\"))


def _in_header(text: str, at: int) -> Iterator[Secret]:
    """`Bearer value`, `Basic value`, and what stands in an `Authorization` header without such a word."""
    match = _HEADER.match(text, at)
    if match is None:
        return
    value, start = match["value"].rstrip(".,:"), match.start("value")
    scheme = (match["scheme"] or match["alone"] or "").lower()
    if _is_basic(value) if scheme == "basic" else is_key_value(value):
        yield Secret(start, start + len(value), AUTHORIZATION)


def _is_basic(value: str) -> bool:
    """Whether these are a user and a password as HTTP has them."""
    try:
        user, colon, word = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    known = word.lower() in EVERYWHERE or word.replace(" ", "").lower() == "opensesame"  # of RFC 7617
    return bool(user and colon and word) and (user + word).isprintable() and not known


def _in_address(text: str, at: int) -> Iterator[Secret]:
    """`scheme://user:value@host`; the place is that of the two strokes."""
    if not text[max(0, at - 1) : at].isalnum() or text.find("@", at, at + _LONGEST) < 0:
        return
    match = _ADDRESS.match(text, at)
    if match is None:
        return
    user, value = match["user"], match["value"]
    if value.lower() in (user.lower(), *EVERYWHERE) or is_placeholder(value) or len(value) < _SHORTEST:
        return
    yield Secret(match.start("value"), match.end("value"), "password in an address")


def _on_command_line(text: str, at: int) -> Iterator[Secret]:
    """`-u user:value` of curl, `sshpass -p value`, `mysql -pvalue`, `redis-cli -a value`,
    and other forms of a user with a password behind: `auth=("user", "value")`, `.pgpass`, the code of a network.
    """
    match = _COMMAND.match(text, at)
    if match is None or is_placeholder(match["value"]) or is_expression(match["value"]):
        return
    start, value = match.start("value"), match["value"].rstrip(";,)")
    value = value.partition("@")[0] if match["oracle"] else value
    if len(value) >= _SHORTEST:
        yield Secret(start, start + len(value), PASSWORD)


def _before_host(text: str, at: int) -> Iterator[Secret]:
    """`user:value@tcp(host)` of Go, `echo user:value | chpasswd`."""
    first = max(0, at - 2 * _LONGEST_NAME)
    match = _USER_AND_PASSWORD.search(text[first:at])
    if match is not None and not is_placeholder(match["value"]):
        yield Secret(first + match.start("value"), first + match.end("value"), PASSWORD)


def _in_pipe(text: str, at: int) -> Iterator[Secret]:
    """`echo value | sudo -S`, `echo value | docker login --password-stdin`."""
    match = _ECHOED.match(text, at)
    if match is not None and not is_placeholder(match["value"]) and not is_expression(match["value"]):
        yield Secret(*match.span("value"), PASSWORD)


def _in_cookie(text: str, at: int) -> Iterator[Secret]:
    """The name of a session in a `Cookie` header."""
    end = text.find("\n", at, at + 4 * _LONGEST)
    for match in _SESSION.finditer(text, at, end if end >= 0 else min(len(text), at + 4 * _LONGEST)):
        if is_key_value(match["value"]):
            yield Secret(*match.span("value"), "session")


def _in_netrc(text: str, at: int) -> Iterator[Secret]:
    """`machine host login user password value`."""
    match = _NETRC.match(text, at)
    if match is not None and not is_placeholder(match["value"]):
        yield Secret(*match.span("value"), PASSWORD)


def _in_table(text: str, at: int) -> Iterator[Secret]:
    """The column of a table, `user,password` and the rows under it: with commas, semicolons, tabs or strokes."""
    first, last = text.rfind("\n", max(0, at - _LONGEST), at) + 1, text.find("\n", at, at + _LONGEST)
    separator = next((sign for sign in "|\t;," if sign in text[first:at]), "")
    if last < 0 or not separator or not _TABLE_HEAD.fullmatch(text, first, last):
        return
    column, start = text.count(separator, first, at), last + 1
    name = text[first:last].split(separator)[column].strip(_AROUND_CELL)
    password = is_password_name(name)
    if len(name.split()) > _NAME_IN_TABLE or not (password or is_key_name(name)):
        return
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        cells = text[start : min(end, start + 4 * _LONGEST)].split(separator)
        if len(cells) <= column or is_password_name(cells[column].strip(_AROUND_CELL)):
            return  # the table is over, or another one begins
        raw = cells[column]
        value = raw.strip(_AROUND_CELL)
        good = is_password_value(value, plain=True) if password else is_key_value(value)
        if good and not is_placeholder(value) and not is_expression(value):
            begin = start + sum(len(cell) + 1 for cell in cells[:column]) + raw.find(value)
            yield Secret(begin, begin + len(value), PASSWORD if password else KEY)
        start = end + 1


def _pem(text: str, at: int) -> Iterator[Secret]:
    """A block in PEM, with line breaks or escaped ones; one that is cut off too."""
    match = _PEM.match(text, at)
    if match is None:
        return
    ends = text.find("-----", match.end(), match.end() + _LONGEST_PEM)
    # In a diff a dash stands before it.
    end = None if ends < 0 else _PEM_END.match(text, ends) or _PEM_END.match(text, ends + 1)
    body = _PEM_BODY.match(text, match.end())
    stop = end.end() if end else (body.end() if body else match.end())
    inside = text[match.end() : end.start() if end else stop]
    if len(re.sub(r"[^A-Za-z0-9+/]", "", inside)) >= _SHORTEST_PEM and "..." not in inside and "…" not in inside:
        yield Secret(at, stop, PRIVATE_KEY)


def _pem_rest(text: str, at: int) -> Iterator[Secret]:
    """The end of a block whose beginning is elsewhere."""
    match = _PEM_END.match(text, at)
    if match is None:
        return
    start = at
    while start > 0 and (text[start - 1] in _PEM_LETTERS):
        start -= 1
    if at - start >= _SHORTEST_PEM and text[max(0, start - 5) : start] != "-----":
        yield Secret(start, match.end(), PRIVATE_KEY)


def _putty(text: str, at: int) -> Iterator[Secret]:
    match = _PUTTY.match(text, at)
    if match is not None:
        yield Secret(*match.span("value"), PRIVATE_KEY)


def _seed(text: str, at: int) -> Iterator[Secret]:
    """The words of a wallet."""
    match = _SEED.match(text, at)
    if match is not None and len(match["value"].split()) in (12, 15, 18, 21, 24):
        yield Secret(*match.span("value"), "recovery phrase")


_COMMANDS = (
    " -u", "--user", "--proxy-user", "passin ", "passout ", "docker login", "az login", "htpasswd", "useradd", "zip ",
    "openssl enc", "sshpass", "7z ", "net use", "ldap", "smbclient", "sqlcmd", "sqlplus", "oracle:thin:", "mysql",
    "mongo", "redis-cli", ":5432:", "wifi:", "login(", "basicauth(", "getconnection(", "createconnection(", "connect(",
    "pdo(",
)  # fmt: skip
_READINGS = {
    "pass": (_assigned, _in_table),
    "pwd": (_assigned, _in_table),
    **{word.replace("[ ]", " "): (_assigned,) for word in f"{PASSWORD_WORDS}|{KEY_WORDS}".split("|")},
    "pw": (_assigned,),
    "identified by": (_assigned,),
    "secret": (_assigned, _in_table),
    "token": (_assigned, _in_table),
    "key": (_assigned, _in_table),
    "credential": (_assigned,),
    "auth": (_assigned, _on_command_line),
    "psk": (_assigned,),
    " login ": (_in_netrc,),
    "echo ": (_in_pipe,),
    "cookie: ": (_in_cookie,),
    "bearer ": (_in_header,),
    "authorization": (_in_header,),
    "basic ": (_in_header,),
    "://": (_in_address,),
    **dict.fromkeys(_COMMANDS, (_on_command_line,)),
    "@tcp(": (_before_host,),
    "chpasswd": (_before_host,),
    "-----begin ": (_pem,),
    "-----begin%20": (_pem,),
    "-----begin+": (_pem,),
    "-----end ": (_pem_rest,),
    "private-lines": (_putty,),
    "phrase": (_seed,),
    "mnemonic": (_seed,),
}

_LONGEST, _LONGEST_NAME, _SHORTEST = 400, 48, 4
_NAME_IN_TABLE, _AROUND_CELL = 2, " \r\"'`*"  # words of a column's name, and what may stand around a cell
_LONG_TEXT, _AROUND = 10_000, 110
_LONGEST_PEM, _SHORTEST_PEM = 20_000, 64
_PEM_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n\r\\ ")

_ASSIGNED = re.compile(
    rf"""(?P<word>pass(?:words?|wort|wd|phrase|code)?|pwd|{PASSWORD_WORDS}|pw|identified\ by
          |secrets?|token|key(?:[_ -]?base(?:64)?)?|{KEY_WORDS}|credentials?|_auth|(?<=")auth|masterauth|psk)_{{0,2}}
        (?:\\?["'`\]*]){{0,4}} [ \t]{{0,40}}
        (?P<by>=>|:=|={{1,2}}|:\ ?[a-z_][\w.]{{0,30}}\ ?=(?=\ ?["'`])
          |(?:\ (?:is|was))?(?:\ generated)?(?:\ (?:for|of)(?:\ [^\s:]{{1,40}}){{1,2}})?[\ .]{{0,10}}[:：]
          |\ (?:is|was|ist|lautet|est|es|это)\ (?=[`"']?[^\s`"']{{20}})
          |(?<=[\w"'])>(?=[^\s=<>])|\s{{1,40}}value(?::[ ]|=(?=["']))|,\s{{0,40}}\\?["']value\\?["']\s?:|\((?=["'])
          |(?<=["']),(?=\s?["'])|[ \t]{{1,4}}\\\r?\n|\r?\n(?=\S{{16,400}}\s*(?:\n|\Z))|\|(?=[^|\n]{{6,80}}\|)|[ \t])
        (?:\*{{2}})? [ \t]{{0,40}}
        (?:[|>][+-]?[ \t]{{0,4}}\r?\n[ \t]{{1,40}}|\\\r?\n[ \t]{{0,40}}|\r?\n[ \t]{{1,40}}(?=\S{{16,400}}\s*(?:\n|\Z)))?
        (?:(?:JSON\.stringify|Secret(?:Str)?|String|quote_plus|encodeURIComponent|Buffer\.from)\((?=["'`]))?
        (?P<quote>(?:[rbfun]{{0,2}}\\?["'`])?)""",
    re.IGNORECASE | re.VERBOSE,
)
_OPTION = re.compile(r"(?:^|\s)--[\w-]+$")
_NAME_BACKWARDS = re.compile(r"[\w.\- ]*+")
# A backslash before one of these is that of an escaped line break or quotation mark.
_BARE = re.compile(r"""(?:[^\s"'`;<\\]|\\(?![nrtu"'\\]|\Z)){4,400}""")
_BARE_IN_ADDRESS = re.compile(r"""[^\s"'`;<>&#\\]{4,400}""")
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "”": "”", "„": "“", "«": "»", "‘": "’"}
_HEADER = re.compile(
    r"""(?:authorization["']?\s{0,3}[:=,]\s{0,3}["']?\s?(?P<scheme>[a-z-]{2,20}(?=\s)|)|(?P<alone>bearer|basic))
        \s{0,3}(?P<value>[A-Za-z0-9_\-.~+/=:]{8,4000})""",
    re.IGNORECASE | re.VERBOSE,
)
_ADDRESS = re.compile(
    r"""://(?P<user>[^\s/:@"'`<>(){}\[\]\\]{0,80}):(?P<value>(?!\d{1,5}(?:/|@))[^\s"'`<>\\]{1,200}?)
        @(?=[\w\[$%{-][\w.\]-]*)(?![^\s/"'`<>\\]{0,120}@)""",
    re.VERBOSE,
)
_COMMAND = re.compile(
    r"""(?:\ -u\s?["']?[\w.@+-]{1,60}: | sshpass\s+-p\s? | mysql(?:dump|admin)?\s[^\n]{0,120}?\s-p(?=\S)
        | (?:ldap\w+|smbclient)\s[^\n]{0,120}?\s-[wU]\s?(?:["']?[\w.\\@-]{1,60}%)?(?=["']?[^\s"',]{4})
        | mongo(?:sh)?\s[^\n]{0,120}?\s-p\s | wifi:[^\n]{0,80}?\bP: | :5432:[\w*-]{1,60}:[\w.-]{1,60}:
        | auth\s?=\s?\(\s?["'][^"'\n]{1,60}["'],\s?(?=["'])
        | sqlcmd\s[^\n]{0,120}?\s-P\s?
        | --(?:proxy-)?user[ =]["']?[\w.@+-]{1,60}: | pass(?:in|out)\s+pass:
        | (?:docker|az)\s+login\s[^\n]{0,120}?\s-p\s | htpasswd\s+-\w*b\w*\s+\S{1,60}\s+\S{1,40}\s
        | useradd\s[^\n]{0,80}?-p\s | openssl\s+enc\s[^\n]{0,80}?-k\s | zip\s[^\n]{0,80}?-P\s?(?=["']?[^\s"']{6})
        | 7z\s[^\n]{0,80}?\s-p(?=\S{6}) | (?P<oracle>sqlplus\s+\w{1,30}/ | oracle:thin:\w{1,30}/)
        | (?:net\s+use\s[^\n]{0,80}?)/user:\S{1,40}\s
        | (?:login|BasicAuth)\(\s?[^,()\n]{1,60},\s?(?=["'])
        | (?:getConnection|createConnection|connect|PDO)\(\s?[^,()\n]{1,100},\s?["'][^"'\n]{1,40}["'],\s?(?=["'])
        | redis-cli\s[^\n]{0,120}?\s-a\s )["']?(?P<value>[^\s"'`\\]{1,120})""",
    re.IGNORECASE | re.VERBOSE,
)
_USER_AND_PASSWORD = re.compile(
    r"""(?:^|[\s"'`=])[\w.-]{1,30}:(?P<value>[^\s"'`:]{4,60})(?:["']?\s?\|\s?(?:sudo\s)?)?\Z"""
)
_ECHOED = re.compile(
    r"""echo\s(?:-n\s)?["']?(?P<value>[^\s"'`|]{6,200})["']?\s{0,3}\|\s{0,3}(?:sudo\s+-\w*S|(?:\S+\s){1,8}--password-stdin)""",
    re.IGNORECASE,
)
_SESSION = re.compile(r"""\b[\w.-]*(?:sess|sid|auth|token|jwt)[\w.-]*=(?P<value>[^\s;,"']{16,400})""", re.IGNORECASE)
_TABLE_HEAD = re.compile(r"[ \t]*(?:[\w \"'`*./()-]{0,40}[,;|\t]){1,20}[\w \"'`*./()-]{0,40}\r?")
_NETRC = re.compile(r"""\s+login\s+\S{1,80}\s+password\s+(?P<value>[^\s"'`\\]{4,120})""", re.IGNORECASE)
_PEM_KIND = "(?:[A-Z0-9]+ ){0,3}(?:PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----".replace(" ", "(?:[ +]|%20)")
_PEM = re.compile(f"-----BEGIN(?:[ +]|%20){_PEM_KIND}", re.IGNORECASE)
# The last line break belongs to the value of a string.
_PEM_END = re.compile(rf"-----END(?:[ +]|%20){_PEM_KIND}(?:(?:\\+[nr])+(?=\\*[\"'`]|\s|\Z))?", re.IGNORECASE)
_PEM_BODY = re.compile(
    r"(?:[\s>|]|\\[nr])*+(?:[A-Za-z-]{4,20}: [^\n\\]{1,80}(?:\s|\\[nr])*+){0,4}"
    r"(?:(?:[A-Za-z0-9+/=]|%(?:2[BbFf]|3[Dd]|0[AaDd])){16,}+(?:[\s>|]|\\[nr])*+)*+(?:[A-Za-z0-9+/]{1,15}={0,2}(?=\s|\\|\Z))?"
)
_PUTTY = re.compile(r"private-lines: \d+\s+(?P<value>(?:[A-Za-z0-9+/=]{16,}\s*)+)", re.IGNORECASE)
_SEED = re.compile(
    r"(?:phrase|mnemonic)\s?(?:is|:|=)\s{0,3}[\"'`]?(?P<value>(?:[a-z]{3,8}\s){11,23}[a-z]{3,8})\b", re.IGNORECASE
)
_DIRECTIVE = re.compile(r"\s*(?:(?:bind|(?:olc)?root)pw|requirepass|masterauth)", re.IGNORECASE)
_TOLD_BARE = re.compile(r"(?:password|login \S+ password|kennwort|passwort|identified by)$", re.IGNORECASE)
# Names that stand in settings alone, never in a program: what is given them is a value.
_ENVIRONMENT = re.compile(r"(?:[\s-]*(?:export )?[A-Z][A-Z0-9_]{3,}|\s*(?:wpa_passphrase|psk))")
