"""Behaviour of workspaces in folders only."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.agents.sampling.workspaces.folder import FolderWorkspace, folder_workspace
from assay.harness.domain import Status
from assay.harness.errors import EngineError, UserError

pytestmark = pytest.mark.slow

FILES = {"src/calc/__init__.py": "def add(a, b):\n    return a - b\n", "README.txt": "A small calculator.\n"}


PATHS = st.sampled_from(["a.py", "b/c.py", "b/d.txt", "e f", "README.txt", "src/calc/__init__.py"])


EDITS = st.lists(st.tuples(PATHS, st.one_of(st.none(), st.binary(max_size=30))), max_size=5)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=EDITS, second=EDITS)
def test_diff_applied_to_the_base_gives_the_same_state(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[str, bytes | None]],
    second: list[tuple[str, bytes | None]],
) -> None:
    workspace = folder_workspace(tmp_path_factory.mktemp("tree") / "repo", FILES)
    _edit(workspace, first)
    state, diff, content = workspace.snapshot(), workspace.diff(), _content(workspace)
    _edit(workspace, second)
    workspace.restore(state)
    assert _content(workspace) == content
    workspace.restore("base")
    assert workspace.diff() == ""
    assert workspace.apply(diff)
    assert _content(workspace) == content
    assert workspace.snapshot() == state


def _edit(workspace: FolderWorkspace, edits: list[tuple[str, bytes | None]]) -> None:
    for path, content in edits:
        if content is None:
            (Path(workspace.root) / path).unlink(missing_ok=True)
        else:
            # The diff is text: it cannot hold text that is not UTF-8.
            workspace.write(path, content if b"\0" in content else content.decode("latin-1").encode())


def _content(workspace: FolderWorkspace) -> dict[str, bytes | None]:
    return {path: workspace.read(path) for path in workspace.files()}


def test_folder_without_a_commit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no git repository"):
        FolderWorkspace(tmp_path)


def test_run_tests_of_a_folder_calls_its_function_in_a_fork(tmp_path: Path) -> None:
    files = {"calc.py": "x = 1\n"}
    alone = folder_workspace(tmp_path / "alone", files)
    with pytest.raises(UserError, match="pass run_tests"):
        alone.run_tests()

    def run(workspace: FolderWorkspace, names: object, extra: object) -> dict[str, Status]:
        passes = workspace.read("calc.py") == b"x = 2\n" and workspace.read("test_it.py") == b"t"
        workspace.write("by-product", b"")
        return {"test_it": Status.PASSED if passes else Status.FAILED}

    workspace = folder_workspace(tmp_path / "tested", files, run_tests=run)
    workspace.write("calc.py", b"x = 2\n")
    assert workspace.run_tests(["test_it.py"], extra={"test_it.py": b"t"}) == {"test_it": Status.PASSED}
    assert (workspace.read("by-product"), workspace.read("test_it.py")) == (None, None)
