"""Redaction: every kind of secret goes and is counted, nothing else changes, and it takes no longer than reading."""

import io
import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from assay.harness.redaction import CHUNK, Redaction, describe, redact
from planted import ENVIRONMENT, HOME, PLANTED, TEXT, Planted, find_left

HASH, UUID = "3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000"
HARMLESS = f"""
commit {HASH}
index 3f78685..87550fd 100644
key: {HASH}
"key": "{HASH}{HASH[:24]}"
"token": "{HASH}"
SECRET_KEY = "{UUID}"
key: 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
"sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
image: assay/python:3.11-{HASH[:12]}@sha256:{HASH}{HASH[:24]}
token = self.next_token(first=True)
password = forms.CharField(max_length=255)
password = models2.Password3
user = create(password="secret", token='abc')
api_key: Optional[str] = None
TOKEN=$TOKEN
API_KEY=<your key here>
MAX_TOKENS=16384000
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
token: 2026-11-30T12:00:00Z
.sk-fading-circle-container-of-the-page {{ color: red }}
https://user:password@example.com/
http://localhost:8080/home/index.html
cd /root/.cache && ls /home/nobody/x /testbed/home/bob /home/user/y
tests/test_login.py::test_password[token-password=abc] PASSED
-----BEGIN CERTIFICATE-----
Bearer authentication-is-required
"""


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.setenv("DEPLOY_TOKEN", ENVIRONMENT)
    monkeypatch.setenv("EMPTY_PASSWORD", "password")


@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: f"{each.kind}: {each.text[:30]}")
def test_a_secret_is_taken_out_and_counted(planted: Planted) -> None:
    done = redact(f"before\n{planted.line}\nafter")
    assert not find_left(done.text.encode())
    assert done.counts == {planted.kind: 1}
    assert done.text.startswith("before\n")
    assert done.text.endswith("\nafter")


@pytest.mark.parametrize("planted", PLANTED[:21], ids=lambda each: each.secret[:10])
@pytest.mark.parametrize("before", ["\\n", "\\\\n", "\x1b[31m", "\\u001b[0m", '"', "(", ">", "/"])
def test_a_token_behind_an_escape_sequence_is_seen(planted: Planted, before: str) -> None:
    assert redact(before + planted.secret) == (f"{before}[redacted:token]", {"token": 1})


@pytest.mark.parametrize("line", HARMLESS.strip().splitlines())
def test_what_is_no_secret_stays(line: str) -> None:
    assert redact(line) == (line, {})
    assert Redaction().content(json.dumps({"key": [line], line: 1.50}).encode()) == (
        json.dumps({"key": [line], line: 1.50}).encode()
    )


def test_homes_keep_their_paths() -> None:
    text = f"{HOME}/a /home/carol/b file:///Users/dave/c {HOME}x/d HOME={HOME}"
    assert redact(text).text == "~/a /home/USER/b file:///Users/USER/c /home/USER/d HOME=~"


def test_a_home_that_names_nobody_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    assert redact("/root/.cache/x").text == "/root/.cache/x"


def test_a_folder_of_a_container_stays() -> None:
    redaction = Redaction()
    redaction.leave_folder("jq")
    assert redaction.text("cd /home/jq/src; ls /home/bob/x") == "cd /home/jq/src; ls /home/USER/x"


def test_json_stays_json_in_its_own_layout() -> None:
    text = '{ "password":"@",\n\t"n": 1.50, "dup": 1, "dup": 2, "Authorization": "Basic #"}\n'
    found = Redaction().json(text.replace("@", 'a\\"b1c2d3').replace("#", "dXNlcjpwYXNzdXNlcg"))
    assert found == text.replace("@", "[redacted:assigned]").replace("#", "[redacted:authorization]")


def test_a_field_says_what_its_value_is() -> None:
    value: JsonValue = {"db": {"password": "x y1", "secret": 'q"w\\e1r2t3'}, "tokens": [TEXT]}
    found = Redaction().value(value)
    assert isinstance(found, dict)
    assert found["db"] == {"password": "x y1", "secret": "[redacted:assigned]"}
    assert not find_left(json.dumps(found).encode())


