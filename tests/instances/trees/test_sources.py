import shutil
import subprocess
import sys
import tarfile
from datetime import datetime
from pathlib import Path

import pytest

from assay.harness.domain import UNKNOWN_TIME, Archive, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.content import EXECUTABLE, FILE, read_tar
from assay.instances.trees.indexes import WrongArchive
from assay.instances.trees.sources import Sources, fill_date, find_mirror
from toy import make_instance
from toys import Index, Repository

REPO = "Owner/Name"


@pytest.fixture
def commit(repository: Repository) -> str:
    """A tree with all that `git archive` would leave out, rewrite or flatten."""
    folder = repository.folder
    (folder / ".gitattributes").write_text("left_out.py export-ignore\nid.txt export-subst\ncrlf.txt eol=crlf\n")
    (folder / "left_out.py").write_text("kept = True\n")
    (folder / "id.txt").write_text("$Format:%H$\n")
    (folder / "crlf.txt").write_text("a\nb\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    (folder / "dir").mkdir()
    (folder / "dir" / "grüße \n.txt").write_bytes(b"\xff\x00")
    (folder / ("deep/" * 30)).mkdir(parents=True)
    (folder / ("deep/" * 30) / ("n" * 90)).write_text("far down")
    return repository.commit()


def mirror_of(repository: Repository, at: Path) -> Path:
    at.parent.mkdir(parents=True, exist_ok=True)
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(at))
    return at


def make_mirror(repository: Repository, folder: Path, at: str = "owner__name") -> Sources:
    """Return sources with a mirror of the repository as it is now."""
    mirror_of(repository, folder / "mirrors" / at)
    return Sources([folder / "mirrors"], folder / "cache")


def test_tree_of_a_commit_is_what_git_stores(repository: Repository, commit: str, tmp_path: Path) -> None:
    sources = make_mirror(repository, tmp_path)
    tar_path = sources.tree(TreeRef(REPO, commit))

    out = tmp_path / "out"
    with tarfile.open(tar_path) as tar:
        tar.extractall(out, filter="tar")
    again = Repository(out)
    again.git("init", "--quiet")
    (out / ".gitattributes").rename(tmp_path / "attributes")  # so that `add` takes the bytes as they are
    again.git("add", "--all", "--force")
    (tmp_path / "attributes").rename(out / ".gitattributes")
    again.git("add", ".gitattributes")
    assert again.git("write-tree") == repository.git("rev-parse", f"{commit}^{{tree}}")


def test_a_tree_with_a_patch_on_top_has_the_patched_files(repository: Repository, commit: str, tmp_path: Path) -> None:
    (repository.folder / "crlf.txt").write_bytes(b"a\nc\n")
    patch = repository.git("diff") + "\n"
    mirror = mirror_of(repository, tmp_path / "mirrors" / "owner__name")
    before = sorted(path for path in mirror.rglob("*"))
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")

    plain, patched = TreeRef(REPO, commit), TreeRef(REPO, commit, patch=patch)
    assert (sources.read_file(plain, "crlf.txt"), sources.read_file(patched, "crlf.txt")) == (b"a\nb\n", b"a\nc\n")
    assert sources.read_file(patched, "left_out.py") == b"kept = True\n"
    assert sorted(path for path in mirror.rglob("*")) == before
    with pytest.raises(EnvironmentFailure, match="a patch of the tree does not apply"):
        sources.tree(TreeRef(REPO, commit, patch=patch.replace("-b", "-x")))


def test_an_instance_without_a_time_gets_that_of_its_commit(repository: Repository, tmp_path: Path) -> None:
    base = repository.commit()
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    undated = make_instance(repo=REPO, base_commit=base, created_at=UNKNOWN_TIME)
    assert fill_date(undated, sources) == undated
    mirror_of(repository, tmp_path / "mirrors" / "owner__name")
    assert fill_date(undated, sources).created_at == datetime.fromisoformat(
        repository.git("show", "-s", "--format=%cI")
    )
    known = make_instance(repo=REPO, base_commit=base)
    assert fill_date(known, sources) == known


def test_equal_trees_give_equal_bytes(repository: Repository, commit: str, tmp_path: Path) -> None:
    mirror_of(repository, tmp_path / "mirrors" / "owner__name")
    first, second = (Sources([tmp_path / "mirrors"], tmp_path / name) for name in ("one", "two"))
    ref = TreeRef(REPO, commit)
    assert first.tree(ref).read_bytes() == second.tree(ref).read_bytes()


def test_a_submodule_is_an_empty_folder(repository: Repository, tmp_path: Path) -> None:
    head = repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},vendored")
    repository.git("commit", "--quiet", "-m", "submodule")
    commit = repository.git("rev-parse", "HEAD")
    with tarfile.open(make_mirror(repository, tmp_path).tree(TreeRef(REPO, commit))) as tar:
        assert [(member.name, member.isdir()) for member in tar] == [("vendored", True)]


