"""Images made for real, from a small project in a git repository and the package index."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance, Prediction, PublishedImage, Recipe, Service, Status
from assay.harness.engines.base import Box, BoxSpec
from assay.harness.engines.build_limits import BuildLimits
from assay.harness.engines.docker_build import find_builder
from assay.harness.engines.fake import open_engine
from assay.harness.errors import EnvironmentFailure
from assay.harness.evaluation.evaluate import Task, evaluate
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe
from assay.instances.trees.sources import Sources
from toy import make_instance
from toys import Repository

PROJECT = """\
[build-system]
requires = ["{setuptools}"]
build-backend = "setuptools.build_meta"

[project]
name = "calc"
version = "1.0"
scripts = {{ calc = "calc:main" }}

[tool.setuptools]
package-dir = {{ "" = "src" }}
py-modules = ["calc"]
"""
FILLS = "import time\nopen('/opt/fill', 'wb').write(bytes(500_000_000))\ntime.sleep(60)\n"
NEW, OLD = "setuptools>=64", "setuptools>=61,<64"
"""With and without editable wheels."""

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("build")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture(scope="module")
def made(docker_engine) -> Iterator[set[str]]:
    """Names of the images that these tests built; the environments are shared among them."""
    names: set[str] = set()
    yield names
    for name in sorted(names, reverse=True):  # instances before the environments that they stand on
        docker_engine.remove_image(name)


@pytest.fixture
def builder(docker_engine, toolchain_image, cache, repository, notes, made) -> Iterator[ImageBuilder]:
    yield ImageBuilder(docker_engine, Sources([repository.folder.parent], cache), note=notes.append)
    made |= {note.split()[1] for note in notes if note.startswith("built assay/")}


@pytest.fixture
def project(repository: Repository) -> Callable[..., Instance]:
    """Make an instance of a real repository, whose later history holds the fix."""

    def make(setuptools: str = NEW, **recipe: Any) -> Instance:
        write(repository, "pyproject.toml", PROJECT.format(setuptools=setuptools))
        write(repository, "src/calc.py", "def add(a, b):\n    return a - b\n\ndef main():\n    print(add(1, 2))\n")
        write(repository, "tests/test_calc.py", "import calc\n\ndef test_same():\n    assert calc.add(0, 0) == 0\n")
        write(repository, ".gitignore", "*.log\n")
        write(repository, "kept.log", "tracked though ignored\n")
        commit = repository.commit()
        write(repository, "src/calc.py", "def add(a, b):\n    return a + b\n")
        repository.commit("the fix")
        repository.git("tag", "v2")
        return make_instance(repo="acme/work", base_commit=commit, environment=Recipe(**recipe))

    call(repository, "work")
    return make


def write(repository: Repository, path: str, text: str) -> None:
    file = repository.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def call(repository: Repository, name: str) -> None:
    repository.folder = repository.folder.rename(repository.folder.with_name(f"acme__{name}"))


def said(box: Box, command: str, user: str = "assay") -> str:
    done = box.exec(["sh", "-c", command], user=user, workdir="/testbed")
    text = done.output.decode()
    assert done.exit_code == 0, text
    return text.strip()


@pytest.mark.parametrize(
    "setuptools", [NEW, pytest.param(OLD, marks=pytest.mark.exhaustive)], ids=["editable wheel", "develop"]
)
def test_an_instance_image_holds_the_base_tree_and_nothing_more(
    builder, project, docker_engine, repository, setuptools
):
    instance = project(setuptools)

    with docker_engine.open(BoxSpec(builder.build_image(instance))) as box:
        assert said(box, "git rev-parse HEAD^{tree}") == repository.git("rev-parse", f"{instance.base_commit}^{{tree}}")
        assert said(box, "git log --all --format='%an %s'") == "Assay base"
        assert said(box, "git for-each-ref --format='%(refname)'; git remote; ls .git/logs 2>&1 || true") == (
            "refs/heads/main\nls: cannot access '.git/logs': No such file or directory"
        )
        assert said(box, "git status --porcelain") == ""
        assert said(box, "git fsck --unreachable --no-progress 2>&1") == ""
        assert said(box, "cat kept.log") == "tracked though ignored"
        # Installed so that an edit by the tests' user takes effect.
        assert said(box, "cd /tmp && python -c 'import calc; print(calc.__file__)'") == "/testbed/src/calc.py"
        assert said(box, "calc && sed -i 's/a - b/a + b/' src/calc.py && calc").split() == ["-1", "3"]
        assert said(box, "python -m pytest --version").startswith("pytest 7.2.1")
        assert (
            said(box, "find / -xdev \\( -name uv -o -path /run/secrets -o -path /build \\) 2>/dev/null || true") == ""
        )
        assert said(box, "touch /opt/venv/x 2>/dev/null || echo refused") == "refused"


def test_an_image_on_the_engine_is_not_built_again(builder, project, notes, docker_engine):
    instance = project()
    with ThreadPoolExecutor(2) as pool:
        both = set(pool.map(builder.build_image, [instance, instance]))
    built = [note for note in notes if note.startswith("building assay/instance")]
    before = list(notes)

    assert both == {builder.build_image(instance)}
    assert len(built) == 1
    assert notes == before
    assert docker_engine.find_image(both.pop()).labels["assay.repo"] == "acme/work"


@pytest.mark.exhaustive
def test_the_plain_builder_makes_the_same_image(builder, project, docker_engine, monkeypatch):
    monkeypatch.setenv("ASSAY_BUILDER", "plain")
    find_builder.cache_clear()
    try:
        # A package that no other test wants, so that the environment is built too.
        image = builder.build_image(project(packages=("pytest", "iniconfig<2")))
    finally:
        find_builder.cache_clear()

    with docker_engine.open(BoxSpec(image)) as box:
        assert said(box, "calc") == "-1"
        assert said(box, "stat -c %U:%G . .git src/calc.py /opt/venv/bin/pytest").split() == ["assay:assay"] * 3 + [
            "root:root"
        ]
        assert said(box, "ls -d /run/secrets /build 2>/dev/null || echo gone", user="root") == "gone"


def test_a_failed_build_carries_its_log_and_leaves_no_image(builder, project, docker_engine, notes):
    instance = project(install=("echo compiling", "echo no such header >&2; exit 3"))

    with pytest.raises(EnvironmentFailure, match=r"assay/instance-acme__work:.* could not be built") as caught:
        builder.build_image(instance)

    assert "no such header" in caught.value.tail
    assert Path(caught.value.log_path).is_file()
    name = next(note.split()[1] for note in notes if note.startswith("building assay/instance"))
    assert docker_engine.find_image(name) is None


def history(repository: Repository) -> list[str]:
    """Commit the first trees of a quarter and of a month, and one more; they differ in all ways in which trees can."""
    write(repository, "pyproject.toml", PROJECT.format(setuptools=NEW))
    write(repository, "src/calc.py", "def main():\n    print(1)\n")
    for path in ("gone/with/all.py", "stays/one.py", "stays/two.py", "folder_then_file/x.py", "script.sh", "crlf.txt"):
        write(repository, path, "old\n")
    write(repository, "file_then_folder", "old\n")
    write(repository, "crlf.txt", "a\r\nb\r\n")
    commits = [repository.commit(date="2023-01-10T00:00:00Z")]
    for path in ("gone/with/all.py", "stays/two.py", "folder_then_file/x.py", "file_then_folder"):
        (repository.folder / path).unlink()
    (repository.folder / "folder_then_file").rmdir()
    write(repository, "folder_then_file", "new\n")
    write(repository, "file_then_folder/grüße \n.py", "new\n")
    commits.append(repository.commit(date="2023-03-02T00:00:00Z"))
    (repository.folder / "script.sh").chmod(0o755)
    (repository.folder / "link").symlink_to("script.sh")
    write(repository, ".gitattributes", "*.txt text\n")
    write(repository, "src/calc.py", "def main():\n    print(3)\n")
    return [*commits, repository.commit(date="2023-03-10T00:00:00Z")]


def test_an_instance_over_the_trees_of_its_neighbours_is_the_same_as_alone(builder, repository, docker_engine, notes):
    call(repository, "layers")
    commit = history(repository)[-1]
    listed = "find . -name .git -prune -o -printf '%p %m %u %l\\n' | sort"
    shown = f"git rev-parse HEAD; git status --porcelain; git fsck --unreachable 2>&1; {listed}"

    def tree_of(commit: str) -> str:
        with docker_engine.open(
            BoxSpec(builder.build_image(make_instance(repo="acme/layers", base_commit=commit)))
        ) as box:
            assert said(box, "cd /tmp && calc") == "3"
            return said(box, shown)

    over = tree_of(commit)
    layers = [note.split()[1] for note in notes if note.startswith("building assay/")]
    repository.git("checkout", "--quiet", "--orphan", "alone")
    alone = tree_of(repository.commit(date="2023-03-10T00:00:00Z"))

    assert sum("/tree-acme__layers" in name for name in layers) == 2
    assert "gone" not in over
    assert over == alone


@pytest.mark.parametrize(
    "case",
    [("broken", "raise SystemExit('broken then')\n", "could not be built"), ("filling", FILLS, "more than 400 MB")],
)
def test_neighbours_whose_tree_cannot_be_installed_are_done_without(
    builder, repository, notes, case, docker_engine, monkeypatch
):
    name, setup, reason = case
    monkeypatch.setattr(docker_engine, "build_limits", BuildLimits(disk_mb=400))
    call(repository, name)
    write(repository, "setup.py", setup)
    repository.commit(date="2023-02-10T00:00:00Z")
    write(repository, "setup.py", "from setuptools import setup\nsetup(name='calc')\n")
    instance = make_instance(repo=f"acme/{name}", base_commit=repository.commit(date="2023-03-10T00:00:00Z"))

    image = builder.build_image(instance)

    assert any("cannot share the trees of its neighbours" in note and reason in note for note in notes)
    notes.clear()
    assert builder.build_image(instance) == image
    assert notes == []  # nothing is tried again


def test_image_that_gives_the_answer_away_fails_its_build_each_time(builder, project):
    secret = "printf 'machine h login me password p4ss' > /opt/.netrc"
    instance = project(install=(secret, "git branch next"))

    for _ in range(2):
        with pytest.raises(EnvironmentFailure, match=r"the audit of image assay/instance-acme__work") as caught:
            builder.build_image(instance)
        assert "\n  credential: opt/.netrc in layer" in str(caught.value)
        assert "\n  refs: testbed/.git/refs/heads/next in layer" in str(caught.value)


def test_packages_that_cannot_be_resolved_are_resolved_once_for_all_who_share_them(builder, project, notes):
    instance = project(packages=("pytest", "assay-has-no-such-package"))

    def ask(number: int) -> EnvironmentFailure:
        with pytest.raises(EnvironmentFailure, match=r"packages of acme/work as of .* cannot be resolved") as caught:
            builder.build_image(instance.model_copy(update={"id": f"acme__work-{number}"}))
        return caught.value

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(ask, range(8)))

    resolved = [note for note in notes if note.startswith("resolving")]
    assert len(resolved) == len(set(resolved))  # each date once
    assert len({(str(each), each.tail) for each in said}) == 1
    assert "assay-has-no-such-package" in said[0].cause
    assert Path(said[0].log_path).read_text(encoding="utf-8").strip() == said[0].tail


def test_builds_do_not_reach_the_network(builder, project):
    connect = "import socket; socket.create_connection(('1.1.1.1', 53), 3)"

    with pytest.raises(EnvironmentFailure) as caught:
        builder.build_image(project(install=(f'python -c "{connect}"',)))

    assert "Network is unreachable" in caught.value.tail


def test_generated_files_are_ignored_and_changed_ones_restored(builder, project, docker_engine):
    install = (
        "echo x > generated.py",
        "echo changed >> src/calc.py",
        "echo $SETUPTOOLS_SCM_PRETEND_VERSION > version.txt",
    )
    instance = project(install=install, pretend_version=True).model_copy(update={"version": "4.2"})

    with docker_engine.open(BoxSpec(builder.build_image(instance))) as box:
        assert said(box, "git status --porcelain") == ""
        assert said(box, "cat generated.py version.txt").split() == ["x", "4.2"]
        assert "changed" not in said(box, "cat src/calc.py")


def test_downloads_are_there_while_the_project_is_installed(builder, project, docker_engine, tmp_path):
    (tmp_path / "lib.txt").write_text("source\n")
    file = {"url": (tmp_path / "lib.txt").as_uri(), "sha256": sha256(b"source\n").hexdigest()}
    instance = project(
        downloads=[{"path": "deep/lib-1.0.txt", **file}], install=["cp /opt/downloads/deep/lib-1.0.txt built.txt"]
    )

    with docker_engine.open(BoxSpec(builder.build_image(instance))) as box:
        assert said(box, "cat built.txt") == "source"
        assert said(box, "touch /opt/downloads/x 2>/dev/null || echo refused") == "refused"


def test_a_download_with_other_bytes_is_an_environment_failure(builder, project, tmp_path):
    (tmp_path / "lib.txt").write_text("changed since\n")
    file = {"path": "lib.txt", "url": (tmp_path / "lib.txt").as_uri(), "sha256": "0" * 64}

    with pytest.raises(EnvironmentFailure, match=r"lib\.txt: file:.*/lib\.txt has sha256 .*, not 000"):
        builder.build_image(project(downloads=[file]))


def test_a_tree_that_is_no_project_has_its_requirements_and_modules(builder, repository, docker_engine):
    write(repository, "calc.py", "def add(a, b):\n    return a + b\n")
    write(repository, "requirements.txt", "iniconfig==2.0.0\n")
    write(repository, "pyproject.toml", "[tool.black]\nline-length = 99\n")
    commit = repository.commit()
    call(repository, "plain")
    instance = make_instance(repo="acme/plain", base_commit=commit)

    with docker_engine.open(BoxSpec(builder.build_image(instance))) as box:
        assert said(box, "cd /tmp && python -c 'import calc, iniconfig; print(calc.add(1, 2))'") == "3"
        assert said(box, "git status --porcelain") == ""
        assert said(box, "python -m pytest --version").startswith("pytest ")


def test_an_aborted_builder_starts_nothing_new(builder, project, notes):
    builder.abort()

    with pytest.raises(EnvironmentFailure, match="interrupted before"):
        builder.build_image(project(packages=("pytest", "never-asked-for")))

    assert notes == []


def test_a_published_image_that_cannot_be_pulled_is_an_environment_failure(builder):
    published = PublishedImage(image="localhost:1/acme/absent:1", eval_script="true")

    with pytest.raises(EnvironmentFailure, match="localhost:1/acme/absent:1"):
        builder.build_image(make_instance(environment=published))


def test_a_published_image_on_the_engine_is_handed_over_in_a_layer_of_its_own(sources):
    instance = make_instance(environment=PublishedImage(image="acme__calc-1", eval_script="pytest"))
    engine = open_engine()
    image = engine.act_out(instance)
    instance = instance.model_copy(update={"environment": PublishedImage(image=image, eval_script="pytest")})

    assert ImageBuilder(engine, sources).build_image(instance).startswith("assay/published:")


DATED = """\
diff --git a/tests/test_dated.py b/tests/test_dated.py
new file mode 100644
--- /dev/null
+++ b/tests/test_dated.py
@@ -0,0 +1,7 @@
+import datetime, socket
+
+def test_the_certificate_is_valid():
+    assert datetime.date.today() < datetime.date(2014, 6, 1)
+
+def test_the_service_answers():
+    socket.create_connection(("echo.example.org", 80)).close()
"""


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "not declared"])
def test_the_recipes_service_and_time_reach_the_tests(builder, project, docker_engine, declared):
    echo = Service(name="echo.example.org", command="exec python3 -m http.server 80 --directory /srv", port=80)
    loosened = {"services": (echo,), "faketime": "2014-05-01 00:00:00"} if declared else {}
    instance = project(**loosened)
    instance = instance.model_copy(update={"test_patch": DATED, "gold_patch": ""})
    plan = make_plan(instance, find_recipe(instance))
    task = Task(instance, Prediction(instance_id=instance.id), plan, runs_empty=True)

    evidence = evaluate(task, builder.build_image(instance), docker_engine).evidence

    tests = {name.rpartition("::")[2]: status for name, status in evidence.report.tests.items() if "dated" in name}
    expected = Status.PASSED if declared else Status.FAILED
    assert tests == {
        "test_the_certificate_is_valid": expected,
        "test_the_service_answers": expected,
    }
    assert evidence.flags == (("service:echo.example.org", "faketime") if declared else ())
    assert not evidence.timed_out
