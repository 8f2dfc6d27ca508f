"""Parts of the host that builds use: its uv, and its network settings.

CA bundle, proxies, index settings and logins reach a build as secrets, so they never stay in an image. Logins that are
files are written to memory (``/dev/shm``) by the step that uses them, and removed at its end.
"""

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from assay.harness.errors import EnvironmentFailure
from assay.harness.masks import LEAST, conceal
from assay.harness.program_output import cut_line, find_cause
from assay.instances.toolchains.credentials import NAMES_AN_INDEX, Credentials, gather_credentials

CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables that name the host's CA bundle, most trusted first; builds get all of them."""
CA_OF_CLIENTS = ("CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS", "npm_config_cafile")
"""Further variables by which clients of package indexes find it."""
FORWARDED = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("UV_INSECURE_HOST", "UV_HTTP_TIMEOUT", "GONOSUMDB"),
)
RENAMED = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "GOPROXY": "HOST_GOPROXY"}
"""Variables that builds get under another name: uv does not read pip's, and images switch Go's proxy off.

uv's own come first if both are set.
"""
IN_BOX = "/run/secrets"
LONG = 12  # characters of a word that no package has by chance; a shorter one is looked for in URLs alone
LEAVE = """\
assay_leave() {
    status=$?
    trap - EXIT
    found=$(grep -ralFf "$assay_private/words" /opt /build/lock.txt 2> /dev/null | head -n 1)
    [ -z "$found" ] || { echo "error: $found would stay, and holds a password that is for this step" >&2; status=1; }
    rm -rf "$assay_private"
    exit $status
}
trap assay_leave EXIT
"""
"""Ends a step: it fails if what it leaves behind has a word that it was handed."""


def write_secrets(folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """Write the host's network settings into a folder; return them by secret id: ``settings`` (shell), ``ca``.

    Raises EnvironmentFailure for a file of logins that cannot be read.
    """
    credentials = gather_credentials(environ)
    conceal(credentials.words)
    exports = {new: environ[old] for old, new in RENAMED.items() if environ.get(old)}
    for name in {*filter(NAMES_AN_INDEX.fullmatch, environ), *FORWARDED} - {*RENAMED}:
        exports |= {name: environ[name]} if environ.get(name) else {}
    exports |= credentials.exports
    secrets = {"settings": folder / "settings"}
    bundle = next((Path(environ[name]) for name in CA_VARIABLES if Path(environ.get(name) or "/").is_file()), None)
    if bundle:
        secrets["ca"] = folder / "ca"
        shutil.copyfile(bundle, secrets["ca"])
        exports |= dict.fromkeys((*CA_VARIABLES, *CA_OF_CLIENTS), f"{IN_BOX}/ca")
    text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(exports.items()))
    secrets["settings"].write_text(text + _write_files(credentials), encoding="utf-8")
    return secrets


def _write_files(credentials: Credentials) -> str:
    """Write shell text that puts files of logins where clients look for them."""
    if not (credentials.words or credentials.files):
        return ""
    words = [word for word in sorted(credentials.words) if len(word) >= LEAST and "\n" not in word]
    held = {"words": "".join(f"{word}\n" if len(word) >= LONG else f":{word}@\n" for word in words)}
    lines = ["assay_private=$(mktemp -d /dev/shm/assay-XXXXXX)", "mkdir -p ~/.m2"]
    for path, text in {**held, **credentials.files}.items():
        file = f'"$assay_private/{path.rpartition("/")[2]}"'
        lines.append(f"printf %s {shlex.quote(text)} > {file}" + (f"; ln -sfn {file} ~/{path}" * (path not in held)))
    return "\n".join([*lines, LEAVE])


def linux_uv(cache: Path) -> Path:
    """Find a uv for Linux containers: the host's own, or one fetched into the cache; raises EnvironmentFailure."""
    from uv import find_uv_bin

    own = find_uv_bin()
    if platform.system() == "Linux":
        return Path(own)
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    target = cache / "uv" / f"{version('uv')}-{machine}"
    if not (target / "bin" / "uv").is_file():
        triple = f"{machine}-unknown-linux-gnu"
        command = [own, "pip", "install", "--quiet", "--target", str(target), "--python-platform", triple]
        done = subprocess.run([*command, f"uv=={version('uv')}"], capture_output=True, text=True, check=False)
        if done.returncode:
            cause = find_cause(done.stderr) or cut_line(done.stderr)
            raise EnvironmentFailure(f"no uv for {triple} could be fetched: {cause}", tail=done.stderr)
    return target / "bin" / "uv"