@pytest.mark.parametrize(
    "place",
    [
        *("owner/name", "owner/name.git", "OWNER/Name", "owner__name", "Owner+Name"),
        *("owner+name/repo", "owner+name.git", "owner__name/.git", "owner/name/repo/.git"),
    ],
)
def test_a_mirror_is_found_under_every_usual_name(
    repository: Repository, commit: str, tmp_path: Path, place: str
) -> None:
    made = mirror_of(repository, tmp_path / "mirrors" / place)
    (tmp_path / "mirrors" / "other__name").mkdir(parents=True)
    assert list(find_mirror(tmp_path / "mirrors", REPO)) == [made]
    assert Sources([tmp_path / "mirrors"], tmp_path / "cache").exists(TreeRef(REPO, commit))


def test_a_commit_that_the_first_mirror_lacks_is_read_from_the_second(
    repository: Repository, commit: str, tmp_path: Path
) -> None:
    mirror_of(repository, tmp_path / "old" / "owner__name")
    (repository.folder / "later.txt").write_text("later")
    later = repository.commit()
    mirror_of(repository, tmp_path / "new" / "owner__name")
    sources = Sources([tmp_path / "old", tmp_path / "new"], tmp_path / "cache")
    assert sources.read_file(TreeRef(REPO, later), "later.txt") == b"later"
    assert sources.read_file(TreeRef(REPO, commit), "later.txt") is None


def test_read_file_returns_none_for_what_is_no_file(repository: Repository, commit: str, tmp_path: Path) -> None:
    sources, ref = make_mirror(repository, tmp_path), TreeRef(REPO, commit)
    assert sources.read_file(ref, "id.txt") == b"$Format:%H$\n"
    assert sources.read_file(ref, "dir") is None
    assert sources.read_file(ref, "dir/none.txt") is None


def test_a_mirror_with_only_objects_and_refs_is_read(repository: Repository, commit: str, tmp_path: Path) -> None:
    made = mirror_of(repository, tmp_path / "mirrors" / "owner+name" / "repo")
    (made / "config").unlink()
    sources, ref = Sources([tmp_path / "mirrors"], tmp_path / "cache"), TreeRef(REPO, commit)
    assert sources.read_file(ref, "crlf.txt") == b"a\nb\n"
    assert sources.tree(ref).is_file()


