"""FeatureBench rows of level 1: ``patch`` takes a feature out of the tree that the row's image holds.

The gold patch is its reverse. ``test_patch`` takes out the test file to be fixed, and its reverse is the test patch.
Labels are whole test files. What ``patch`` takes out of those is given back by the test patch, not by gold, so that no
patch can change them. Rows of level 2, which start from an empty folder, are refused.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PatchedCommit, PublishedImage, Rule
from assay.harness.errors import DataError, brief
from assay.harness.patches.diff import FileChange, read_diff, render
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, COLUMNS
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.commands import TESTBED, make_published_image
from assay.instances.dataset.formats.reverse import IrreversibleError, reverse

NAME = "feature-bench"
RULES: tuple[Rule, ...] = (Rule.FEATURE_BENCH,)
HELD = CLASSIC - {"language", "patch", "test_patch", "hints_text", "version"}
"""Columns that an instance holds; both patches are kept as they are, too, since white space is left out of them."""

SETTINGS = "repo_settings"
LEVELS = (".lv1", ".lv2")  # ends of ids; the benchmark itself knows a row's level by them
LOG_FORMAT, TEST_ID = "pytest_text", "file_node"
TEST_COMMAND = "pytest -rA -p no:cacheprovider --color=no"
"""Default of the benchmark's evaluator for a row that names none."""
TOGETHER = f" --rootdir={TESTBED} --continue-on-collection-errors"
SECONDS = 10  # limit of one test, if the row names none
CONDA = ("source /opt/miniconda3/etc/profile.d/conda.sh", "conda activate testbed")
PROXIES = frozenset({"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"})


def matches(row: Row) -> bool:
    """Return whether a row has the settings of its repository, or an image and an id that ends with a level."""
    return SETTINGS in row or ("image_name" in row and row_id(row).endswith(LEVELS))


find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its base tree is the commit without the feature and the test file to be fixed."""
    _refuse_level_2(row)
    fixed, kept = (_files(row, column) for column in ("FAIL_TO_PASS", "PASS_TO_PASS"))
    specs = _part(row, columns.mapping(row, SETTINGS), "docker_specs")
    removal = _removal(row, fixed)
    mask = [each for each in _changes(row, "patch") if _touches_none(each, fixed)]
    feature = [each for each in mask if _touches_none(each, kept)]
    if not feature:
        raise row_error(row, "patch", "takes nothing out of the tree but tests; copy the whole column")
    tests = [each for each in mask if each not in feature]
    return columns.build(
        COLUMNS,
        id=columns.text(row, "instance_id"),
        repo=columns.text(row, "repo"),
        base=PatchedCommit(commit=columns.commit(row, "base_commit"), patch=render((*mask, *removal))),
        language="python",
        problem_statement=columns.text(row, "problem_statement"),
        gold_patch=_reverse_column(row, "patch", render(feature)),
        test_patch=_reverse_column(row, "test_patch", render((*removal, *tests))),
        fail_to_pass=fixed,
        pass_to_pass=kept,
        created_at=columns.moment(row, "created_at", required=False),
        environment=_image(row, (*fixed, *kept), specs),
        gpus=_count_cards(row, specs),
        log_format=LOG_FORMAT,
        test_id=TEST_ID,
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row; raises DataError if it was not read from one."""
    kept = columns.read_origin(instance, NAME)
    if not kept or instance.base is None:
        problem = "can only be written if it came from a row of this format: an image holds its tree"
        raise DataError(problem, instance=instance.id, field="environment")
    return {
        **kept,
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base.commit,
        "problem_statement": instance.problem_statement,
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
        **columns.iso(instance),
    }


def _refuse_level_2(row: Row) -> None:
    if row_id(row).endswith(LEVELS[1]):
        problem = (
            "is of FeatureBench's level 2: its tests run in another tree than the patch's, which starts from an empty"
            " folder and is installed with a network; Assay evaluates level 1"
        )
        raise row_error(row, "instance_id", problem)


def _files(row: Row, column: str) -> tuple[str, ...]:
    """Return a column's test files, relative to the repository."""
    return tuple(dict.fromkeys(name.removeprefix(f"{TESTBED}/") for name in columns.names(row, column)))


def _changes(row: Row, column: str) -> tuple[FileChange, ...]:
    """Return the changes of a patch, without the white space that the evaluator's ``--whitespace=fix`` leaves out."""
    _reverse_column(row, column, columns.text(row, column))
    return tuple(map(_strip_change, read_diff(columns.text(row, column))))


