"""Logins of private package indexes and git hosts, in the files where a person's own clients keep them.

A build may run the code of anybody's packages, so it gets only the logins of the hosts that the person names: in the
variables that name an index, and in ``ASSAY_PRIVATE``. The rest of those files stays on the host.
"""

import base64
import re
import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from xml.etree.ElementTree import ParseError, fromstring, tostring

from assay.harness.errors import EnvironmentFailure

PRIVATE = "ASSAY_PRIVATE"
"""Variable with hosts, ids of Maven's servers, names of cargo's registries, and names of variables, between blanks."""
NAMES_AN_INDEX = re.compile(
    r"UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?|PIP_(?:EXTRA_)?INDEX_URL|npm_config_registry|NPM_CONFIG_REGISTRY|GOPROXY"
    r"|GOPRIVATE|GONOPROXY|COMPOSER_MIRROR|BUNDLE_MIRROR__ALL|CARGO_REGISTRIES_\w+_INDEX"
)
_BELONGS_TO_ONE = re.compile(r"UV_INDEX_\w+_(?:USERNAME|PASSWORD)|CARGO_REGISTRIES_\w+")
_LOGIN = re.compile(r"://([^\s/@:]*)(?::([^\s/@]*))?@")


@dataclass(frozen=True, slots=True)
class Login:
    """A name and a password for a host."""

    user: str
    password: str = field(repr=False)

    @property
    def basic(self) -> str:
        """The login as HTTP's basic authentication and npm write it."""
        return base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def forms(self) -> set[str]:
        """What clients write the password as."""
        return {self.password, quote(self.password, safe=""), self.basic}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a step gets, and nothing keeps."""

    exports: dict[str, str] = field(default_factory=dict, repr=False)
    files: dict[str, str] = field(default_factory=dict, repr=False)
    """Path below the step's home, and text."""
    words: set[str] = field(default_factory=set, repr=False)
    """What nobody may read afterwards."""


def gather_credentials(environ: Mapping[str, str]) -> Credentials:
    """Read the logins that variables and files have of the named hosts.

    Raises EnvironmentFailure, with the file, for one that cannot be read.
    """
    found, named = Credentials(), _find_named(environ)
    for name, value in environ.items():
        if _BELONGS_TO_ONE.fullmatch(name) or name in named:
            found.exports[name] = value
            secret = [value, *re.findall(r':\s*"([^"]+)"', value)]  # some are JSON
            found.words.update([] if name.endswith(("_INDEX", "_USERNAME", "_PROVIDER")) else secret)
        if NAMES_AN_INDEX.fullmatch(name) or name.lower().endswith("_proxy"):
            for user, password in _LOGIN.findall(value):  # a user without a password is a token
                found.words.update(Login(unquote(user), unquote(password or user)).forms)
    for add in (_add_netrc, _add_npm, _add_cargo, _add_maven) if named else ():
        add(found, named, environ)
    return found


def find_login(url: str, environ: Mapping[str, str]) -> Login | None:
    """Find the login for a URL: its own, else that of a named host in the person's netrc; raises EnvironmentFailure."""
    parts = urlsplit(url)
    if parts.username is not None:
        return Login(unquote(parts.username), unquote(parts.password or ""))
    return _read_netrc(environ).get(parts.hostname or "") if _has(_find_named(environ), url) else None


def _find_named(environ: Mapping[str, str]) -> set[str]:
    """Return patterns of hosts, and other names."""
    values = " ".join(value for name, value in environ.items() if NAMES_AN_INDEX.fullmatch(name))
    hosts = map(_find_host, re.split(r"[\s,|]+", values))
    return {*environ.get(PRIVATE, "").split(), *(host for host in hosts if host.strip("*."))}  # GOPRIVATE may be "*"


def _has(named: Collection[str], url: str | None) -> bool:
    """Return whether the host of a URL is named."""
    return any(fnmatchcase(_find_host(url or ""), _find_host(pattern)) for pattern in named)


def _find_host(url: str) -> str:
    """Return the host of a URL, which may lack its scheme or follow a name (``NAME=URL``)."""
    address = re.sub(r"^[\w+.:=-]*//", "", url.strip()).partition("/")[0].rpartition("@")[2]
    return address.partition(":")[0].lower()


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "/nonexistent")


def _read_netrc(environ: Mapping[str, str]) -> dict[str, Login]:
    file = Path(environ.get("NETRC") or _home(environ) / ".netrc")
    try:
        hosts = netrc(str(file)).hosts if file.is_file() else {}
    except NetrcParseError as error:  # its message may have the password
        problem = "is not understood; write `machine HOST login NAME password WORD`"
        raise EnvironmentFailure(f"{file}:{error.lineno} {problem}") from None
    return {host: Login(user, password or "") for host, (user, _, password) in hosts.items() if host != "default"}


def _add_netrc(found: Credentials, named: Collection[str], environ: Mapping[str, str]) -> None:
    """Write a netrc, which uv, pip, go, git and curl read."""
    logins = {host: login for host, login in _read_netrc(environ).items() if _has(named, host)}
    for host, login in logins.items():
        found.words.update(login.forms)
        line = f"machine {host} login {_quote_word(login.user)} password {_quote_word(login.password)}\n"
        found.files[".netrc"] = found.files.get(".netrc", "") + line


