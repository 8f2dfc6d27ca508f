import subprocess
from pathlib import Path

from assay.instances.toolchains.host import write_secrets


def shell(settings: Path, variable: str) -> str:
    script = f'. "$0"; printf %s "${variable}"'
    return subprocess.run(
        ["sh", "-c", script, str(settings)], capture_output=True, text=True, check=True, env={}
    ).stdout


def test_proxy_and_index_settings_reach_builds_and_nothing_else_does(tmp_path: Path) -> None:
    secrets = write_secrets(tmp_path, {"HTTPS_PROXY": "http://u:p w@proxy", "HOME": "/root", "UV_INDEX": ""})
    assert secrets == {"settings": tmp_path / "settings"}
    assert secrets["settings"].read_text().count("export ") == 1
    assert shell(secrets["settings"], "HTTPS_PROXY") == "http://u:p w@proxy"


def test_pips_index_becomes_uvs_unless_uv_has_its_own(tmp_path: Path) -> None:
    pip = {"PIP_INDEX_URL": "https://pip.example"}
    assert shell(write_secrets(tmp_path, pip)["settings"], "UV_DEFAULT_INDEX") == "https://pip.example"
    both = pip | {"UV_DEFAULT_INDEX": "https://uv.example"}
    assert shell(write_secrets(tmp_path, both)["settings"], "UV_DEFAULT_INDEX") == "https://uv.example"


def test_the_first_ca_bundle_that_exists_is_copied_and_named_for_every_client(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("certificate")
    secrets = write_secrets(tmp_path, {"SSL_CERT_FILE": str(tmp_path / "missing"), "PIP_CERT": str(bundle)})
    assert secrets["ca"].read_text() == "certificate"
    for client in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS"):
        assert shell(secrets["settings"], client) == "/run/secrets/ca"
