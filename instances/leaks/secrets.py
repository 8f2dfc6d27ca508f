"""Credentials, proxies and certificates of the machine that made an image: in settings, history and known files."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from assay.harness.domain import Model
from assay.harness.engines.layers import ImageConfig
from assay.harness.names import count
from assay.harness.redaction import find_forms

CREDENTIAL, PROXY, CA = "credential", "proxy", "ca"  # names of the rules


class FoundSecret(Model):
    """A setting of the machine that made an image."""

    rule: str
    path: str
    what: str
    """Names the setting, and never its value."""
    md5: str = ""
    """The whole file's."""


_SECRET_NAME = re.compile(
    r"(?:^|_)(?:\w*TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET\w*|API_?KEY|\w*ACCESS_?KEY\w*|PRIVATE_?KEY|CREDENTIALS?"
    r"|AUTH)$",
    re.I,
)
_PROXY_NAME = re.compile(r"(?:https?|all|ftp)_proxy$|^HOST_GOPROXY$", re.I)
_CA_NAME = re.compile(
    r"(?:SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PIP_CERT|NODE_EXTRA_CA_CERTS|CARGO_HTTP_CAINFO"
    r"|GIT_SSL_CAINFO|AWS_CA_BUNDLE|npm_config_cafile)$",
    re.I,
)
_NAMES = ((_SECRET_NAME, CREDENTIAL), (_PROXY_NAME, PROXY), (_CA_NAME, CA))
_ASSIGNED = re.compile(
    r"""(?:^|[\s;|"'])(?:export\s+|ENV\s+|ARG\s+|-e\s+)?([A-Za-z_][\w-]*)[=:]\s*["']?([^\s"';|&]+)"""
)
_PLACEHOLDER = re.compile(r"\$|<|x{3}|\*{3}|(?:user|pass(?:word)?|secret|token)$", re.I)
_PERSONAL = re.compile(r"(?:root|home/[^/]+|run|etc|tmp|workspace|app|build)/|[^/]+$")
"""Folders in which a private key is a person's; packages have keys for their tests."""
_PACKAGES = re.compile(r"(?:^|/)(?:node_modules|site-packages|dist-packages|go/(?:pkg/)?mod|registry/src|gems)/.*[/!]")
"""Packages of an index. What their authors have published with them says nothing of the machine that made an image."""

