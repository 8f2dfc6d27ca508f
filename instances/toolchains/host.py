"""Parts of the host that builds use: its uv, and its network settings.

CA bundle, proxies and index settings reach a build as secrets, so they never stay in an image.
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
from assay.harness.program_output import cut_line, find_cause

CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables that name the host's CA bundle, most trusted first; builds get all of them."""
CA_OF_CLIENTS = ("CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS", "npm_config_cafile")
"""Further variables by which clients of package indexes find it."""
FORWARDED = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INSECURE_HOST", "UV_HTTP_TIMEOUT"),
    *("GONOSUMDB", "GOPRIVATE", "NPM_CONFIG_REGISTRY", "npm_config_registry", "BUNDLE_MIRROR__ALL", "COMPOSER_MIRROR"),
)
RENAMED = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "GOPROXY": "HOST_GOPROXY"}
"""Variables that builds get under another name: uv does not read pip's, and images switch Go's proxy off.

uv's own come first if both are set.
"""
IN_BOX = "/run/secrets"


def write_secrets(folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """Write the host's network settings into a folder; return them by secret id: ``settings`` (shell), ``ca``."""
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
