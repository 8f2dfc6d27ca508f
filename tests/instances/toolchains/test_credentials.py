"""Logins of private hosts: what a step is handed, what it is not, and that real clients get along with it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.harness.errors import EnvironmentFailure, make_printable
from assay.instances.toolchains.credentials import gather_credentials
from assay.instances.toolchains.host import write_secrets
from private_host import BASIC, PASSWORD, PLANTED, TOKEN, USER, find_planted, serve_private
from toys import CrateIndex, Index, NpmRegistry

OTHERS = "of-another-host"
"""Part of every secret that no step may see."""
NETRC = f"machine other.test login x password {OTHERS}-1\nmachine idx.test\n login {USER}\n password {PASSWORD}\n"
NPMRC = (
    f"//idx.test/npm/:_authToken=${{NPM_TOKEN}}\n@acme:registry=http://idx.test/npm/\n//npm.test/:_auth={OTHERS}-2\n"
)
CARGO = {
    "config.toml": '[registries.acme]\nindex = "sparse+http://idx.test/crate-index/"\n[registries.o]\nindex = "http://o.test"',
    "credentials.toml": f'[registries.acme]\ntoken = "{TOKEN}"\n[registries.o]\ntoken = "{OTHERS}-3"\n',
}
MAVEN = f"""<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0">
<servers><server><id>acme</id><username>{USER}</username><password>${{env.MAVEN_PASSWORD}}</password></server>
<server><id>o</id><username>x</username><password>{OTHERS}-4</password></server></servers>
<mirrors><mirror><id>acme</id><mirrorOf>*</mirrorOf><url>http://idx.test/maven</url></mirror></mirrors>
<profiles><profile><id>p</id><properties><gpg.passphrase>{OTHERS}-5</gpg.passphrase></properties></profile></profiles>
</settings>"""
POM = "<project><modelVersion>4.0.0</modelVersion>{}<artifactId>x</artifactId><packaging>pom</packaging></project>"
PARENT = "<groupId>acme</groupId><artifactId>base</artifactId><version>1</version>"
STEPS = {
    "uv": 'echo toy > in && "$UV" pip compile -v in -o locked && grep toy==1.0 locked',
    "npm": 'echo \'{"dependencies": {"toy": "*"}}\' > package.json && npm install && ls node_modules/toy',
    "cargo": "mkdir src && : > src/lib.rs && cargo fetch && grep toys Cargo.lock",
    "git": "git clone http://idx.test/git/acme/work.git && ls work/a.txt",
}
MAVEN_STEP = "mvn --batch-mode -Dmaven.repo.local=m2 --settings ~/.m2/settings.xml validate"
DEPENDENCIES = '[workspace]\n[dependencies]\ntoys = {version = "1", registry = "acme"}\n'
MANIFEST = f'[package]\nname = "x"\nversion = "0.1.0"\n{DEPENDENCIES}'


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The home of somebody with logins for several hosts."""
    home = tmp_path / "person"
    files = {".netrc": NETRC, ".npmrc": NPMRC, ".m2/settings.xml": MAVEN}
    files |= {f".cargo/{name}": text for name, text in CARGO.items()}
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    return home


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("host")
    with serve_private(root) as url:
        Index(root).add("toy", "1.0", {"pyproject.toml": "[project]\nname = 'toy'\nversion = '1.0'\n"})
        NpmRegistry(root, f"{url}/npm").add("toy", "1.0.0", {"index.js": ""}, "2020-01-01T00:00:00Z")
        CrateIndex(root, url).add("toys", "1.0.0", {})
        config = root / "crate-index/config.json"
        config.write_text(config.read_text().replace("{", '{"auth-required": true, ', 1))
        (root / "maven/acme/base/1").mkdir(parents=True)
        (root / "maven/acme/base/1/base-1.pom").write_text(POM.format(PARENT).replace("<artifactId>x</artifactId>", ""))
        work = root / "work"
        work.mkdir()
        (work / "a.txt").write_text("a")
        me = ("-c", "user.name=a", "-c", "user.email=a@b")
        for command in (["init", "--quiet"], ["add", "."], [*me, "commit", "--quiet", "-m", "x"]):
            subprocess.run(["git", "-C", str(work), *command], check=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", str(work), str(root / "git/acme/work.git")], check=True)
        yield url


def name_host(person: Path, url: str, **variables: str) -> dict[str, str]:
    """Return a person's environment in which the private host is the one at a URL."""
    for file in person.rglob("*"):
        if file.is_file():
            netrc = file.name == ".netrc"
            file.write_text(file.read_text().replace("idx.test", "127.0.0.1" if netrc else url.rpartition("/")[2]))
    return {"HOME": str(person), "NPM_TOKEN": TOKEN, "MAVEN_PASSWORD": PASSWORD, "ASSAY_PRIVATE": url} | variables


def test_only_logins_of_named_hosts_are_handed_over(person: Path, tmp_path: Path) -> None:
    environ = {"HOME": str(person), "NPM_TOKEN": TOKEN, "MAVEN_PASSWORD": PASSWORD}
    assert gather_credentials(environ).files == {}
    assert gather_credentials(environ | {"GOPRIVATE": "*"}).files == {}
    for named in ({"ASSAY_PRIVATE": "idx.test"}, {"GOPRIVATE": "*.test/team", "ASSAY_PRIVATE": "idx.test:80"}):
        text = write_secrets(tmp_path, environ | named)["settings"].read_text()
        assert text.count(PASSWORD) >= 2  # netrc and settings.xml
        assert f"//idx.test/npm/:_authToken={TOKEN}" in text
        assert f"CARGO_REGISTRIES_ACME_TOKEN={TOKEN}" in text
        assert f"MAVEN_LOGIN={BASIC}" in text
        assert (OTHERS in text) == ("GOPRIVATE" in named)  # other.test is named by a pattern
    assert make_printable(f"{PASSWORD} {TOKEN} {BASIC} pl4nted%25Pass-word") == "*** *** *** ***"


def test_indexes_of_variables_name_their_hosts_and_other_names_are_names_of_variables(person: Path) -> None:
    assert ".netrc" in gather_credentials({"HOME": str(person), "UV_INDEX": "acme=https://idx.test/simple"}).files
    environ = {"HOME": "/none", "ASSAY_PRIVATE": "COMPOSER_AUTH", "COMPOSER_AUTH": TOKEN, "OTHER_TOKEN": "x"}
    found = gather_credentials(environ | {"UV_INDEX_ACME_PASSWORD": PASSWORD})
    assert found.exports == {"COMPOSER_AUTH": TOKEN, "UV_INDEX_ACME_PASSWORD": PASSWORD}
    assert found.words == {TOKEN, PASSWORD}
    assert PASSWORD not in repr(found)


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        (".netrc", "machine a\n login b WORD", r"\.netrc:\d is not understood; write `machine HOST login NAME"),
        (".cargo/credentials.toml", "[registries.a]\ntoken = WORD", r"credentials\.toml is not valid TOML"),
        (".m2/settings.xml", "<servers>WORD</x>", r"settings\.xml is not valid XML; correct it \("),
    ],
)
def test_a_file_that_cannot_be_read_is_named_without_what_is_in_it(
    person: Path, tmp_path: Path, file: str, text: str, complaint: str
) -> None:
    (person / file).write_text(text.replace("WORD", PASSWORD))
    with pytest.raises(EnvironmentFailure, match=complaint) as caught:
        write_secrets(tmp_path, {"HOME": str(person)})
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("program", [*STEPS, pytest.param("mvn", marks=pytest.mark.slow)])
def test_a_client_gets_what_is_private_and_keeps_no_password(
    program: str, host: str, person: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "Cargo.toml").write_text(MANIFEST)
    (work / "pom.xml").write_text(POM.format(f"<parent>{PARENT}</parent>"))
    login = f"{USER}:{PASSWORD.replace('%', '%25')}@"
    indexes = {"UV_DEFAULT_INDEX": f"{host}/simple", "NPM_CONFIG_REGISTRY": f"{host}/npm".replace("//", f"//{login}")}
    settings = write_secrets(tmp_path, name_host(person, host, **indexes))["settings"]
    done = run_step(program, STEPS.get(program, MAVEN_STEP).replace("http://idx.test", host), settings, work)
    if done.returncode == 127 or "no default is configured" in done.stdout:
        pytest.skip(f"no {program} works here")
    assert done.returncode == 0, make_printable(done.stdout)
    assert not any(word.decode() in done.stdout for word in PLANTED)
    assert find_planted(work) == []
    assert (work / ".netrc").is_symlink()  # into memory, which the step has freed
    assert not (work / ".netrc").exists()