_NPM, _PIP, _GIT = (
    r"\.npmrc|etc/npmrc|\.yarnrc(?:\.yml)?",
    r"pip\.conf|pip\.ini",
    r"\.gitconfig|etc/gitconfig|\.git/config",
)
_MAVEN, _CARGO = r"\.m2/settings\.xml|\.gradle/gradle\.properties", r"\.cargo/config(?:\.toml)?"
_DOCKER = r"\.docker/config\.json|\.dockercfg|containers/auth\.json"
_ONLY_FOR_CREDENTIALS = (
    *(r"\.pypirc", r"\.gem/credentials", r"\.git-credentials", r"\.aws/credentials", r"\.kube/config"),
    *(r"\.cargo/credentials(?:\.toml)?", r"\.config/gh/hosts\.yml", r"gcloud/credentials\.db"),
    *(r"\.composer/auth\.json", r"\.ssh/id_[^.]*", r"\.gnupg/private-keys-v1\.d/.*", r"\.vault-token"),
)
FILES: tuple[tuple[re.Pattern[str], str, re.Pattern[bytes]], ...] = tuple(
    (re.compile(rf"(?:.*/)?(?:{path})"), rule, re.compile(pattern, re.I | re.M))
    for path, rule, pattern in (
        (r"\.netrc|_netrc", CREDENTIAL, rb"\bpassword\s+\S"),
        (_NPM, CREDENTIAL, rb"(?:_auth(?:Token)?|_password|npmAuthToken)\s*[=:]\s*\S"),
        (_NPM, PROXY, rb"^\s*(?:https?-?)?proxy\s*[=:\s]\s*\S"),
        (_NPM, CA, rb"^\s*ca(?:file)?(?:\[\])?\s*[=:\s]\s*\S"),
        (_DOCKER, CREDENTIAL, rb'"(?:auth|identitytoken|password)"\s*:\s*"[^"]'),
        (_DOCKER, PROXY, rb'"https?Proxy"\s*:\s*"[^"]'),
        (rf"{_PIP}|uv\.toml", CREDENTIAL, rb"://[^\s/@]+:[^\s/@]+@"),
        (_PIP, PROXY, rb"^\s*(?:proxy|(?:extra-)?index-url|trusted-host)\s*="),
        (_PIP, CA, rb"^\s*cert\s*="),
        ("|".join(_ONLY_FOR_CREDENTIALS), CREDENTIAL, rb"\S"),
        (_MAVEN, CREDENTIAL, rb"<password>|password\s*=\s*\S"),
        (_MAVEN, PROXY, rb"^\s*<proxy>|proxyHost\s*=\s*\S"),
        (_CARGO, PROXY, rb"^\s*proxy\s*="),
        (_CARGO, CA, rb"^\s*cainfo\s*="),
        (_GIT, CREDENTIAL, rb"extraheader|://[^\s/@]+:[^\s/@]+@"),
        (_GIT, PROXY, rb"^\s*proxy\s*="),
        (_GIT, CA, rb"^\s*sslCAInfo\s*="),
        (r"etc/apt/apt\.conf(?:\.d/.*)?", PROXY, rb"^\s*Acquire::[\w:]*Proxy\S*\s+\S"),
        (r"etc/apt/auth\.conf(?:\.d/.*)?", CREDENTIAL, rb"\bpassword\s+\S"),
        (r"\.wgetrc|etc/wgetrc|\.curlrc", PROXY, rb"^\s*(?:https?_)?proxy\s*=?\s*\S"),
        (r"usr/local/share/ca-certificates/.+\.crt|etc/pki/ca-trust/source/anchors/.+", CA, rb"\S"),
    )
)
"""Known files: path, rule, and the text that makes a file a finding."""
_SETTINGS = re.compile(
    r"etc/environment|etc/profile(?:\.d/.*)?|etc/bash\.bashrc|(?:root|home/[^/]+)/\.(?:bashrc|bash_profile|profile|zshrc)"
    r"|(?:root|home/[^/]+)/\.(?:bash|zsh|python)_history|run/secrets/.+|(?:.*/)?\.env"
)
"""Files that assign variables."""
_BUNDLES = re.compile(
    r"(?:etc/ssl/certs|etc/pki|usr/share/ca-certificates|usr/local/share/ca-certificates|etc/ca-certificates)/.+"
    r"|(?:.*/)?certifi/cacert\.pem"
)
_PACKAGED = "var/lib/dpkg/status"
_SETTING_OF_PACKAGE = re.compile(rb"^ /(\S+) ([0-9a-f]{32})$", re.M)
_SNAKE_OIL = frozenset({"etc/ssl/private/ssl-cert-snakeoil.key", "etc/ssl/certs/ssl-cert-snakeoil.pem"})
"""What Debian's ssl-cert makes for the machine on which it is installed, here the image; PostgreSQL needs it."""
_CERTIFI = "certifi/cacert.pem"
_RECORDED = re.compile(rb"certifi/cacert\.pem,sha256=([\w-]+)")
FILE = "file:"  # prefix of the hash of a whole file
_BODY = re.compile(rb"-----BEGIN (?:TRUSTED )?CERTIFICATE-----(.*?)-----END", re.S)


