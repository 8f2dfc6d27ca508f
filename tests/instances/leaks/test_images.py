"""Images with one thing in them that gives the answer away: each is found, whichever layer it is in."""

import gzip
import io
import json
import py_compile
import shutil
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cache
from hashlib import md5
from pathlib import Path

import pytest

from assay.harness.domain import Instance, TreeRef
from assay.harness.engines import docker_images
from assay.harness.engines.docker import DockerEngine
from assay.harness.errors import EnvironmentFailure
from assay.instances.leaks.audit import ImageAudit, ImageReport, ImageRule
from assay.instances.leaks.reading import read_layer
from assay.instances.leaks.unpacked import object_id
from corpus.model import diff
from poisoned import (
    BASE,
    FIXED,
    NEW_TESTS,
    OLD,
    OTHER,
    POSITIONS,
    ROOT,
    SITE,
    Files,
    Poison,
    Project,
    archive_of,
    certifi,
    certificate,
    make_project,
    with_poison,
)
from toys import Repository, make_archive

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("images-audit")]


def loose(kind: bytes, content: bytes, folder: str = f"{ROOT}/.git") -> Files:
    """Return a git object in a file of its own."""
    name = object_id(kind, content)
    return {f"{folder}/objects/{name[:2]}/{name[2:]}": zlib.compress(b"%s %d\0%s" % (kind, len(content), content))}


def pack(project: Project) -> Files:
    """Return a pack of all objects up to the fix."""
    project.repository.git("repack", "-a", "-d", "-q")
    folder = project.repository.folder / ".git/objects/pack"
    return {f"{ROOT}/.git/objects/pack/{each.name}": each.read_bytes() for each in folder.iterdir()}


def bare(project: Project) -> Files:
    """Return another clone of the project, elsewhere in the image."""
    project.repository.git("repack", "-a", "-d", "-q")
    top = project.repository.folder / ".git"
    files = {each.relative_to(top): each.read_bytes() for each in top.rglob("*") if each.is_file()}
    return {f"root/cache/calc.git/{path}": content for path, content in files.items()}


def zipped(files: Files) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in files.items():
            made.writestr(path, content)
    return packed.getvalue()


def bytecode(source: str, folder: Path) -> bytes:
    (folder / "test_calc.py").write_text(source)
    compiled = py_compile.compile(str(folder / "test_calc.py"), doraise=True)
    assert compiled
    return Path(compiled).read_bytes()


def rows(project: Project) -> str:
    row = {"instance_id": "acme__calc-1", "patch": project.instance.gold_patch, "text": 'quoted "so"'}
    return json.dumps(row) + "\n"


