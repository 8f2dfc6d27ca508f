"""Passwords that builds are handed, on every way out: screen, JSON, run folder, cache, report, bundle."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from private_host import PASSWORD, PLANTED, TOKEN, find_planted
from stand_ins import as_row
from toy import make_instance
from toys import Repository

ENGINE = """\
from pathlib import Path
from assay.harness.engines.base import ImageInfo
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EnvironmentFailure

class Loud:
    "Builds nothing, and says all that it was handed."
    def __init__(self):
        self.fake = FakeEngine({})
    def __getattr__(self, name):
        if name == "act_out":
            raise AttributeError(name)
        return getattr(self.fake, name)
    def find_image(self, name):
        return ImageInfo(name, "sha256:1") if "toolchain" in name else None
    def open(self, spec):
        self.say(next(Path(path) for path, inside in spec.mounts.items() if inside == "/run/secrets/settings"))
    def build(self, name, context, log, *, secrets, labels):
        self.say(secrets["settings"])
    def say(self, settings):
        said = settings.read_text()
        assert "machine idx.test" in said and "_authToken" in said
        raise EnvironmentFailure(f"it was handed {said}", log_path="log", tail=said, cause=said)

def make():
    return Loud()
"""


@pytest.fixture(params=["python", "javascript"])
def row(in_folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A row whose packages a container resolves or a build fetches, and a person with logins for their index."""
    home, repository = in_folder / "home", in_folder / "mirrors" / "acme__calc"
    for path, text in {
        home / ".netrc": f"machine idx.test login ada password {PASSWORD}\n",
        home / ".npmrc": f"//idx.test/:_authToken={TOKEN}\n",
        repository / "package.json": "{}",
        in_folder / "loud.py": ENGINE,
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    Repository(repository).git("init", "--quiet")
    row = as_row(make_instance(base_commit=Repository(repository).commit())) | {"language": request.param}
    (in_folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    for name, folder in {"HOME": "home", "ASSAY_CACHE": "cache", "ASSAY_MIRROR": "mirrors"}.items():
        monkeypatch.setenv(name, str(in_folder / folder))
    return in_folder


def test_a_failed_build_that_says_its_passwords_leaves_none(assay: Callable, row: Path) -> None:
    (row / "assay.toml").write_text('private = ["idx.test"]\n')
    commands = (
        ["evaluate", "rows.jsonl", "--gold", "--run-id", "mine", "--engine", "loud:make", "--no-setup"],
        ["report", "show", "mine", "--json"],
        ["report", "html", "mine", "-o", "pages"],
        ["report", "bundle", "mine", "-o", "mine.bundle", "--new-key", "key"],
        ["images", "build", "rows.jsonl", "--engine", "loud:make"],
    )
    done = [assay(*command) for command in commands]
    assert "env_error" in done[0].out
    kept = [path for path in (row / "runs").rglob("*") if path.is_file()]
    assert any("machine idx.test login ada password ***" in path.read_text() for path in kept)
    assert not [word for word in PLANTED for each in done if word.decode() in each.out + each.err]
    assert (row / "mine.bundle").exists()
    assert find_planted(row / "runs", row / "cache", row / "pages", row / "mine.bundle") == []
