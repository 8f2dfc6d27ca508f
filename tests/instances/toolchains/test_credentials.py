"""Logins of private hosts: what a step is handed, what it is not, and that real clients get along with it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from uv import find_uv_bin

from assay.harness.errors import EnvironmentFailure, make_printable
from assay.instances.toolchains.credentials import gather_credentials
from assay.instances.toolchains.downloads import open_url
from assay.instances.toolchains.host import write_secrets
from private_host import BASIC, LOGIN, PARENT, PASSWORD, PLANTED, POM, TOKEN, USER, find_planted, serve_private

OTHERS = "of-another-host"
"""Part of every secret that no step may see."""
FILES = {
    ".netrc": f"machine other.test login x password {OTHERS}\nmachine 127.0.0.1\n login {USER}\n password {PASSWORD}\n",
    ".npmrc": f"//HOST/npm/:_authToken=${{NPM_TOKEN}}\n@acme:registry=http://HOST/npm/\n//npm.test/:_auth={OTHERS}\n",
    ".cargo/config.toml": '[registries.acme]\nindex = "sparse+http://HOST/crate-index/"\n',
    ".cargo/credentials.toml": f'[registries.acme]\ntoken = "{TOKEN}"\n[registries.o]\ntoken = "{OTHERS}"\n',
    ".m2/settings.xml": f"""<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><servers>
<server><id>acme</id><username>{USER}</username><password>${{env.MAVEN_PASSWORD}}</password></server>
<server><id>o</id><username>x</username><password>{OTHERS}</password></server></servers>
<mirrors><mirror><id>acme</id><mirrorOf>*</mirrorOf><url>http://HOST/maven</url></mirror></mirrors>
<profiles><profile><properties><gpg.passphrase>{OTHERS}</gpg.passphrase></properties></profile></profiles></settings>""",
}
STEPS = {
    "uv": 'echo toy > in && "$UV" pip compile -v in -o locked && grep toy==1.0 locked',
    "npm": 'echo \'{"dependencies": {"toy": "*"}}\' > package.json && npm install && ls node_modules/toy',
    "cargo": "mkdir src && : > src/lib.rs && cargo fetch && grep toys Cargo.lock",
    "git": "git ls-remote http://HOST/git/work.git",
    "mvn": "mvn --batch-mode -Dmaven.repo.local=m2 --settings ~/.m2/settings.xml validate",
}
MANIFEST = """[package]\nname = "x"\nversion = "0.1.0"\n[workspace]
[dependencies]\ntoys = {version = "1", registry = "acme"}\n"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("host")
    subprocess.run(["git", "init", "--quiet", "--bare", str(root / "git/work.git")], check=True)
    with serve_private(root) as url:
        yield url.rpartition("/")[2]