@pytest.fixture
def redirected(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead the fetch to a local repository, the way a user's own git configuration would."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{repository.folder}/.git.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"https://github.com/{REPO}.git")


@pytest.mark.usefixtures("redirected")
def test_a_commit_that_no_mirror_has_is_fetched_once(repository: Repository, commit: str, sources: Sources) -> None:
    (repository.folder / "later.txt").write_text("later")
    repository.commit()  # what is wanted is not the tip
    ref = TreeRef(REPO, commit)
    assert not sources.exists(ref)
    assert sources.read_file(ref, "crlf.txt") == b"a\nb\n"
    shutil.rmtree(repository.folder)
    with tarfile.open(sources.tree(ref)) as tar:
        assert "left_out.py" in tar.getnames()
    assert sources.exists(ref)


@pytest.mark.usefixtures("redirected")
def test_two_processes_that_fetch_one_commit_both_get_its_tree(commit: str, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from assay.harness.domain import TreeRef\n"
        "from assay.instances.trees.sources import Sources\n"
        "print(Sources(cache=Path(sys.argv[1])).tree(TreeRef(sys.argv[2], sys.argv[3])))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "cache"), REPO, commit]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    paths = {process.communicate()[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(paths) == 1
    assert [path.name for path in (tmp_path / "cache" / "trees").iterdir()] == [f"{commit}.tar"]


@pytest.mark.usefixtures("redirected")
def test_a_commit_that_another_process_is_still_fetching_is_fetched_again(
    repository: Repository, commit: str, tmp_path: Path
) -> None:
    loose = Path("objects") / commit[:2] / commit[2:]
    half = tmp_path / "cache" / "git" / "owner__name.git"
    repository.git("init", "--quiet", "--bare", str(half))
    (half / loose).parent.mkdir()
    shutil.copy(repository.folder / ".git" / loose, half / loose)  # git stores a commit before its files
    sources, ref = Sources(cache=tmp_path / "cache"), TreeRef(REPO, commit)
    assert not sources.exists(ref)
    assert sources.tree(ref).is_file()
    assert sources.exists(ref)


@pytest.mark.usefixtures("redirected")
def test_a_commit_that_exists_nowhere_names_the_places_searched(
    commit: str, repository: Repository, tmp_path: Path
) -> None:
    missing = "0" * 39 + "1"
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    with pytest.raises(EnvironmentFailure) as caught:
        sources.tree(TreeRef(REPO, missing))
    assert missing in str(caught.value)
    assert str(tmp_path / "mirrors") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mirror_that_lacks_objects_is_an_error_and_leaves_nothing(
    repository: Repository, commit: str, tmp_path: Path
) -> None:
    made = mirror_of(repository, tmp_path / "mirrors" / "owner__name")
    blob = repository.git("rev-parse", f"{commit}:crlf.txt")
    (made / "objects" / blob[:2] / blob[2:]).unlink()
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    with pytest.raises(EnvironmentFailure, match=r"crlf\.txt"):
        sources.tree(TreeRef(REPO, commit))
    assert list((tmp_path / "cache" / "trees").iterdir()) == []


@pytest.mark.parametrize(("repo", "commit"), [("../etc", "0" * 40), ("owner/name", "main"), ("owner/name", "")])
def test_repository_and_commit_names_that_are_no_names_are_refused(sources: Sources, repo: str, commit: str) -> None:
    with pytest.raises(EnvironmentFailure):
        sources.tree(TreeRef(repo, commit))


FILES = {"PKG-INFO": "Name: toy\n", "toy/__init__.py": "", "build.sh": "#!/bin/sh\n", "setup.py": "raise SystemExit\n"}


def test_tree_of_a_release_has_no_top_folder(index: Index, sources: Sources) -> None:
    archive = index.add("toy", "1.0", FILES)
    ref = TreeRef("o/toy", archive=archive)
    assert not sources.exists(ref)
    with tarfile.open(sources.tree(ref)) as tar:
        modes = {member.name: member.mode for member in tar}
    assert modes == {**dict.fromkeys(FILES, 0o644), "build.sh": 0o755}
    assert sources.exists(ref)
    assert sources.read_file(ref, "PKG-INFO") == b"Name: toy\n"
    assert sources.read_file(ref, "none") is None


def test_a_release_is_fetched_once(index: Index, sources: Sources) -> None:
    ref = TreeRef("o/toy", archive=index.add("toy", "1.0", FILES))
    first = sources.tree(ref).read_bytes()
    shutil.rmtree(index.folder)
    assert sources.tree(ref).read_bytes() == first


def test_a_release_with_another_hash_is_refused(index: Index, sources: Sources) -> None:
    index.add("toy", "1.0", FILES)
    wrong = Archive(name="toy", version="1.0", sha256="0" * 64)
    with pytest.raises(WrongArchive, match="sha256") as caught:
        sources.tree(TreeRef("o/toy", archive=wrong))
    assert caught.value.field == "sha256"
    assert list((sources.cache / "archives").iterdir()) == []


def test_archive_with_a_patch_on_top_has_the_patched_files(index: Index, sources: Sources) -> None:
    archive = index.add(
        "toy", "1.0", {"a.py": "a\n", 'deep/q"uoted ü.txt': "b\r\n", ".gitattributes": "* text eol=lf\n"}
    )
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n a\n+more\n"

    plain, patched = TreeRef("o/toy", archive=archive), TreeRef("o/toy", archive=archive, patch=patch)

    old, new = ({entry.path: entry for entry in read_tar(sources.tree(ref))} for ref in (plain, patched))
    assert new["a.py"].content == b"a\nmore\n"
    assert new | {"a.py": old["a.py"]} == old
    with pytest.raises(EnvironmentFailure, match="a patch of the tree does not apply"):
        sources.tree(TreeRef("o/toy", archive=archive, patch=patch.replace(" a\n", " x\n")))


@pytest.mark.parametrize(("name", "version", "match"), [("toy", "9.9", "no source archive"), ("none", "1", "404")])
def test_a_release_that_the_index_lacks_is_named(
    index: Index, sources: Sources, name: str, version: str, match: str
) -> None:
    index.add("toy", "1.0", FILES)
    with pytest.raises(EnvironmentFailure, match=match):
        sources.tree(TreeRef("o/toy", archive=Archive(name=name, version=version, sha256="0" * 64)))


def test_a_missing_network_is_reported_in_one_line(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(EnvironmentFailure, match="is there a network") as caught:
        sources.tree(TreeRef("o/toy", archive=Archive(name="toy", version="1", sha256="0" * 64)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["../../evil", "toy/../../../evil"])
def test_an_archive_cannot_leave_its_folder(index: Index, sources: Sources, path: str, tmp_path: Path) -> None:
    archive = index.add("toy", "1.0", {"ok": "", path: "evil"})
    with pytest.raises(EnvironmentFailure, match="cannot be unpacked"):
        sources.tree(TreeRef("o/toy", archive=archive))
    assert not list(tmp_path.rglob("evil"))


def test_a_file_that_is_no_archive_is_an_environment_failure(index: Index, sources: Sources) -> None:
    from hashlib import sha256

    archive = index.add("toy", "1.0", FILES)
    (index.folder / "files" / "toy-1.0.tar.gz").write_bytes(b"<html>sorry</html>")
    wrong = archive.model_copy(update={"sha256": sha256(b"<html>sorry</html>").hexdigest()})
    with pytest.raises(EnvironmentFailure, match="cannot be unpacked"):
        sources.tree(TreeRef("o/toy", archive=wrong))


@pytest.mark.network
def test_a_release_of_the_real_index_is_fetched(sources: Sources) -> None:
    archive = Archive(
        name="sqlparse", version="0.4.4", sha256="d446183e84b8349fa3061f0fe7f06ca94ba65b426946ffebe6e3e8295332420c"
    )
    assert sources.read_file(TreeRef("andialbrecht/sqlparse", archive=archive), "pyproject.toml")


def test_ancestors_of_a_bare_commit_are_the_first_of_quarter_month_and_week(
    repository: Repository, tmp_path: Path
) -> None:
    days = ["2022-12-30", "2023-01-05", "2023-02-01", "2023-02-03", "2023-02-16", "2023-02-20"]
    commits = [repository.commit(date=f"{day}T12:00:00Z") for day in days]
    repository.git("checkout", "--quiet", "-b", "side", commits[1])
    repository.commit("never on the main line", date="2023-02-01T00:00:00Z")
    sources = make_mirror(repository, tmp_path)

    def ancestors(commit: str) -> list[str]:
        return [ref.commit for ref in sources.ancestors(TreeRef(REPO, commit))]

    assert ancestors(commits[5]) == [commits[1], commits[2], commits[4]]
    assert ancestors(commits[3]) == [commits[1], commits[2]]
    assert ancestors(commits[1]) == []
    assert ancestors("1" * 40) == []
    archive = Archive(name="x", version="1", sha256="0" * 64)
    assert sources.ancestors(TreeRef(REPO, commits[5], patch="diff")) == ()
    assert sources.ancestors(TreeRef(REPO, commits[5], archive)) == ()


def test_changes_name_new_contents_and_what_is_gone(repository: Repository, tmp_path: Path) -> None:
    for path in ("same.py", "changed.py", "gone/deep/file.py", "kept/gone.py", "kept/one.py", "mode.sh"):
        (repository.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (repository.folder / path).write_text("old\n")
    old = repository.commit()
    shutil.rmtree(repository.folder / "gone")
    (repository.folder / "kept" / "gone.py").unlink()
    (repository.folder / "changed.py").write_text("new\n")
    (repository.folder / "mode.sh").chmod(0o755)
    new = repository.commit()
    changes = make_mirror(repository, tmp_path).changes(TreeRef(REPO, old), TreeRef(REPO, new))

    assert [(entry.path, entry.mode, entry.content) for entry in changes.entries] == [
        ("changed.py", FILE, b"new\n"),
        ("mode.sh", EXECUTABLE, b"old\n"),
    ]
    assert sorted(changes.removed) == ["gone", "gone/deep", "gone/deep/file.py", "kept/gone.py"]


def test_settings_of_a_clone_start_nothing(repository: Repository, commit: str, tmp_path: Path) -> None:
    mirror = mirror_of(repository, tmp_path / "mirrors" / "owner__name")
    (mirror / "hooks" / "reference-transaction").write_text(f"#!/bin/sh\ntouch {tmp_path}/hook\n")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    program.chmod(0o755)
    for name, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": "ssh://nowhere/x",
        "remote.origin.promisor": "true",
        "core.sshCommand": str(program),
        "gpg.program": str(program),
        "log.showSignature": "true",
    }.items():
        Repository(mirror).git("config", name, value)
    missing = repository.git("rev-parse", "HEAD:id.txt")
    (mirror / "objects" / missing[:2] / missing[2:]).unlink()
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    ref = TreeRef(REPO, commit)
    with pytest.raises(EnvironmentFailure, match="is not in this repository"):
        sources.tree(ref)
    assert sources.commit_time(ref) is not None
    assert sources.nearest_tag(ref) == ""
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "hook").exists()


def test_a_clone_that_borrows_objects_is_refused(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit()
    mirror = mirror_of(repository, tmp_path / "mirrors" / "owner__name")
    (mirror / "objects/info").mkdir(exist_ok=True)
    (mirror / "objects/info/alternates").write_text(f"{repository.folder}/.git/objects\n")
    with pytest.raises(EnvironmentFailure, match="git repack -a -d"):
        Sources([tmp_path / "mirrors"], tmp_path / "cache").exists(TreeRef(REPO, commit))
