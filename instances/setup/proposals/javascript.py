"""The recipe to try first for a JavaScript or TypeScript project. Pure."""

import re
import shlex
from collections.abc import Iterable, Sequence

from assay.harness.domain import Recipe
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.language_version import choose_version, sort_versions
from assay.instances.setup.node_manifests import (
    NodePackage,
    allows_node,
    find_locked_major,
    find_node_bound,
    find_pinned_node,
    read_packages,
)
from assay.instances.setup.node_scripts import ScriptCommand
from assay.instances.setup.node_suite import NodeSuite, TestsRun, find_suite
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import load_providers
from assay.instances.setup.shell_lines import read_automation, workflow_values

OLD_OPENSSL = 16
"""The last version of node whose OpenSSL has the hash algorithm that webpack 4 uses."""
LEGACY = "--openssl-legacy-provider"
LOGS = {"jest": "jest_text", "vitest": "vitest_text"}
BROWSER = {"CHROME_BIN": "/usr/bin/chromium"}
ENDS = {"jest": ("--forceExit",), "mocha": ("--exit",)}
"""Options by which runners end after the last test, whatever is still open."""
ALWAYS_ENDS = range(1, 4)  # versions of mocha that lack the option
SERVICES = {
    "redis(?:-server)?": "6379",
    "postgres(?:ql)?": "5432",
    "memcached": "11211",
    "rabbitmq": "5672",
    "(?:mysql|mariadb)": "3306",
}
"""Ports of the programs that workflows name."""
PATH = 'PATH="$PWD/node_modules/.bin:/opt/manager/node_modules/.bin:$PATH"\nexport PATH'
TAKE = 'for each in "$@"; do shift; case $each in {folder}/*) set -- "$@" "${{each#{folder}/}}" ;; esac; done'
"""Keeps, of the files to run, those of one package."""


def propose(facts: Facts, recipe: Recipe) -> Recipe:
    packages = read_packages(facts.project)
    suite = find_suite(packages, facts.project.paths, _list_scripts(facts))
    version, options = choose_node(facts, packages[""])
    recipe = recipe.model_copy(update={"toolchain": version, "env": {"NODE_OPTIONS": options} if options else {}})
    recipe = _start_services(facts, recipe.model_copy(update=_write_fields(facts, suite)))
    if suite.runner == "karma":
        recipe = edits.add_items(recipe, "system_packages", ["chromium"])
        recipe = recipe.model_copy(update={"env": {**recipe.env, **BROWSER}})
    return recipe


def _write_fields(facts: Facts, suite: NodeSuite) -> dict[str, str]:
    fields = write_suite(suite) if suite.runs else {}
    if suite.runner == "mocha" and find_locked_major(facts.project, "mocha") in ALWAYS_ENDS:
        fields["test_command"] = fields["test_command"].replace(" --exit", "")
    return fields


def _start_services(facts: Facts, recipe: Recipe) -> Recipe:
    """Start what the project's workflows run beside the tests, as far as Debian has it."""
    values = " ".join(workflow_values(facts.project, "image", "uses", "services")).lower()
    for name, port in SERVICES.items():
        service = load_providers().services[port]
        if recipe.test_command and re.search(rf"\b{name}\b", values):
            recipe = edits.start_program(edits.add_items(recipe, "system_packages", service.packages), service.start)
    return recipe


def choose_node(facts: Facts, root: NodePackage) -> tuple[str, str]:
    """Return the version of node to try first, and options that it needs."""
    bound, pinned = find_node_bound(root), find_pinned_node(facts.project, root)
    available = sort_versions(facts.available)
    allowed = [each for each in available if allows_node(bound, int(each))] or available
    if pinned:
        later = [each for each in available if int(each) >= int(pinned)]
        return (later or available[-1:])[0], ""
    named = [each for each in facts.versions if each.isdigit() and int(each) < 100]
    old = find_locked_major(facts.project, "webpack") == 4
    early = [each for each in allowed if int(each) <= OLD_OPENSSL]
    if old and early and (not named or min(map(int, named)) <= OLD_OPENSSL):
        allowed = early
    day = facts.project.date.date()
    chosen = choose_version(facts.project.language, allowed, day, named=named)
    return chosen, LEGACY if old and int(chosen or 0) > OLD_OPENSSL else ""


