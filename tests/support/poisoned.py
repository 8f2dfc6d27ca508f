"""A small project as an image of four layers, honest or with something in one of them that gives the answer away."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.harness.domain import Instance, TreeRef
from assay.harness.engines.layers import OPAQUE, WHITEOUT
from assay.instances.trees.content import read_tar
from assay.instances.trees.sources import Sources, tree_ref
from toys import Repository

OLD = """\
def total(values):
    result = 0
    for value in values:
        result = result - value
    return result
"""
BASE = OLD + "\n\ndef mean(values):\n    return total(values) / len(values)\n"
FIXED = BASE.replace("result = result - value", "result = add_exactly(result, value)").replace(
    "def total", "def add_exactly(first, second):\n    return math.fsum((first, second))\n\n\ndef total"
)
TESTS = "from calc.core import total\n\n\ndef test_nothing():\n    assert total([]) == 0\n"
NEW_TESTS = TESTS + "\n\ndef test_total_of_several_values():\n    assert total([1, 2, 3, 0.5]) == 6.5\n"
OTHER = "def shown(value):\n    return f'{value:.2f}'\n"
ROOT = "testbed"
SITE = "opt/venv/lib/python3.11/site-packages"
POSITIONS = ("lowest", "middle", "removed", "emptied", "top")
"""Where poison is: in the lowest layer, in one below the base tree's, there and removed above, in a layer on top."""

Files = Mapping[str, bytes | str]


@dataclass(frozen=True)
class Project:
    """The project's instance, its history, and the layers of an honest image of it."""

    instance: Instance
    repository: Repository
    ancestor: str
    fix: str
    sources: Sources
    honest: tuple[Files, ...]

    @property
    def below(self) -> tuple[TreeRef, ...]:
        """The tree that a lower layer holds."""
        return (TreeRef(self.instance.repo, self.ancestor),)


@dataclass
class Poison:
    """Files, or settings of the image, that a rule has to find."""

    rule: str
    path: str
    """Where the rule says it is; empty for the only file."""
    files: Callable[[Project], Files] = lambda _project: {}
    config: dict[str, object] = field(default_factory=dict)


def make_project(repository: Repository, cache: Path, instance: Callable[..., Instance]) -> Project:
    """Commit an ancestor, the base and the fix, and make the instance of them."""
    shown = repository.folder
    commits = []
    for core, tests in ((OLD, TESTS), (BASE, TESTS), (FIXED, NEW_TESTS)):
        files = {"calc/__init__.py": "", "calc/core.py": core, "calc/text.py": OTHER, "tests/test_calc.py": tests}
        files |= {"version/version.py": "version = '1.0'\n", "website/.env": "PUBLIC_SEARCH_API_KEY=0a1b2c3d4e5f\n"}
        for path, text in files.items():
            (shown / path).parent.mkdir(parents=True, exist_ok=True)
            (shown / path).write_text(text)
        commits.append(repository.commit("fix the sum" if core == FIXED else "work"))
    repository.git("tag", "v2")
    ancestor, base, fix = commits
    made = instance(
        base_commit=base,
        gold_patch=difference(repository, base, fix, "calc"),
        test_patch=difference(repository, base, fix, "tests"),
        fail_to_pass=("tests/test_calc.py::test_total_of_several_values",),
        version="1.0",
    )
    sources = Sources([shown.parent], cache)
    trees = [one_commit(sources, TreeRef(made.repo, ancestor)), one_commit(sources, tree_ref(made))]
    gone = dict.fromkeys(trees[0].keys() - trees[1].keys(), b"")
    system = {"etc/os-release": "ID=small\n", "usr/share/ca-certificates/mozilla/one.crt": certificate("one")}
    packages = {f"{SITE}/pytest/__init__.py": "version = '8'\n", **certifi(certificate("old root"))}
    upper = {**trees[1], **{removal(path): content for path, content in gone.items()}}
    return Project(made, repository, ancestor, fix, sources, (system, packages, trees[0], upper))