RELEASE: Files = {"calc/__init__.py": "version = '2'\n", "calc/core.py": "# rewritten\n", "calc/text.py": OTHER}
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n"
POISONS = {
    "a loose object": Poison("objects", "", lambda _: loose(b"blob", b"what comes later\n")),
    "a later commit": Poison("objects", "", lambda p: loose(b"commit", f"tree {'0' * 40}\n\n{p.fix}\n".encode())),
    "a pack": Poison("objects", f"{ROOT}/.git/objects/pack/*.idx", pack),
    "a clone elsewhere": Poison("objects", "root/cache/calc.git/objects/pack/*.idx", bare),
    "a tag": Poison("refs", "", lambda p: {f"{ROOT}/.git/refs/tags/v2": p.fix}),
    "a packed tag": Poison("refs", "", lambda p: {f"{ROOT}/.git/packed-refs": f"# pack-refs\n{p.fix} refs/tags/v2\n"}),
    "a remote branch": Poison("refs", "", lambda p: {f"{ROOT}/.git/refs/remotes/origin/main": p.fix}),
    "a second branch": Poison("refs", "", lambda p: {f"{ROOT}/.git/refs/heads/next": p.fix}),
    "a reflog": Poison("refs", "", lambda p: {f"{ROOT}/.git/logs/HEAD": f"{'0' * 40} {p.fix} a <a> 1 +0\tpull\n"}),
    "a remote": Poison("refs", "", lambda _: {f"{ROOT}/.git/config": '[remote "origin"]\n\turl = x\n'}),
    "an alternate": Poison("refs", "", lambda _: {f"{ROOT}/.git/objects/info/alternates": "/srv/calc/objects\n"}),
    "a fetched head": Poison("refs", "", lambda p: {f"{ROOT}/.git/FETCH_HEAD": f"{p.fix}\t\tbranch 'main' of x\n"}),
    "the gold patch": Poison("gold", "", lambda p: {"home/fix.patch": p.instance.gold_patch}),
    "the fixed file": Poison("gold", "", lambda _: {"srv/backup/core.py": FIXED}),
    "a hunk in notes": Poison("gold", "", lambda _: {"root/notes.md": f"Do this:\n\n{FIXED[:160]}"}),
    "rows of a data set": Poison("gold", "", lambda p: {"data/rows.jsonl": rows(p)}),
    "a compressed patch": Poison(
        "gold", "root/x.gz!content", lambda p: {"root/x.gz": gzip.compress(p.instance.gold_patch.encode())}
    ),
    "a cached wheel": Poison(
        "gold",
        "root/.cache/pip/wheels/calc-2.0-py3-none-any.whl!calc/core.py",
        lambda _: {"root/.cache/pip/wheels/calc-2.0-py3-none-any.whl": zipped({"calc/core.py": FIXED})},
    ),
    "an object of another repository": Poison("gold", "*!blob", lambda _: loose(b"blob", FIXED.encode(), "srv/x.git")),
    "the test patch": Poison("hidden_tests", "", lambda p: {"home/test.patch": p.instance.test_patch}),
    "the hidden tests": Poison("hidden_tests", "", lambda _: {"tmp/test_calc.py": NEW_TESTS}),
    "a list of tests": Poison(
        "test_ids", "", lambda p: {"eval/tests.json": json.dumps({"FAIL_TO_PASS": list(p.instance.fail_to_pass)})}
    ),
    "bytecode of the tests": Poison(
        "test_ids", "", lambda p: {"opt/c/test_calc.pyc": bytecode(NEW_TESTS, p.repository.folder)}
    ),
    "a later release installed": Poison(
        "later_release",
        f"{SITE}/calc/__init__.py",
        lambda _: (
            {f"{SITE}/{path}": text for path, text in RELEASE.items()}
            | {f"{SITE}/calc-2.0.dist-info/METADATA": "Name: calc\nVersion: 2.0\n"}
        ),
    ),
    "a later release cached": Poison(
        "later_release",
        "opt/cache/calc-2.0.tar.gz!calc-2.0/calc/__init__.py",
        lambda _: {"opt/cache/calc-2.0.tar.gz": make_archive("calc-2.0", RELEASE)},
    ),
    ".netrc": Poison("credential", "", lambda _: {"root/.netrc": "machine h login me password p4ss\n"}),
    ".npmrc": Poison("credential", "", lambda _: {"home/assay/.npmrc": "//r/:_authToken=npm_abc\n"}),
    "docker's": Poison("credential", "", lambda _: {"root/.docker/config.json": '{"auths": {"r": {"auth": "bTpw"}}}'}),
    "pip's": Poison("credential", "", lambda _: {"etc/pip.conf": "[global]\nextra-index-url = https://me:pw1@h/\n"}),
    "a token in a profile": Poison("credential", "", lambda _: {"root/.bashrc": "export GITHUB_TOKEN=ghp_x1\n"}),
    "a private key": Poison("credential", "", lambda _: {"root/.ssh/id_ed25519": KEY}),
    "apt's proxy": Poison("proxy", "", lambda _: {"etc/apt/apt.conf.d/9p": 'Acquire::http::Proxy "http://p:1";\n'}),
    "a proxy for all": Poison("proxy", "", lambda _: {"etc/environment": "https_proxy=http://proxy.corp:3128\n"}),
    "git's proxy": Poison("proxy", "", lambda _: {"root/.gitconfig": "[http]\n\tproxy = http://proxy.corp\n"}),
    "a certificate": Poison("ca", "", lambda _: {"usr/local/share/ca-certificates/corp.crt": certificate("corp")}),
    "a bundle": Poison("ca", "", lambda _: {"etc/pki/tls/cert.pem": certificate("one") + certificate("corp")}),
    "certifi's bundle": Poison(
        "ca",
        f"{SITE}/certifi/cacert.pem",
        lambda _: certifi(certificate("old root") + certificate("corp"), certificate("old root")),
    ),
}
SETTINGS = {
    "a token": Poison("credential", "(environment)", config={"Env": ["API_KEY=sk-123456"]}),
    "a proxy": Poison("proxy", "(environment)", config={"Env": ["PATH=/bin", "HTTPS_PROXY=http://p:3128"]}),
    "a bundle": Poison("ca", "(environment)", config={"Env": ["SSL_CERT_FILE=/etc/corp.pem"]}),
    "a label": Poison("credential", "(labels)", config={"Labels": {"org.password": "p4ssw"}}),
    "a build argument": Poison("credential", "(build history)", config={"history": ["RUN |1 NPM_TOKEN=npm_12 npm ci"]}),
    "an address": Poison("credential", "(build history)", config={"history": ["RUN git clone https://me:s3cr3t@h/x"]}),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("mirror") / "acme__calc"
    folder.mkdir()
    repository = Repository(folder)
    repository.git("init", "--quiet", "--initial-branch=main")

    def instance(**fields: object) -> Instance:
        given = {"id": "acme__calc-1", "repo": "acme/calc", "problem_statement": "the sum is wrong"}
        return Instance.model_validate({**given, "pass_to_pass": (), "created_at": "2020-01-02T00:00:00Z", **fields})

    return make_project(repository, tmp_path_factory.mktemp("cache"), instance)


@pytest.fixture(scope="module")
def loaded(docker_engine: DockerEngine) -> Iterator[Callable[..., str]]:
    """Give layers to the engine as an image, and return its name."""
    names = []

    def load(layers: Sequence[Files], **config: object) -> str:
        name = f"assay/test-audit:{uuid.uuid4().hex[:12]}"
        docker_engine.load([archive_of(name, layers, **config)])
        names.append(name)
        return name

    yield load
    for name in names:
        docker_engine.remove_image(name)


@pytest.fixture(scope="module")
def audited(docker_engine: DockerEngine, project: Project, loaded: Callable[..., str]) -> Callable[..., ImageReport]:
    def report(layers: Sequence[Files], **config: object) -> ImageReport:
        image = loaded(layers, **config)
        return ImageAudit(docker_engine, project.sources).report(image, project.instance, project.below)

    return report


@pytest.fixture(scope="module")
def poisoned(project: Project, audited: Callable[..., ImageReport]) -> Callable[[str], ImageReport]:
    """Audit the image that has all poisons in the layer of a position, each in files of its own."""
    files = [poison.files(project) for poison in POISONS.values()]
    assert sum(map(len, files)) == len({path for each in files for path in each})
    together = {path: content for each in files for path, content in each.items()}
    return cache(lambda position: audited(with_poison(project, together, position)))


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", POISONS)
def test_poison_in_any_layer_is_found(
    project: Project, poisoned: Callable[[str], ImageReport], kind: str, position: str
) -> None:
    poison, report = POISONS[kind], poisoned(position)
    expected = poison.path or next(iter(poison.files(project)))
    layer = {"lowest": 1, "top": 5}.get(position, 3)
    ours = [each for each in report.faults if each.layer == layer and fnmatch(each.path, expected)]
    assert poison.rule in {each.rule for each in ours}, f"{expected} is not in {report.findings}"
    assert all(each.hidden for each in ours if position == "removed")


@pytest.mark.parametrize("kind", ["a tag", "the gold patch", "a cached wheel", ".netrc", "certifi's bundle"])
def test_poison_is_found_by_its_rule_alone(project: Project, audited: Callable[..., ImageReport], kind: str) -> None:
    report = audited(with_poison(project, POISONS[kind].files(project), "top"))
    assert {each.rule for each in report.findings} == {POISONS[kind].rule}


@pytest.mark.parametrize("kind", SETTINGS)
def test_secret_in_an_images_settings_is_found(
    project: Project, audited: Callable[..., ImageReport], kind: str
) -> None:
    poison = SETTINGS[kind]
    faults = audited(project.honest, **poison.config).faults
    assert [(each.rule, each.path) for each in faults] == [(poison.rule, poison.path)]


def test_honest_image_has_no_finding_and_is_read_once(project: Project, audited: Callable[..., ImageReport]) -> None:
    first, again = audited(project.honest), audited(project.honest)
    assert (first.findings, first.layers, again.findings, again.layers_read) == ((), 4, (), 0)
    assert audited([*project.honest, {"etc/motd": "hello\n"}]).layers_read == 1


@pytest.mark.parametrize(
    "files",
    [
        {f"{SITE}/pytest/_vendor/other/core.py": OLD},
        {"srv/calc-0.9/calc/core.py": OLD, "srv/calc-0.9/calc/__init__.py": "", "srv/calc-0.9/calc/text.py": OTHER},
        {"srv/copy/calc/core.py": BASE, "srv/copy/calc/__init__.py": "", "srv/copy/calc/text.py": OTHER},
        {"usr/share/doc/x/notes": "the total of several values; see tests/test_calc.py::test_nothing\n"},
        {f"{SITE}/other-2.0/version/version.py": "version = '2.0'\n"},
        {"srv/lib.git/HEAD": "ref: refs/heads/x\n", "srv/lib.git/refs/tags/v9": "0" * 40},
    ],
)
def test_what_an_ancestor_or_another_project_has_is_no_leak(
    project: Project, audited: Callable[..., ImageReport], files: Files
) -> None:
    assert audited([*project.honest, files]).findings == ()


def test_settings_of_a_package_leak_only_if_changed(project: Project, audited: Callable[..., ImageReport]) -> None:
    keys, name = f"export API_KEY=AIza{'k' * 35}\n".encode(), "etc/profile.d/keys.sh"
    layers = [*project.honest, {name: keys, "var/lib/dpkg/status": f" /{name} {md5(keys).hexdigest()}\n"}]
    assert not audited(layers).faults
    assert audited([*layers, {name: keys * 2}]).faults


def test_tag_of_the_base_commit_itself_is_no_leak(project: Project, audited: Callable[..., ImageReport]) -> None:
    base = {f"{ROOT}/.git/refs/{name}": f"{project.instance.base_commit}\n" for name in ("heads/main", "tags/v1.2")}
    assert not [each for each in audited([*project.honest, base]).findings if each.rule == "refs"]


WANTED = ("distributed-arithmetic==4.2.0", "another-good-package==1.0.0")
MANIFEST = diff({"requirements.txt": "first==1\n"}, {"requirements.txt": "\n".join(("first==1", *WANTED, ""))})


@pytest.mark.parametrize(
    ("text", "faults"), [("\n".join(("other==3", *WANTED, "last==2\n")), ()), (MANIFEST, ("gold",))]
)
def test_packages_that_another_project_wants_too_are_no_leak_but_the_patch_itself_is(
    docker_engine: DockerEngine, project: Project, loaded: Callable[..., str], text: str, faults: tuple[str, ...]
) -> None:
    instance = project.instance.model_copy(update={"gold_patch": MANIFEST})
    image = loaded([*project.honest, {"usr/share/other/requirements.txt": text}])
    report = ImageAudit(docker_engine, project.sources).report(image, instance, project.below)
    assert tuple(each.rule for each in report.faults) == faults


@pytest.mark.parametrize(
    "files",
    [
        {f"{SITE}/pip/_vendor/{path}": text for path, text in RELEASE.items()},
        {"usr/share/python-wheels/calc-2.0-py3-none-any.whl": zipped(RELEASE)},
    ],
)
def test_release_that_a_client_carries_within_itself_is_a_doubt(
    project: Project, audited: Callable[..., ImageReport], files: Files
) -> None:
    report = audited([*project.honest, files])
    assert not report.faults
    assert [each.rule for each in report.findings] == [ImageRule.RELEASE]


@pytest.mark.parametrize(
    ("folder", "is_fault"),
    [
        ("usr/lib/python3.11", False),
        ("usr/local/lib/python3.12/json", False),
        ("opt/miniconda3/envs/testbed/lib/python3.9", False),
        ("usr/lib/python3/dist-packages/calc", True),
        ("home/lib/python3.11", True),
        ("usr/local/lib/python3.12/site-packages/calc", True),
    ],
)
def test_hunk_in_the_standard_library_is_a_doubt(
    project: Project, audited: Callable[..., ImageReport], folder: str, is_fault: bool
) -> None:
    report = audited([*project.honest, {f"{folder}/text.patch": project.instance.gold_patch}])
    assert [each.rule for each in report.findings] == [ImageRule.GOLD]
    assert bool(report.faults) is is_fault


def test_object_of_an_ancestor_that_a_container_sees_is_found(
    project: Project, audited: Callable[..., ImageReport]
) -> None:
    report = audited([*project.honest[:3], {**project.honest[2], **project.honest[3]}])
    assert [each.rule for each in report.faults] == [ImageRule.OBJECTS]
    assert "earlier commits" in report.faults[0].what


def test_history_of_a_published_image_is_a_doubt_and_later_commits_are_a_fault(
    docker_engine: DockerEngine, project: Project, loaded: Callable[..., str], tmp_path: Path
) -> None:
    audit = ImageAudit(docker_engine, project.sources)
    earlier = Repository(tmp_path)
    earlier.git("init", "--quiet", "--initial-branch=main")
    earlier.git("fetch", "--quiet", str(project.repository.folder), project.instance.base_commit)
    earlier.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    (tmp_path / ".git/FETCH_HEAD").unlink()
    (tmp_path / ".git/ORIG_HEAD").unlink(missing_ok=True)
    shutil.rmtree(tmp_path / ".git/logs")
    files = {
        f"{ROOT}/{each.relative_to(tmp_path)}": each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()
    }
    report = audit.report(loaded([files]), project.instance, strict=False)
    assert (report.faults, {each.rule for each in report.findings}) == ((), {ImageRule.OBJECTS})
    report = audit.report(loaded([files, pack(project)]), project.instance, strict=False)
    assert {each.rule for each in report.faults} == {ImageRule.OBJECTS, ImageRule.GOLD, ImageRule.TESTS}


def test_image_of_no_instance_is_searched_for_refs_and_secrets(
    docker_engine: DockerEngine, project: Project, loaded: Callable[..., str]
) -> None:
    audit = ImageAudit(docker_engine, project.sources)
    image = loaded([*project.honest, {f"{ROOT}/.git/ORIG_HEAD": project.fix, "root/.netrc": "machine h password x\n"}])
    assert {each.rule for each in audit.report(image).faults} == {ImageRule.REFS, ImageRule.CREDENTIAL}


def test_required_audit_names_rule_path_and_layer(
    docker_engine: DockerEngine, project: Project, loaded: Callable[..., str]
) -> None:
    image = loaded([*project.honest, {"home/fix.patch": project.instance.gold_patch}])
    with pytest.raises(EnvironmentFailure, match=r"failed:\n  gold: home/fix\.patch in layer 5: holds a hunk"):
        ImageAudit(docker_engine, project.sources).require(image, project.instance, project.below)


def test_layers_read_from_an_archive_are_those_that_the_engine_stores(
    docker_engine: DockerEngine, project: Project, loaded: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    image = loaded(with_poison(project, bare(project), "emptied"))
    stored = read_all(docker_engine, image)
    monkeypatch.setattr(docker_images, "find_layer_folders", lambda _driver: [])
    saved = read_all(docker_engine, image)
    assert saved == stored
    assert set(docker_engine.image_config(image).layers) == set(saved)


def read_all(engine: DockerEngine, image: str) -> dict[str, object]:
    """Return the content of every layer by digest; removed paths have no order."""
    found: dict[str, object] = {}
    for layer in engine.read_layers(image, lambda _key: True):
        facts, *hashes = read_layer(layer.files)
        removed = {"removed": tuple(sorted(facts.removed)), "emptied": tuple(sorted(facts.emptied))}
        found[layer.digest] = (facts.model_copy(update=removed), *hashes)
    return found


def test_tree_of_no_ancestor_below_is_found(
    project: Project, docker_engine: DockerEngine, loaded: Callable[..., str]
) -> None:
    """The layers below an image hold the trees that its builder names, and these have to be ancestors."""
    audit = ImageAudit(docker_engine, project.sources)
    image = loaded(project.honest)
    report = audit.report(image, project.instance, [*project.below, TreeRef("acme/calc", project.fix)])
    assert [each.rule for each in report.faults] == [ImageRule.OBJECTS]