def write_suite(suite: NodeSuite) -> dict[str, str]:
    """Return the fields of a recipe that build and run a suite."""
    runs = suite.runs
    folders = [run.command.folder for run in runs]
    takes_files = all(run.takes_files for run in runs) and len(set(folders)) == len(folders)
    adapted = runs[0].adapted
    lines = [PATH, *(_write_build(each) for each in suite.builds)]
    lines += (
        _write_one(runs[0], takes_files=takes_files)
        if folders == [""]
        else _write_several(runs, takes_files=takes_files)
    )
    return {
        "test_command": "\n".join(lines) + "\n",
        "runner": suite.runner,
        "report_format": adapted.report_format,
        "log_format": adapted.log_format or LOGS.get(suite.runner, ""),
        "test_files": "patch" if takes_files else "all",
    }


def _write_one(run: TestsRun, *, takes_files: bool) -> list[str]:
    lines = ["set -- {files}"] if takes_files else []
    return [*lines, *_give(run, takes_files=takes_files), *_write_run(run, run.adapted.command)]


def _write_several(runs: Sequence[TestsRun], *, takes_files: bool) -> list[str]:
    """Return lines that run commands one after the other, each with a report of its own."""
    lines = ["code=0"]
    if runs[0].adapted.report_format:
        lines.append("mkdir -p {reports}")
    if takes_files:
        lines.append("set -- {files}")
    for number, run in enumerate(runs):
        folder = run.command.folder
        command = run.adapted.command.replace("{reports}/", f"{{reports}}/{number}-")
        command = command.replace("{report}", f"{{reports}}/{number}").replace("exec ", "", 1)
        chosen = []
        if takes_files and folder:
            chosen = ["count=$#", TAKE.format(folder=folder), '[ "$count" -eq 0 ] || [ "$#" -gt 0 ] || exit 0']
        entered = [f"cd {shlex.quote(folder)}", PATH.partition("\n")[0]] if folder else []
        inner = [*chosen, *entered, *_give(run, takes_files=takes_files), *_write_run(run, command)]
        lines += ["(", *(f"    {line}" for line in inner), ") || code=$?"]
    return [*lines, 'exit "$code"']


def _give(run: TestsRun, *, takes_files: bool) -> list[str]:
    """Return lines that set what is run: the files, else what the project's command names."""
    option = "--runTestsByPath " if run.runner == "jest" else ""
    usual = " ".join(map(shlex.quote, run.targets))
    if not takes_files:
        return [f"set -- {usual}"] if usual else []
    if not usual:
        return [f'[ "$#" -eq 0 ] || set -- {option}"$@"'] if option else []
    return [f'if [ "$#" -gt 0 ]; then set -- {option}"$@"; else set -- {usual}; fi']


def _write_run(run: TestsRun, command: str) -> list[str]:
    *before, last = command.split("\n")
    given = ['"$@"'] if run.takes_files or run.targets else []
    ends = [each for each in ENDS.get(run.runner, ()) if each not in last]
    return [*before, " ".join((*_assign(run.command.env), last, *ends, *given))]


def _write_build(build: ScriptCommand) -> str:
    command = " ".join((*_assign(build.env), shlex.join(build.words)))
    entered = f"cd {shlex.quote(build.folder)} && {PATH.partition(chr(10))[0]}"
    return f"({entered} && {command}) || exit 1" if build.folder else f"{command} || exit 1"


def _assign(env: Iterable[str]) -> list[str]:
    """Return assignments as shell text; options of node are added to those of the recipe."""
    found = []
    for each in env:
        name, _, value = each.partition("=")
        found.append(
            f'NODE_OPTIONS="$NODE_OPTIONS {value}"' if name == "NODE_OPTIONS" else f"{name}={shlex.quote(value)}"
        )
    return found


def _list_scripts(facts: Facts) -> list[str]:
    """Return the scripts that workflows run, those with tests in their names only."""
    lines = "\n".join(read_automation(facts.project))
    found = re.findall(r"\b(?:npm|yarn|pnpm|bun)(?: run)? ([\w:.-]*(?:test|unit)[\w:.-]*)", lines)
    return list(dict.fromkeys(found))
