"""Makes the plan of a test run from an instance and its recipe. Pure."""

import re
import shlex
from collections.abc import Sequence

from assay.harness import languages, runners
from assay.harness.domain import Instance, Limits, PublishedImage, Recipe, TestPlan
from assay.harness.evaluation.delivery import ADAPTER
from assay.harness.evaluation.supervising import PIPE
from assay.harness.patches.diff import drop_binary_hunks, find_touched_paths, paths_after
from assay.harness.runners.base import PLACEHOLDER
from assay.harness.runners.choosing import Choice, read_choice
from assay.instances.environments.image_specs import OPTIONS
from assay.instances.environments.row_commands import RowCommands, read_commands
from assay.instances.environments.row_script import read_script
from assay.instances.environments.shell import UnreadableError, read_statements

WORKDIR = "/testbed"
REPORTS = "/tmp/assay-report"
LONGEST = 100_000
"""Characters of all targets at most; if there are more, all tests run. Linux refuses an argument of 128 KiB, and some
runners take all names in one."""
SAME_EVERYWHERE = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""Environment variables that remove differences between machines or runs."""
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as: no isolation, so that installed build tools are used
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "UV_OFFLINE": "1",
    "NPM_CONFIG_OFFLINE": "true",
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
}
"""Variables by which package clients in a row's script fail at once, instead of waiting for a network."""

FAKETIME_LIBRARY = "/usr/$LIB/faketime/libfaketime.so.1"
"""Path in Debian's package; the dynamic linker fills in ``$LIB``."""


def make_plan(instance: Instance, recipe: Recipe, files: Sequence[str] | None = None) -> TestPlan:
    """Make the plan for the test patch's tests, or for the tests in some ``files`` of the tree.

    Where no recipe names the repository the tests run as in the row's own script, and in a published image they do.
    """
    if isinstance(instance.environment, PublishedImage):
        return _make_published_plan(instance, instance.environment, recipe)
    if files is None and (commands := read_commands(instance)):
        return _make_own_plan(instance, commands, recipe)
    language = languages.find(recipe.language)
    template = recipe.test_command or language.TEST_COMMAND
    targets = _targets(recipe, paths_after(instance.test_patch) if files is None else files)
    choice = _read_choice(recipe)
    return TestPlan(
        workdir=WORKDIR,
        env={**SAME_EVERYWHERE, **_other_time(recipe), **recipe.env},
        command=_command(template, targets, recipe.options),
        targets=targets,
        chosen=choice.chosen,
        sure=choice.sure,
        restore=_list_restored(instance),
        test_patch=drop_binary_hunks(instance.test_patch),
        report_format=recipe.report_format or language.DEFAULT_REPORT,
        report_path=_report_path(template),
        log_format=recipe.log_format or language.DEFAULT_LOG,
        test_id=recipe.test_id or instance.test_id or language.DEFAULT_ID,
        runner=recipe.runner or ("" if recipe.test_command else language.DEFAULT_RUNNER),
        tripwires=choice.runs_tripwires,
        services=recipe.services,
        limits=_limits(recipe, instance),
    )


def _read_choice(recipe: Recipe) -> Choice:
    """Read what a recipe's own command runs; all if that cannot be read."""
    try:
        found = [words for each in read_statements(recipe.test_command) for words in each.commands]
    except UnreadableError:
        return Choice()
    names_tripwires = not recipe.test_command or PLACEHOLDER in recipe.test_command
    return read_choice(recipe.runner, found, names_tripwires=names_tripwires) if recipe.runner else Choice()


def _list_restored(instance: Instance) -> tuple[str, ...]:
    paths = find_touched_paths(instance.test_patch) if instance.test_patch else ()
    return tuple(dict.fromkeys((*paths, *(asset.path for asset in instance.assets))))


def _report_path(template: str) -> str:
    if "{reports}" in template:
        return REPORTS
    return PIPE if "{report}" in template else ""