def difference(repository: Repository, old: str, new: str, path: str) -> str:
    """Return the diff of a path between two commits."""
    made = repository.folder.parent / f"{path}.diff"
    repository.git("diff", f"--output={made}", old, new, "--", path)
    return made.read_text()


def one_commit(sources: Sources, ref: TreeRef) -> dict[str, bytes]:
    """Return a tree with a repository of one commit, as the builds of images make it."""
    import tempfile

    who = {f"GIT_{each}_{key}": value for each in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()}
    with tempfile.TemporaryDirectory() as folder:
        for entry in read_tar(sources.tree(ref)):
            (Path(folder) / entry.path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / entry.path).write_bytes(entry.content)
        for command in (
            ["init", "--quiet", "--template=", "--initial-branch=main"],
            ["add", "--all", "--force"],
            ["-c", "core.logAllRefUpdates=false", "commit", "--quiet", "--no-gpg-sign", "--message", "base"],
        ):
            subprocess.run(["git", *command], cwd=folder, env={**os.environ, **who}, check=True)
        (Path(folder) / ".git/COMMIT_EDITMSG").unlink()
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {f"{ROOT}/{path.relative_to(folder)}": path.read_bytes() for path in files}


_WHO = {"NAME": "Assay", "EMAIL": "assay@localhost", "DATE": "2000-01-01T00:00:00Z"}


def with_poison(project: Project, files: Files, position: str) -> list[Files]:
    """Return the layers of an image with further files at a position."""
    layers: list[Files] = [*project.honest]
    if position == "top":
        return [*layers, files]
    at = 0 if position == "lowest" else 2
    layers[at] = {**layers[at], **files}
    if position == "removed":
        layers.append({removal(path): b"" for path in files})
    if position == "emptied":
        folders = {path.rpartition("/")[0] or path for path in files}
        layers.append({f"{folder}/{OPAQUE}": b"" for folder in folders if folder != ROOT})
    return layers


def removal(path: str) -> str:
    """Return the entry of a layer that removes a path."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{WHITEOUT}{name}".strip("/")


def archive_of(name: str, layers: Sequence[Files], **config: object) -> bytes:
    """Return an image in the form of ``docker save``."""
    packed = [_tar(files) for files in layers]
    digests = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in packed]
    history = [{"created_by": f"step {number}"} for number in range(len(layers))]
    about = {
        "architecture": "amd64",
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": digests},
        "config": {"WorkingDir": f"/{ROOT}", **config},
        "history": history,
    }
    if "history" in config:
        about["history"] = [{"created_by": text} for text in config["history"]]  # type: ignore[attr-defined]
        about["config"] = {"WorkingDir": f"/{ROOT}"}
    names = [f"{digest.removeprefix('sha256:')}.tar" for digest in digests]
    listed = [{"Config": "config.json", "RepoTags": [name], "Layers": names}]
    documents = {"config.json": json.dumps(about), "manifest.json": json.dumps(listed)}
    return _tar({**documents, **dict(zip(names, packed, strict=True))})


def _tar(files: Files) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in sorted(files.items()):
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def certificate(name: str) -> str:
    """Return what looks like a certificate."""
    import base64

    body = base64.encodebytes(hashlib.sha512(name.encode()).digest() * 4).decode()
    return f"-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n"


def certifi(bundle: str, recorded: str = "") -> dict[str, str]:
    """Return certifi's files with a bundle, whose hash is recorded as that of another one if one is given."""
    import base64

    digest = hashlib.sha256((recorded or bundle).encode()).digest()
    hashed = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    record = f"certifi/__init__.py,,\ncertifi/cacert.pem,sha256={hashed},{len(bundle)}\n"
    return {f"{SITE}/certifi/cacert.pem": bundle, f"{SITE}/certifi-2020.1.1.dist-info/RECORD": record}
