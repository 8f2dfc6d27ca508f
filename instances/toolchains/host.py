"""What builds borrow from the host: its uv, and how it reaches the package index.

The latter are secrets of a build: CA bundle, proxies and index settings never stay in an image.
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

CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Where a host names its CA bundle, in the order of belief, and under which names builds find it."""
CA_OF_CLIENTS = ("CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS", "npm_config_cafile")
"""Under which further names clients of package indexes look for it."""
FORWARDED = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_INSECURE_HOST",
    "UV_HTTP_TIMEOUT",
    "GONOSUMDB",
    "GOPRIVATE",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
)
RENAMED = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "GOPROXY": "HOST_GOPROXY"}
"""uv does not read pip's settings; its own come first where both are set. Go's proxy is switched off in images."""
IN_BOX = "/run/secrets"


def write_secrets(folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """Write the host's network settings into a folder, by secret id: ``settings`` (shell text) and ``ca``."""
    exports = {new: environ[old] for old, new in RENAMED.items() if environ.get(old)}
    exports |= {name: environ[name] for name in FORWARDED if environ.get(name)}
    secrets = {"settings": folder / "settings"}
    bundle = next((Path(environ[name]) for name in CA_VARIABLES if Path(environ.get(name) or "/").is_file()), None)
    if bundle:
        secrets["ca"] = folder / "ca"
        shutil.copyfile(bundle, secrets["ca"])
        exports |= dict.fromkeys((*CA_VARIABLES, *CA_OF_CLIENTS), f"{IN_BOX}/ca")
    text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(exports.items()))
    secrets["settings"].write_text(text, encoding="utf-8")
    return secrets


def linux_uv(cache: Path) -> Path:
    """Return a uv program that runs in the engine's Linux containers: the host's own, or one fetched into the cache.

    Raises:
        EnvironmentFailure: the host's uv cannot fetch one.
    """
    from uv import find_uv_bin

    own = find_uv_bin()
    if platform.system() == "Linux":
        return Path(own)
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    target = cache / "uv" / f"{version('uv')}-{machine}"
    if not (target / "bin" / "uv").is_file():
        _fetch_uv(own, f"{machine}-unknown-linux-gnu", target)
    return target / "bin" / "uv"


def _fetch_uv(own: str, triple: str, target: Path) -> None:
    command = [own, "pip", "install", "--quiet", "--target", str(target), "--python-platform", triple]
    done = subprocess.run([*command, f"uv=={version('uv')}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentFailure(f"no uv for {triple} could be fetched: {done.stderr.strip()}", tail=done.stderr)