def run_step(program: str, command: str, settings: Path, work: Path) -> subprocess.CompletedProcess[str]:
    from uv import find_uv_bin

    home = {"HOME": str(work), "UV": find_uv_bin(), "UV_CACHE_DIR": str(work / "cache"), "LC_ALL": "C"}
    kept = {name: os.environ[name] for name in ("PATH", "RUSTUP_HOME", "JAVA_HOME") if name in os.environ}
    home |= {"RUSTUP_HOME": str(Path.home() / ".rustup")} if program == "cargo" and "RUSTUP_HOME" not in kept else {}
    (work / "opt").mkdir(exist_ok=True)
    settings.write_text(settings.read_text().replace(" /opt ", f" {work}/opt "))
    script = f"set -eu\n. {settings}\n{command}"
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(["sh", "-c", script], cwd=work, env=kept | home, text=True, check=False, **both)


def test_a_step_that_leaves_a_password_behind_fails(host: str, person: Path, tmp_path: Path) -> None:
    settings = write_secrets(tmp_path, name_host(person, host))["settings"]
    for kept, status in (("cat ~/.netrc", 1), ("wc -c ~/.netrc", 0)):
        done = run_step("sh", f"{kept} | sed 's/password/https:/;s/$/@/' > {tmp_path}/opt/kept", settings, tmp_path)
        assert done.returncode == status
        assert (f"error: {tmp_path}/opt/kept would stay" in done.stdout) == bool(status)