def _quote_word(word: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", word) + '"' if re.search(r'[\s"\\#]', word) else word


def _add_npm(found: Credentials, named: Collection[str], environ: Mapping[str, str]) -> None:
    """Write a .npmrc; a login in the registry's URL goes there too, since npm logs every URL that it asks."""
    names = (environ.get(name) for name in ("npm_config_userconfig", "NPM_CONFIG_USERCONFIG"))
    file = Path(next(filter(None, names), _home(environ) / ".npmrc"))
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    lines = []
    for line in _fill_in(text, r"\$\{(\w+)\}", environ).splitlines():
        key, _, value = (part.strip(" \t\"'") for part in line.partition("="))
        is_index = key.rpartition(":")[2] == "registry"
        if _has(named, value if is_index else key) and (is_index or key.startswith("//")):
            lines.append(f"{key}={value}\n")
            found.words.update([value] if key.endswith((":_authToken", ":_auth", ":_password")) else [])
            with suppress(ValueError):
                decoded = base64.b64decode(value).decode() if key.endswith((":_auth", ":_password")) else ""
                found.words.add(decoded.rpartition(":")[2])
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        parts, login = urlsplit(environ.get(name, "")), find_login(environ.get(name, ""), {})
        if login:
            bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], path=parts.path.rstrip("/") + "/")
            found.exports[name] = bare.geturl()
            lines.append(f"//{bare.netloc}{bare.path}:_auth={login.basic}\n")
    found.files.update({".npmrc": "".join(lines)} if lines else {})


def _add_cargo(found: Credentials, named: Collection[str], environ: Mapping[str, str]) -> None:
    """Add variables of cargo's registries; variables of the host come first."""
    home = Path(environ.get("CARGO_HOME") or _home(environ) / ".cargo")
    indexes, tokens = (_read_registries(home, name) for name in ("config", "credentials"))
    for name in {**indexes, **tokens}:
        index, token = str(indexes.get(name, {}).get("index", "")), str(tokens.get(name, {}).get("token", ""))
        if name in named or (index and _has(named, index)):
            variable = f"CARGO_REGISTRIES_{name.upper().replace('-', '_')}"
            values = {f"{variable}_INDEX": index, f"{variable}_TOKEN": token}
            found.exports.update({key: value for key, value in values.items() if value and key not in found.exports})
            found.words.add(token)
    if any(re.fullmatch(r"CARGO_REGISTRIES_\w+_TOKEN", name) for name in found.exports):
        found.exports["CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS"] = "cargo:token"


def _read_registries(home: Path, name: str) -> Mapping[str, Mapping[str, Any]]:
    file = next((path for path in (home / f"{name}.toml", home / name) if path.is_file()), None)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")).get("registries", {}) if file else {}
    except ValueError as error:
        raise EnvironmentFailure(f"{file} is not valid TOML; correct it ({error})") from None


def _add_maven(found: Credentials, named: Collection[str], environ: Mapping[str, str]) -> None:
    """Write a settings.xml with mirrors on named hosts, and the servers that they or the names ask for."""
    file = _home(environ) / ".m2" / "settings.xml"
    try:
        root = fromstring(file.read_bytes() if file.is_file() else b"<settings/>")
    except ParseError as error:
        raise EnvironmentFailure(f"{file} is not valid XML; correct it ({error})") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # Maven knows no prefixes of namespaces
        element.text = _fill_in(element.text or "", r"\$\{env\.(\w+)\}", environ).strip()
    mirrors = [each for each in root.iterfind("mirrors/mirror") if _has(named, each.findtext("url"))]
    ids = {*named, *(each.findtext("id") for each in mirrors)}
    servers = {each.findtext("id"): each for each in root.iterfind("servers/server") if each.findtext("id") in ids}
    if mirrors or servers:
        held = ("".join(tostring(each, encoding="unicode") for each in kind) for kind in (mirrors, servers.values()))
        text = "<settings><mirrors>{}</mirrors><servers>{}</servers></settings>"
        found.files[".m2/settings.xml"] = text.format(*held)
    for server in servers.values():
        found.words.update(each.text or "" for each in server.iter() if each.tag not in {"id", "username"})
    for mirror in mirrors:
        if {"*", "external:*", "central"} & {*(mirror.findtext("mirrorOf") or "").replace(" ", "").split(",")}:
            found.exports["MAVEN_MIRROR"] = mirror.findtext("url") or ""  # a program of the step asks it for Maven
            if asked := [each for each in servers.values() if each.findtext("id") == mirror.findtext("id")]:
                login = Login(asked[0].findtext("username") or "", asked[0].findtext("password") or "")
                found.words.add(login.basic)
                found.exports["MAVEN_LOGIN"] = login.basic


def _fill_in(text: str, variable: str, environ: Mapping[str, str]) -> str:
    return re.sub(variable, lambda match: environ.get(match[1], match[0]), text)
