"""Secrets of every kind, made up from letters here so that no search of this repository takes them for real ones."""

import random
from collections import Counter
from collections.abc import Mapping
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

import pytest

_CHANCE = random.Random(7)
ENVIRONMENT = "correct-Horse-battery-9"
HOME = "/home/alice"


class Planted(NamedTuple):
    kind: str
    text: str
    """Surroundings with ``{}`` in the place of the secret."""
    secret: str

    @property
    def line(self) -> str:
        return self.text.replace("{}", self.secret)


def _word(length: int, letters: str = ascii_letters + digits) -> str:
    """Return letters by chance, some of each kind."""
    kinds = [part for part in (ascii_lowercase, ascii_uppercase, digits) if set(part) <= set(letters)]
    return "".join(_CHANCE.choice(kinds[at] if at < len(kinds) else letters) for at in range(length))


_HEX = digits + "abcdef"
_BODY = "\n".join(_word(64) for _ in range(5))
_PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{_BODY}\n{_word(12)}==\n-----END RSA PRIVATE KEY-----"
_TOKENS = (
    *("sk-ant-api03-" + _word(40), "sk-proj-" + _word(48), "sk-" + _word(48), "sk-or-v1-" + _word(64, _HEX)),
    *("gsk_" + _word(52), "xai-" + _word(80), "AI" + "za" + _word(35), "ya29." + _word(60), "hf_" + _word(34)),
    *("gh" + "p_" + _word(36), "gho_" + _word(36), "github_pat_" + _word(60), "glpat-" + _word(20)),
    *("AK" + "IA" + _word(16, ascii_uppercase + digits), "xox" + "b-12345678901-" + _word(24)),
    *("npm_" + _word(36), "pypi-AgE" + _word(60), "sk_" + "live_" + _word(24), "SG." + _word(22) + "." + _word(43)),
    *("dckr_pat_" + _word(27), "hvs." + _word(40)),
)
PLANTED = (
    *(Planted("token", "the client said: {} was refused", token) for token in _TOKENS),
    Planted("token", "aws_secret_access_key = {}", _word(40)),
    Planted("jwt", "got {} back", f"eyJ{_word(20)}.eyJ{_word(30)}.{_word(43)}"),
    Planted("private-key", "{}", _PEM),
    Planted("authorization", "Authorization: Bearer {}", _word(24)),
    Planted("authorization", "'authorization': 'Basic {}'", _word(20)),
    Planted("url-password", "git clone https://bob:{}@example.com/x.git", _word(12)),
    Planted("assigned", "export SERVICE_API_KEY={}", _word(20)),
    Planted("assigned", 'db_password = "{}"', "Tr0ub4dor&3-" + _word(6)),
    Planted("assigned", "client_secret: {}", _word(24)),
    Planted("assigned", "(apiKey: '{}')", "k7-" + _word(12)),
    Planted("assigned", "MYSQL_PASSWORD={}", "correcthorsebattery"),
    Planted("assigned", "curl --token {} /", _word(24)),
    Planted("random", "the signing key is {}", _word(32)),
    Planted("environment", "it printed {}", ENVIRONMENT),
    Planted("home", "opened {}/project/a.py", HOME),
    Planted("home", "opened {}/project/b.py", "/home/carol"),
    Planted("home", "opened {}/project/c.py", "/Users/dave"),
)
TEXT = "\n".join(each.line for each in PLANTED) + "\n"


def find_left(content: bytes) -> list[str]:
    """Return the planted secrets that a file still has, or a line of one; JSON may have written them otherwise."""
    text = content.decode(errors="replace").replace("\\n", "\n").replace("&amp;", "&")
    return [
        each.secret for each in PLANTED if any(line in text for line in each.secret.split("\n")[1:-1] or [each.secret])
    ]


def plant(patch: pytest.MonkeyPatch) -> None:
    """Make this process that of the person whose secrets are planted."""
    patch.setenv("HOME", HOME)
    patch.setenv("DEPLOY_TOKEN", ENVIRONMENT)


def has_counted_all(counts: Mapping[str, int], times: int = 1) -> bool:
    """Return whether at least each planted secret was counted."""
    return all(counts[kind] >= times * number for kind, number in Counter(each.kind for each in PLANTED).items())