@pytest.fixture
def person(host: str, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with logins for several hosts."""
    for path, text in FILES.items():
        (tmp_path / "person" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "person" / path).write_text(text.replace("HOST", host))
    return {"HOME": str(tmp_path / "person"), "NPM_TOKEN": TOKEN, "MAVEN_PASSWORD": PASSWORD}


def run_step(command: str, environ: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a step of a build is, in a home of its own."""
    settings, work = write_secrets(folder, environ)["settings"], folder / "work"
    (work / "opt").mkdir(parents=True)
    (work / "Cargo.toml").write_text(MANIFEST)
    (work / "pom.xml").write_text(POM.format(f"<parent>{PARENT}</parent><artifactId>x</artifactId>"))
    settings.write_text(settings.read_text().replace(" /opt ", f" {work}/opt "))
    own = {"HOME": str(work), "UV": find_uv_bin(), "UV_CACHE_DIR": str(work / "cache"), "LC_ALL": "C"}
    own |= {"PATH": os.environ["PATH"], "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))}
    script = ["sh", "-c", f"set -eu\n. {settings}\n{command}"]
    return subprocess.run(script, cwd=work, env=own, text=True, stdout=-1, stderr=subprocess.STDOUT, check=False)


def test_only_logins_of_named_hosts_are_handed_over(person: dict[str, str], host: str, tmp_path: Path) -> None:
    for named in ({}, {"GOPRIVATE": "*"}, {"ASSAY_PRIVATE": "idx.test"}):
        assert gather_credentials(person | named).files == {}
    for named in ({"ASSAY_PRIVATE": host}, {"GOPRIVATE": "*.test/team,127.0.0.1/x"}):
        text = write_secrets(tmp_path, person | named)["settings"].read_text()
        assert f"machine 127.0.0.1 login {USER} password {PASSWORD}" in text
        assert f"<password>{PASSWORD}</password>" in text
        assert f"//{host}/npm/:_authToken={TOKEN}" in text
        assert f"CARGO_REGISTRIES_ACME_TOKEN={TOKEN}" in text
        assert f"MAVEN_LOGIN={BASIC}" in text
        assert (OTHERS in text) == ("GOPRIVATE" in named)  # a pattern names the other hosts, too
    assert make_printable(f"{PASSWORD} {TOKEN} {BASIC} pl4nted%25Pass-word") == "*** *** *** ***"


def test_indexes_of_variables_name_their_hosts_and_other_names_are_names_of_variables(person: dict[str, str]) -> None:
    assert ".netrc" in gather_credentials(person | {"UV_INDEX": "acme=https://127.0.0.1/simple"}).files
    auth = f'{{"http-basic": {{"idx.test": {{"username": "ada", "password": "{TOKEN}"}}}}}}'
    environ = {"HOME": "/none", "ASSAY_PRIVATE": "COMPOSER_AUTH", "COMPOSER_AUTH": auth, "OTHER_TOKEN": "x"}
    found = gather_credentials(environ | {"UV_INDEX_ACME_PASSWORD": PASSWORD})
    assert found.exports == {"COMPOSER_AUTH": auth, "UV_INDEX_ACME_PASSWORD": PASSWORD}
    assert found.words == {auth, USER, TOKEN, PASSWORD}


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        (".netrc", "machine a\n login b WORD", r"\.netrc:\d is not understood; write `machine HOST login NAME"),
        (".cargo/credentials.toml", "[registries.a]\ntoken = WORD", r"credentials\.toml is not valid TOML"),
        (".m2/settings.xml", "<servers>WORD</x>", r"settings\.xml is not valid XML; correct it \("),
    ],
)
def test_a_file_that_cannot_be_read_is_named_without_what_is_in_it(
    person: dict[str, str], file: str, text: str, complaint: str
) -> None:
    Path(person["HOME"], file).write_text(text.replace("WORD", PASSWORD))
    assert gather_credentials(person).files == {}  # nothing is named, so nothing is read
    with pytest.raises(EnvironmentFailure, match=complaint) as caught:
        gather_credentials(person | {"ASSAY_PRIVATE": "idx.test"})
    assert PASSWORD not in str(caught.value)


def test_a_download_has_the_login_of_a_named_host_alone(
    person: dict[str, str], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", person["HOME"])
    url = f"http://{host}/simple/toy/"
    with pytest.raises(EnvironmentFailure, match=f"{url} answers 401"), open_url(url, {}):
        pass
    for named, asked in ((host, url), ("", url.replace("//", f"//{LOGIN}"))):
        monkeypatch.setenv("ASSAY_PRIVATE", named)
        with open_url(asked, {}) as answer:
            assert b"toy-1.0.tar.gz" in answer.read()


@pytest.mark.parametrize("program", [pytest.param(each, marks=[pytest.mark.slow] * (each == "mvn")) for each in STEPS])
def test_a_client_gets_what_is_private_and_keeps_no_password(
    program: str, host: str, person: dict[str, str], tmp_path: Path
) -> None:
    indexes = {"UV_DEFAULT_INDEX": f"http://{host}/simple", "NPM_CONFIG_REGISTRY": f"http://{LOGIN}{host}/npm"}
    done = run_step(STEPS[program].replace("HOST", host), person | indexes, tmp_path)
    if done.returncode == 127 or "no default is configured" in done.stdout:
        pytest.skip(f"no {program} works here")
    assert done.returncode == 0, make_printable(done.stdout)
    assert not any(word.decode() in done.stdout for word in PLANTED)
    assert find_planted(tmp_path / "work") == []
    assert (tmp_path / "work/.netrc").is_symlink()  # into memory, which the step has freed
    assert not (tmp_path / "work/.netrc").exists()


@pytest.mark.parametrize(("command", "status"), [("cat ~/.netrc > opt/kept", 1), ("wc -c ~/.netrc > opt/kept", 0)])
def test_a_step_that_leaves_a_password_behind_fails(
    command: str, status: int, host: str, person: dict[str, str], tmp_path: Path
) -> None:
    done = run_step(command, person | {"ASSAY_PRIVATE": host}, tmp_path)
    assert done.returncode == status
    assert (f"error: {tmp_path}/work/opt/kept would stay, and holds a password" in done.stdout) == bool(status)
