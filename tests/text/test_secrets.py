"""Secrets are found by their format and by their place; what only looks like one is not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.secret_texts.values import made, pem
from recollect.text.secrets import find_secrets, mask_of, without_secrets
from tests.secret_values import AWS, GITHUB, LISTED

VALUE = made("<a40>")
PLACES = {
    "DB_PASSWORD={}\n": "correcthorse",
    "password: {}": "hunter2!x",
    '"password": "{}"': "Tr0ub4dor&3",
    '{{\\"password\\": \\"{}\\", \\"a\\": 1}}': "Tr0ub4dor&3",
    "aws_secret_access_key = {}": VALUE,
    "export INTERNAL_API_KEY='{}'": VALUE,
    "Authorization: Bearer {}": VALUE,
    "-H 'Authorization: Basic {}'": "dXNlcjpodW50ZXIyIQ==",
    "postgres://app:{}@db.internal:5432/shop": "s3cr/et@x",
    "mongodb+srv://me:{}@cluster0.example.net/?w=majority": "p%40ss1word",
    "redis://:{}@cache:6379/0": "s3cr3tPw",
    "Server=db;User Id=sa;Password={};Encrypt=yes": "Kx9!mm-2",
    "curl -u admin:{} https://host": "Pa55word!",
    "mysql -u root -p{} shop": "S3cure99",
    "machine host login me password {}": "zQ9mmPt4",
    "CREATE USER ana IDENTIFIED BY '{}';": "Zx9!kk2p",
    "deploy --token {} --yes": VALUE,
    "- name: DB_PASSWORD\n              value: {}\n": "correct7horse",
    '<add key="Password" value="{}"/>': "correct7horse",
    '  password             = "{}"\n': "correct7Horse",
    "run --token \\\n    {} --yes": VALUE,
    "api_key: >-\n  {}\n": VALUE,
    "SECRET_KEY_BASE={}\n": VALUE,
    "DJANGO_SECRET_KEY={}\n": "bjdkWdj_n$vRy",
    "define: {{ __HOST_TOKEN__: JSON.stringify('{}') }}": VALUE,
    "site,user,password,notes\nshop,ann,{},none": "correct7Horse",
    "| user | password |\n|---|---|\n| ann | {} |": "correct7Horse",
    "ldapsearch -x -D cn=admin -w {} -b dc=x": "correct7Horse",
    "curl --user me:{} https://host": "correct7Horse",
    "auth=('me', '{}')": "correct7Horse",
    "me:{}@tcp(db:3306)/shop": "correct7Horse",
    "echo 'root:{}' | chpasswd": "correct7Horse",
    "bindpw {}": "correct7Horse",
    "db:5432:shop:me:{}": "correct7Horse",
    "WIFI:T:WPA;S:home;P:{};;": "correct7Horse",
    "os.environ.setdefault('DB_PASSWORD', '{}')": "S3cret-pw1",
    "AccountName=shop;AccountKey={};EndpointSuffix=core": made("<a86>=="),
    "https://host/x.json?token={}&page=2": VALUE,
    "user=ann&password={}": "marblewalrus",
    "mot de passe : {}": "correct7Horse",
    "пароль: {}": "correct7Horse",
    "token: {}\n": "eu1." + VALUE,
    'let token: string = "{}"': VALUE,
    "the api key is {}": VALUE,
    "Secret Key\n{}\n": VALUE,
    "[smtp]\nhost mail\npassword {}\nuser me\n": "correct7Horse",
    "environment:\n  - DB_PASS={}\n": "marblewalrus",
    "SESSION_SECRET={}\n": "marble-walrus",
    "--http-password={} https://host": "marblewalrus",
    "requirepass {}\n": "correct7Horse",
    "define( 'DB_PASSWORD', '{}' );": "correct7Horse",
    'setPassword("{}")': "correct7Horse",
    "smtp.login('me@host', '{}')": "correct7Horse",
    'mysqli_connect("localhost", "root", "{}", "shop")': "correct7Horse",
    "| **API key** | `{}` |\n": VALUE,
    "Password for user 'elastic': {}": "correct7Horse",
    "Authorization: Splunk {}": VALUE,
    "Set-Cookie: session={}; HttpOnly": VALUE,
    "echo '{}' | sudo -S ls": "correct7Horse",
    "az login -u me -p {} --tenant t": "correct7Horse",
    "sqlplus scott/{}@orcl": "correct7Horse",
    "DROPBOX_API_KEY={}\n": "hshfx0so0z81r7q",
}
ORDINARY = (
    "commit 7c2f0f4be1d34a1d9f6e5a2b8c7d6e5f4a3b2c1d fixes it",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id 123e4567-e89b-12d3-a456-426614174000",
    f"![](data:image/png;base64,{made('iVBORw0KGgo<a3000>')})",
    "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "OPENAI_API_KEY=sk-... or sk-your-key-here, api_key='YOUR_API_KEY', token=<token>",
    "password = os.environ['DB_PASSWORD']; password = getpass(); password: str = None",
    "const password = this.form.password2; if (password == confirmPassword) {}",
    "PASSWORD=changeme password: ${{ secrets.DB_PASSWORD }} password: $PASSWORD",
    "postgres://user:password@host/db postgres://postgres:postgres@localhost/x https://u:${PW}@host",
    "max_tokens=4096, eos_token: '<|endoftext|>', next_page_token: CAUQAA, primary_key: id_123456789abcdef0",
    "My password is wrong. The password is required. Passwords must have 8 characters.",
    "The key is in the drawer: the token ring needs a secret handshake.",
    pem("PUBLIC KEY"),
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "https://docs.example.org/auth/tokens?page=12&sort=new#api-key",
    '{"user": "ana", "password": "[FILTERED]"}',
    "Authorization: Basic dXNlcjpwYXNzd29yZA== and Basic YWxhZGRpbjpvcGVuc2VzYW1l",
    "[user]\n\tname = Ines\n\tsigningkey = 644a601ac4b24ddd",
    "which pin is GPIO17?",
    "user,password,notes\nann,*****,none\nbob,hidden,none",
    '["password", "password_2", "Password-Hint7"]',
    '{"type": "password", "label": "Password", "hint": "Your password"}',
    "def load(private_key: ed25519.Ed25519PrivateKey, password: bytes) -> Any: ...",
    "hash_password('password'), checkPassword(\"newPassword\"), getByLabel('Password')",
    "The key for the cellar is under the mat, the token for the laundry too.",
    "Password\n\nKeep it secret",
    "| password | required | text |\n",
    "Cookie: theme=dark; sessionid=...; lang=en",
)


@pytest.mark.parametrize("secret", LISTED, ids=list(LISTED.values()))
@pytest.mark.parametrize(
    "around", ["{}", "the key is `{}`.", '{{"a": "x\\n{}\\ny"}}', "K={}\nL=2", "x?k={}&b=1", "({}),"]
)
def test_a_key_of_a_vendor_is_found_whatever_stands_around_it(secret: str, around: str) -> None:
    text = around.format(secret)
    found = find_secrets(text)
    assert any(text[one.start : one.end] == secret and one.kind == LISTED[secret] for one in found), found
    assert secret not in without_secrets(text)


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_found_by_its_place_and_nothing_else_goes_with_it(place: str) -> None:
    secret = PLACES[place]
    before, after = place.format("\0").split("\0")
    (found,) = find_secrets(place.format(secret))
    assert place.format(secret)[found.start : found.end] == secret
    assert without_secrets(place.format(secret)) == f"{before}[secret: {found.kind}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        "The password of the router in Lagos is blue-Mango7, ok?",
        "we changed the wifi password to 'blueberry9' yesterday",
        "Mein Passwort lautet Sommer2023.",
        "PIN for the safe is 482913",
    ],
)
def test_what_somebody_tells_in_a_sentence_is_left_to_be_remembered(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_a_private_key_is_found_with_escaped_line_breaks_cut_off_and_from_its_end() -> None:
    key = pem("PRIVATE KEY")
    escaped = key.replace("\n", "\\n")
    assert without_secrets(f'{{"private_key": "{escaped}\\n", "id": 1}}') == (
        '{"private_key": "[secret: private key]", "id": 1}'
    )
    assert without_secrets(key[:400]) == "[secret: private key]"
    assert without_secrets(key[400:]) == "[secret: private key]"


def test_a_masked_text_has_no_secrets() -> None:
    text = f"password: hunter2!x and {AWS} and {GITHUB}"
    masked = without_secrets(text)
    assert masked == "password: [secret: password] and [secret: AWS access key] and [secret: GitHub token]"
    assert without_secrets(masked) == masked


@pytest.mark.parametrize("piece", ["key=", "api_key=", "password=", "eyJ1", "a|password\n", "user:pw@tcp(", "sk-a1"])
def test_a_text_that_repeats_itself_takes_little_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    assert find_secrets(text) == []
    assert time.process_time() - began < 1  # some of these took from 1.5 seconds to minutes


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    ends = [0]
    for one in find_secrets(text):
        assert ends[-1] <= one.start < one.end <= len(text)
        ends.append(one.end)


def _nested(text: str, times: int) -> str:
    """A text as a string of JSON in a string of JSON …"""
    return text if times == 0 else json.dumps({"k": _nested(text, times - 1)})


KINDS = ("password", "password in an address")
#: Ways in which the signs around a secret are written otherwise.
ESCAPES: dict[str, Callable[[str], str]] = {
    **{f"json {times}": partial(_nested, times=times) for times in (1, 2, 3, 4)},
    "percent": lambda text: quote(text, safe=""),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "html": escape,
    "code points": lambda text: text.replace('"', "\\u0022"),
    "curly": lambda text: text.replace('"', "”"),
    "colours": lambda text: f"\x1b[32m{text}\x1b[0m",
    "wide blanks": lambda text: text.replace(" ", "\u00a0"),
}
ASSIGNED = (
    'PASSWORD="{}"', '{{"db_password": "{}", "port": 1}}', "password = '{}'",
    '[{{"name": "DB_PASSWORD", "value": "{}"}}]',
    "postgres://ann:{}@db.test/x", "<password>{}</password>",
)  # fmt: skip


@pytest.mark.parametrize("way", ESCAPES)
@pytest.mark.parametrize("assigned", ASSIGNED)
def test_a_secret_is_told_by_its_place_however_the_signs_around_it_are_written(assigned: str, way: str) -> None:
    written = ESCAPES[way](assigned.format("blue-Mango7"))
    shown = without_secrets(f"Look: {written} there.")
    assert shown in {f"Look: {written} there.".replace("blue-Mango7", mask_of(kind)) for kind in KINDS}


@pytest.mark.parametrize(
    "table", ["name,api_key,port\nann,{},1\n", "| user | API key |\n|---|---|\n| ann | {} |\n", "id\ttoken\n1\t{}\n"]
)
def test_the_keys_in_a_table_are_found_by_its_head(table: str) -> None:
    key = "kP3x9QvT7mZ2wL8aR5nY1cD4fG6hJ0sB"
    assert without_secrets(table.format(key)) == table.format(mask_of("API key or token"))
    assert without_secrets(table.format("otters-and-herons-of-the-pond")) == table.format(
        "otters-and-herons-of-the-pond"
    )


def test_a_key_is_found_however_few_digits_chance_has_given_it() -> None:
    for key in ("zRiqcRqXpvfqygipFuDAXfGLDcBmzKKRXqNNWiik", "zRiqcRqXpvf6qygipFuDAXfGLDcBmzKKRXqNNWii"):
        assert [one.kind for one in find_secrets(f"AWS_SECRET_ACCESS_KEY={key}")] == ["API key or token"]