def search_file(path: str, data: bytes) -> Iterator[FoundSecret]:
    """Yield the settings of a machine that a file holds."""
    outer = path.rpartition("!")[2]
    if _PACKAGES.search(path):
        return
    for where, rule, pattern in FILES:
        if where.fullmatch(outer) and pattern.search(data[: 1 << 20]):
            yield FoundSecret(rule=rule, path=path, what="a file of settings that belong to a person or a machine")
    if _SETTINGS.fullmatch(outer):
        yield from _search(path, data.decode(errors="replace"))
    if (
        path not in _SNAKE_OIL
        and _PERSONAL.match(path)
        and any(find_forms(data.decode("latin-1"), "private-key", "token"))
    ):
        yield FoundSecret(rule=CREDENTIAL, path=path, what="a private key, or a token by its form")


def list_packaged(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield path and md5 of the files of settings that Debian's packages brought, from dpkg's list of packages."""
    if path == _PACKAGED:
        yield from ((name.decode(errors="replace"), md5.decode()) for name, md5 in _SETTING_OF_PACKAGE.findall(data))


def search_config(config: ImageConfig) -> Iterator[FoundSecret]:
    """Yield those in an image's environment, labels and build history."""
    for entry in config.env:
        yield from _search("(environment)", _quote_entry(entry))
    for key, value in (config.labels or {}).items():
        yield from _search("(labels)", _quote_entry(f"{key.rpartition('.')[2]}={value}"))
    for line in config.history:
        yield from _search("(build history)", line)


def _search(path: str, text: str) -> Iterator[FoundSecret]:
    return (FoundSecret(rule=rule, path=path, what=what) for rule, what in search_text(text))


def search_text(text: str) -> Iterator[tuple[str, str]]:
    """Yield the rule and the name of each variable that is set, and of each password in an address."""
    for name, value in _ASSIGNED.findall(text):
        for pattern, rule in _NAMES:
            if pattern.search(name) and not _PLACEHOLDER.search(value):
                yield rule, name
    yield from ((CREDENTIAL, "a password in an address") for _ in find_forms(text, "url-password"))


def certificates(path: str, data: bytes) -> tuple[str, ...]:
    """Return hashes of the certificates in a file that clients trust; nothing for other files.

    Of certifi's file also its own hash, and of a Python package's list of files the hash that it has for certifi's.
    """
    if path.endswith(".dist-info/RECORD"):
        return tuple(f"{FILE}{value.decode()}" for value in _RECORDED.findall(data))
    if not _BUNDLES.fullmatch(path) or path in _SNAKE_OIL:
        return ()
    own = f"{FILE}{base64.urlsafe_b64encode(sha256(data).digest()).decode().rstrip('=')}"
    found = dict.fromkeys(filter(None, map(_fingerprint, _BODY.findall(data))))
    return (own, *found) if path.endswith(_CERTIFI) else tuple(found)


def find_certificates(layers: Sequence[Mapping[str, tuple[str, ...]]]) -> Iterator[tuple[int, FoundSecret]]:
    """Yield layer and file wherever a certificate is trusted that neither the operating system nor certifi distributes.

    Each layer, the lowest first, has its certificates by path, as ``certificates`` returns them.
    """
    import certifi

    recorded = {value for layer in layers for path in layer if path.endswith("RECORD") for value in layer[path]}
    bundles = ([layer[path] for path in layer if path.startswith("usr/share/ca-certificates/")] for layer in layers)
    system = next((found for bundle in bundles if (found := set[str]().union(*bundle))), set())
    known = system | set(certificates(_CERTIFI, certifi.contents().encode()))
    for number, layer in enumerate(layers):
        for path, hashes in layer.items():
            strange = {each for each in hashes if not each.startswith(FILE)} - known
            if strange and not recorded.intersection(hashes):
                what = f"{count(len(strange), 'certificate')} of no distribution"
                yield number, FoundSecret(rule=CA, path=path, what=what)


def _fingerprint(body: bytes) -> str:
    try:
        return sha256(base64.b64decode(b"".join(body.split()))).hexdigest()[:32]
    except ValueError:
        return ""


def _quote_entry(entry: str) -> str:
    """Return NAME=VALUE as a shell would be given it, so that a value with blanks stays one."""
    name, _, value = entry.partition("=")
    return f'{name}="{value}"' if value else ""
