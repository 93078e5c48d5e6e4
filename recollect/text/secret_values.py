"""What names and values are those of secrets: passwords, keys made by a machine, and what only stands for one."""

from __future__ import annotations

import re
from itertools import pairwise

_FEWEST = 4  # different letters of a value
_SHORTEST_KEY = 16
#: Passwords that stand in every example of a database: they open nothing.
EVERYWHERE = ("password", "passwd", "pass", "secret", "postgres", "root", "admin", "user", "mysql", "guest", "test")
_PLACEHOLDER = re.compile(
    r"""example|your|placeholder|change[_-]?me|redacted|dummy|sample|insert|replace|todo|xxxx|\*{3,}|\.{3}|…|\#{4,}
      |__{2,}|^<|>$|</|<[A-Za-z][\w .-]{2,}>|\{\{|\$\{|\$\(|%\(|%s|\[secret:|\[redacted|^\[[\w -]+\]$
      |1234567890|0123456789|abcdefghij|abcdef0123|(.)\1{7,}
      |^(?:\$|%)[A-Za-z_]+%?$|^(?:my|the|some|test|fake|new|old)?[_-]?(?:super)?[_-]?(?:password|passwd|passwort|secret
      |token|api[_-]?key|key|pass|pw|credential)s?[_-]?(?:here|value|name|\d{0,3})?!?\??$
      |(?-i:^[a-z_]*password\d*$)|^(?:none|null|true|false|undefined|string|str|text|required|optional|password|hidden|empty|nil|default|n/a)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SAMPLE = re.compile(
    r"example|your[_-]|[_-]key[_-]here|xxxx|1234567890|0123456789|abcdefghij|abcdef0123|\.{3}|([^A])\1{7,}",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(
    r"""[\w\])]\(|\[["'\w]|^\w+(?:\.\w+)+$|^[\w.]*(?:\benv\b|environ|process\.|config|settings|self\.|this\.)
      |^[&*]?(?:str|string|bytes|int|bool|any|object|field|optional|option|list|dict|secretstr|varchar)\b
      |^[@$%{(\[]|=>|\|\||&&|::|^/[\w./-]+$|^https?:|(?-i:^[A-Z][a-z]+(?:[A-Z][a-z]+)+$)""",
    re.IGNORECASE | re.VERBOSE,
)
#: What a password and a key are called in other languages.
PASSWORD_WORDS = (
    r"kennwort|mot[ ]de[ ]passe|contraseña|clave|senha|wachtwoord|lösenord|hasło|parola|şifre|пароль|密码|パスワード"
    r"|비밀번호|كلمة[ ]المرور|סיסמה|mật[ ]khẩu"
)
KEY_WORDS = r"schlüssel|clé[ ]api|clave[ ]api|clave[ ]secreta|ключ|токен"
_PASSWORD_NAME = re.compile(
    rf"(?:pass(?:words?|wort|wd|phrase|code)?|pwd|{PASSWORD_WORDS}"
    r"|(?:\b|_|bind|root)pw|\bpsk|_psk|identified by|masterauth)$",
    re.I,
)
_KEY_NAME = re.compile(
    r"""(?:api|access|secret|private|auth|encryption|decryption|master|signing|signature|account|storage|shared|client
      |consumer|webhook|license|service|admin|bot|refresh|bearer|app|deploy|personal|security|session|jwt|hmac|rest
      |subscription|integration|identity|fernet|write|read|ingest|project|server|live|user|oauth\d?|id|x|bypass|primary|secondary)
      [_\-. ]?(?:api[_\- ]?)?(?:key|token|secret)(?:[_ -]?base(?:64)?)?s?$
      |(?:^|\s)(?:the|my|your|our|new)[ ](?:api[ ])?(?:key|secret)$|schlüssel$|clé[ ]api$|clave[ ](?:api|secreta)$
      |ключ$|токен$|apikey$|secrets?$|(?:^|[_\- ])token$|^auth$|_auth(?:token)?$|credentials?$|authtoken$""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_KEY_NAME = re.compile(
    r"(?:public|publishable|next|page|continuation|[ebs]os|pad|unk|sep|cls|mask|stop|special|csrf|xsrf|sync"
    r")[_\-. ]?(?:access[_ -]?)?(?:key|token)$|(?<![a-z_-])signingkey$",
    re.IGNORECASE,
)
_A_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]{1,15}|[A-Z]{1,16}")
_KEY_VALUE = re.compile(r"[A-Za-z0-9_\-.~+/=:%!$*@#^&|]{16,400}")
_WHOLE_KEY_VALUE = re.compile(r"[!-~]{16,400}")
_SHORT_KEY_VALUE = re.compile(r"[A-Za-z0-9_\-+/=%!$*@#^&~.?]{12,15}")


def is_password_name(name: str) -> bool:
    """Whether such a name is that of a password."""
    return bool(_PASSWORD_NAME.search(name))


def is_key_name(name: str) -> bool:
    """Whether such a name is that of a key. Any `…_KEY` of an environment is; of other keys only those that open."""
    if _NO_KEY_NAME.search(name):
        return False
    return bool(_KEY_NAME.search(name)) or bool(re.search(r"(?:^|\s|\.)[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET)$", name))


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one that is to be put in."""
    return not value or bool(_PLACEHOLDER.search(value)) or len(set(value)) < _FEWEST


def is_expression(value: str) -> bool:
    """Whether a value is what a program computes, or where a value stands. A key may have dots as names do."""
    dotted = "." in value and any(
        len(part) >= _SHORTEST_KEY and changes(part) >= len(part) / 4 for part in value.split(".")
    )
    return not dotted and bool(_EXPRESSION.search(value))


def is_word(value: str) -> bool:
    """Whether a value may be a word of any text, such as a password that somebody took from a dictionary."""
    return bool(_A_WORD.fullmatch(value))


def is_password_value(value: str, *, plain: bool) -> bool:
    """Whether somebody may have chosen this as a password. A `plain` value has no quotation marks, nor a name as in an
    environment: a word alone says nothing then.
    """
    if not 5 <= len(value) <= 128 or any(map(str.isspace, value)):
        return False
    has_digit, has_sign = any(map(str.isdigit, value)), bool(re.search(r"[!@#$%^&*+~?=/\\-]", value[:-1]))
    has_letter = any(map(str.isalpha, value))
    if re.fullmatch(r"[\d.,:/%-]+|v?\d+(?:\.\d+)+", value):
        return not plain and has_digit and len(value) >= 6 and value.isdigit()
    if plain:
        return has_letter and (has_digit or (has_sign and not re.fullmatch(r"[A-Za-z]+(?:[-/][A-Za-z]+)+", value)))
    return has_letter and (has_digit or has_sign or len(value) >= 8) and "|" not in value


def is_key_value(value: str, *, whole: bool = False) -> bool:
    """Whether a value looks like made by a machine; one that is known to be whole may have any sign."""
    letters = _WHOLE_KEY_VALUE if whole else _KEY_VALUE
    return bool(letters.fullmatch(value)) and _is_random(value)


def is_short_key(value: str) -> bool:
    """Whether a value of 12 to 15 letters looks like made by a machine: of several kinds, which change often."""
    signs = re.findall(r"[!@#$%^&*+~]", value)
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]")) + bool(signs)
    turns = len(signs) + changes(value)
    return bool(_SHORT_KEY_VALUE.fullmatch(value)) and turns >= (3 if kinds >= 3 else 5)


def _is_random(value: str) -> bool:
    """Whether letters and digits change too often for words and names."""
    if is_placeholder(value) or len(set(value)) < 8:
        return False
    if sum(map(str.isdigit, value)) < 2:
        return changes(value) >= 0.15 * len(value) and len(value) >= 30
    return changes(value) >= 0.12 * len(value)


def changes(value: str) -> int:
    """How often letters and digits, small letters and capitals change; a word may begin with a capital."""
    return sum(1 for a, b in pairwise(value) if _turns(a, b))


def is_given_out(value: str) -> bool:
    """Whether a value of a vendor's format is a key, and not one from the vendor's documentation."""
    varied = any(letter.isdigit() or letter.isupper() for letter in value)
    return varied and len(set(value)) >= 8 and not _SAMPLE.search(value)


def _turns(a: str, b: str) -> bool:
    """Whether two letters side by side are of different kinds."""
    if a.isdigit() != b.isdigit():
        return a.isalnum() and b.isalnum()
    return a.islower() and b.isupper()


def is_mixed(value: str) -> bool:
    """Whether a value has letters and digits, and is no version, time or amount."""
    return bool(re.fullmatch(r"(?=.*[A-Za-z].*[A-Za-z])(?=.*\d)[^\s()\[\]/.,|]{6,60}", value))