def test_what_stands_in_a_patch_stays_everywhere() -> None:
    redaction = Redaction()
    redaction.leave(f"+{PLANTED[0].line}\n")
    assert redaction.text(f"{PLANTED[0].line} {PLANTED[1].line}").startswith(PLANTED[0].line)
    assert (redaction.kept, redaction.taken) == ({"token": 1}, {"token": 1})


def test_a_key_that_the_end_of_a_chunk_cuts_goes_whole() -> None:
    pem = next(each.line for each in PLANTED if each.kind == "private-key")
    for shift in (10, 100, len(pem) - 10):
        lines = b"x" * (CHUNK - shift - 1) + b"\n" + pem.encode() + b"\nafter\n" + b"y" * 10
        redaction = Redaction()
        found = b"".join(redaction.chunks(io.BytesIO(lines)))
        assert found == b"x" * (CHUNK - shift - 1) + b"\n[redacted:private-key]\nafter\n" + b"y" * 10


def test_bytes_that_are_no_text_stay() -> None:
    content = bytes(range(256)) * 5000 + b"\xff" + PLANTED[9].secret.encode() + b"\xfe"
    found = b"".join(Redaction().chunks(io.BytesIO(content)))
    assert found == bytes(range(256)) * 5000 + b"\xff[redacted:token]\xfe"


def test_counts_are_said_in_one_line() -> None:
    assert describe({}, Counter()) == ""
    assert describe({"token": 2, "home": 1}, {}) == "took out 3 secrets (1 home, 2 token)"
    assert describe({}, {"jwt": 1}, "patches") == "left 1 secret (1 jwt) in patches"


_PIECES = st.sampled_from(
    [each.line for each in PLANTED]
    + [each.secret for each in PLANTED]
    + [
        "password",
        "TOKEN=",
        "key",
        ": ",
        '"',
        "'",
        "\\n",
        "\n",
        " ",
        "[redacted:token]",
        "/home/",
        "/Users/",
        "bob",
        "://",
        "@",
        "-",
        "a1B2",
        "eyJ",
        "é",
        "\ud800",
    ]
)


@given(st.lists(_PIECES | st.text(max_size=9), max_size=12).map("".join))
def test_redaction_is_idempotent(text: str) -> None:
    once = redact(text).text
    assert redact(once) == (once, {})


_JSON = st.recursive(
    st.none() | st.floats(allow_nan=False) | st.lists(_PIECES, max_size=4).map("".join) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["password", "a", "token"]), inner),
    max_leaves=8,
)


@given(_JSON, st.booleans())
def test_json_stays_valid(value: object, ascii_only: bool) -> None:
    found = json.loads(Redaction().json(json.dumps(value, ensure_ascii=ascii_only)))
    assert _outline(found) == _outline(value)


def _outline(value: object) -> object:
    if isinstance(value, dict):
        return {name: _outline(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_outline(each) for each in value]
    return str if isinstance(value, str) else value


@given(st.text(alphabet=st.characters(exclude_characters="=:/-_@"), max_size=200))
def test_text_without_a_sign_of_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "piece",
    [
        "token=",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJaaaaaaaaa.",
        "://a:b",
        '"',
        "/home/a",
        "Bearer ",
        "a",
        "password: x",
        "login ",
        "sk-",
        "\\",
    ],
)
def test_time_grows_with_the_length(piece: str) -> None:
    """A megabyte takes under two seconds of processor time on a slow machine; by a square it would be an hour."""
    began = time.process_time()
    redact(piece * (1_000_000 // len(piece)))
    assert time.process_time() - began < 20


def test_no_secret_of_the_folder_of_tests_is_found(tmp_path: Path) -> None:
    """Names of tests are paths of whoever runs them."""
    assert redact(f"{tmp_path}/test_x.py::test_y PASSED").counts == {}