def _make_published_plan(instance: Instance, published: PublishedImage, recipe: Recipe) -> TestPlan:
    """Make the plan for a row's own image and script; the harness does itself all that it can."""
    script = read_script(published.eval_script)
    runner, adapted = runners.adapt_commands(script.commands) or ("", None)
    log_format = (adapted and adapted.log_format) or instance.log_format or recipe.log_format
    log_format = log_format or languages.find(instance.language).DEFAULT_LOG
    tests = adapted.command if adapted else script.tests
    plan = _make_script_plan(instance, RowCommands(script, runner, adapted, script.prepare, tests, log_format), recipe)
    if published.user:  # root's script may install, from what answers it
        env = {name: value for name, value in plan.env.items() if name not in OFFLINE}
        plan = plan.model_copy(update={"user": published.user, "env": env})
    return plan.model_copy(update={"workdir": script.workdir, "install": "\n".join(script.install)})


def _make_own_plan(instance: Instance, commands: RowCommands, recipe: Recipe) -> TestPlan:
    """Make the plan for a row's script in an image of Assay's own, in which the project is installed already."""
    plan = _make_script_plan(instance, commands, recipe)
    theirs = re.compile(rf"(?<![\w/]){re.escape(commands.script.workdir)}(?![\w])")
    ours = {name: theirs.sub(WORKDIR, getattr(plan, name)) for name in ("command", "folder")}
    return plan.model_copy(update={**ours, "env": {**plan.env, **recipe.env}})


def _make_script_plan(instance: Instance, commands: RowCommands, recipe: Recipe) -> TestPlan:
    script, adapted = commands.script, commands.adapted
    entered = [f"cd {shlex.quote(script.folder)}"] if script.folder else []
    exported = [f"export {script.env}"] if script.env else []
    is_whole = adapted is None and script.tests in commands.tests
    tests = [commands.tests] if is_whole else [*entered, *exported, commands.tests]
    language = languages.find(instance.language)
    writes_report = bool(_report_path(commands.tests))  # of the format that the labels are from
    return TestPlan(
        workdir=WORKDIR,
        env={**SAME_EVERYWHERE, **OFFLINE},
        command=_command("\n".join([*commands.prepare, *tests]), ()),
        runs=script.runs,
        targets=adapted.targets if adapted else (),
        restore=_list_restored(instance),
        test_patch=drop_binary_hunks(instance.test_patch),
        report_format=adapted.report_format if adapted else instance.log_format if writes_report else "",
        report_path=_report_path(commands.tests),
        log_format=language.DEFAULT_LOG if writes_report and not adapted else commands.log_format,
        test_id=instance.test_id or recipe.test_id or language.DEFAULT_ID,
        runner=commands.runner,
        sure=adapted.sure if adapted else True,
        folder="" if script.folder in {script.workdir, "."} else script.folder,
        tripwires=adapted.runs_tripwires if adapted else False,
        limits=_limits(recipe, instance),
    )


def _targets(recipe: Recipe, paths: Sequence[str]) -> tuple[str, ...]:
    targets = languages.find(recipe.language).test_targets(paths) if recipe.test_files == "patch" else ()
    return targets if len(shlex.join(targets)) <= LONGEST else ()


def _command(template: str, targets: Sequence[str], options: Sequence[str] = ()) -> str:
    filled = {"{files}": shlex.join(targets), "{reports}": REPORTS, "{report}": PIPE, "{adapter}": ADAPTER}
    filled |= {OPTIONS: shlex.join(options)}
    for placeholder, text in filled.items():
        template = template.replace(placeholder, text)
    return template.rstrip() + "\n"


def _other_time(recipe: Recipe) -> dict[str, str]:
    """Return the variables that give the test command, and nothing else, another date.

    The clock runs on from there, anew in each process. Durations and the times of files stay real. Limits: from Python
    3.11 on, ``time.sleep`` fails under Debian 12's libfaketime (0.9.10); with a faked monotonic clock, waiting for an
    event would never end.
    """
    if not recipe.faketime:
        return {}
    real = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
    return {"LD_PRELOAD": FAKETIME_LIBRARY, "FAKETIME": f"@{recipe.faketime}", **real}


def _limits(recipe: Recipe, instance: Instance) -> Limits:
    return Limits(
        memory_mb=recipe.memory_mb,
        seconds=float(recipe.timeout),
        network=recipe.network,
        disk_mb=recipe.disk_mb,
        capabilities=recipe.capabilities,
        gpus=max(recipe.gpus, instance.gpus),
    )