def _reverse_column(row: Row, column: str, patch: str) -> str:
    try:
        return reverse(patch)
    except IrreversibleError as error:
        raise row_error(row, column, f"{error}; write it with git diff --binary --no-renames") from None


def _strip_change(change: FileChange) -> FileChange:
    hunks = (
        replace(hunk, lines=tuple(replace(e, text=e.text.rstrip()) if e.mark == "+" else e for e in hunk.lines))
        for hunk in change.hunks
    )
    return replace(change, hunks=tuple(hunks))


def _removal(row: Row, fixed: tuple[str, ...]) -> tuple[FileChange, ...]:
    """Return the change that takes the test file out of the tree; it has to be the one that the label names."""
    changes = _changes(row, "test_patch")
    if [(each.old, each.new) for each in changes] != [(path, None) for path in fixed] or len(fixed) != 1:
        problem = "does not remove the one file of FAIL_TO_PASS and nothing else, as a row of level 1 does"
        raise row_error(row, "test_patch", problem)
    return changes


def _touches_none(change: FileChange, files: tuple[str, ...]) -> bool:
    return {change.old, change.new}.isdisjoint(files)


def _count_cards(row: Row, specs: Mapping[str, Any]) -> int:
    """Return how many cards a row asks for: a number, or a list of the benchmark's own machine."""
    place = f"{SETTINGS}.docker_specs.run_args"
    run_args = _part(row, specs, "run_args", f"{SETTINGS}.docker_specs")
    listed, wanted = run_args.get("cuda_visible_devices"), run_args.get("cuda_visible_num")
    if wanted is not None:
        return columns.read_card_count(row, f"{place}.cuda_visible_num", wanted)
    if not isinstance(listed, str | int | None) or isinstance(listed, bool):
        raise row_error(row, f"{place}.cuda_visible_devices", f"is {brief(listed)}; write numbers, such as 0,1")
    words = "" if listed is None else str(listed)
    return len([word for word in words.split(",") if word.strip() and word.strip() != "-1"])


def _image(row: Row, files: Iterable[str], specs: Mapping[str, Any]) -> PublishedImage | None:
    settings = columns.mapping(row, SETTINGS)
    image = columns.text(row, "image_name").strip().lower()
    if not image:
        raise row_error(row, "image_name", "is empty; write the name of the row's image")
    exports = list(_exports(row, specs.get("custom_docker_args") or []))
    tests = f"{_runner(row, settings)} {shlex.join(files)}"
    return make_published_image(image, LOG_FORMAT, [tests], before=[*CONDA, *exports])


def _part(row: Row, outer: Mapping[str, Any], field: str, above: str = SETTINGS) -> Mapping[str, Any]:
    value = outer.get(field) or {}
    if not isinstance(value, Mapping):
        raise row_error(row, f"{above}.{field}", f"is {brief(value)}; write an object")
    return value


def _runner(row: Row, settings: Mapping[str, Any]) -> str:
    """Return the test command without files.

    One run takes the place of the benchmark's run for each file: so a file that cannot be imported leaves the others
    alone, and names of tests begin at the repository.
    """
    command, seconds = settings.get("test_cmd", TEST_COMMAND), settings.get("timeout_one", SECONDS)
    if not isinstance(command, str) or not command.strip():
        raise row_error(row, f"{SETTINGS}.test_cmd", f"is {brief(command)}; write a command")
    if isinstance(seconds, bool) or not isinstance(seconds, int | None):
        raise row_error(row, f"{SETTINGS}.timeout_one", f"is {brief(seconds)}; write seconds")
    start = "uv run " if settings.get("use_uv") and not command.lstrip().startswith("uv run ") else ""
    limit = f" --timeout={seconds}" if seconds and seconds > 0 else ""
    return f"{start}{command.strip()}{TOGETHER}{limit}"


def _exports(row: Row, arguments: Any) -> Iterator[str]:
    """Yield variables of the container (``-e A=b``) and of its shell (``-ee A=b``), but no proxies, as shell text."""
    field = f"{SETTINGS}.docker_specs.custom_docker_args"
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise row_error(row, field, f"is {brief(arguments)}; write a list of strings")
    for argument in arguments:
        option, _, variable = argument.partition(" ")
        name, assigned, value = variable.partition("=")
        if option not in {"-e", "-ee"} or not assigned or name.strip() in PROXIES:
            continue
        if not name.strip().isidentifier():
            raise row_error(row, field, f"is {brief(argument)}; write -e NAME=value")
        yield f"export {name.strip()}={value if option == '-ee' else shlex.quote(value)}"
