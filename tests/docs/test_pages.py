"""Every block of every page is run, or is read by whatever reads such a thing; so is every example of a help text."""

import doctest
import io
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import assay
import front_door
import stand_ins
from assay.agents.external.adapter import Adapter
from assay.agents.llm.prices import load_prices
from assay.cli.compat_command import IGNORED
from assay.cli.printing import get_raw
from assay.harness.domain import Recipe
from assay.harness.errors import AssayError
from assay.harness.exports.metadata import read_metadata
from assay.instances.dataset.load import load
from assay.instances.toolchains.versions import LanguageVersions
from command_line import ALL_OPTIONS, OPTION, problem_with, problems_in
from command_reference import examples, leaves
from documented import LANGUAGES, PAGES, ROOT, Block, Page, broken_links, read
from languages.hello import Hello
from page_blocks import read_json, read_text, read_toml, seams
from served import served
from toy import GOLD

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = dict(leaves())
"""A registry of parts, with its entry-point group."""
SERVICE = "http://127.0.0.1:8000"
"""Address of the service that a page asks."""
LONGEST = 60
"""Seconds that a command may take on a busy machine; one that waits for a person never ends."""
HELP = {path: examples(command) for path, command in COMMANDS.items()}


@dataclass(frozen=True)
class Elsewhere:
    """Commands that the ordinary run does not execute, or that do not exit with 0 there."""

    command: str
    """A pattern of shell's kind."""
    why: str
    needs: str = ""
    """Empty; ``ctrl-c``; ``containers``, in the full suite only; ``nothing`` that could be had here."""
    exit: int = 0


TABLE = yaml.safe_load((Path(__file__).parent / "elsewhere.yaml").read_text())
ELSEWHERE = [Elsewhere(**row) for row in TABLE["commands"]]
FOREIGN = frozenset(TABLE["options_of_other_programs"]).union(*IGNORED.values())


def elsewhere(line: str) -> Elsewhere:
    return next((each for each in ELSEWHERE if fnmatch(line, each.command)), Elsewhere(line, ""))


def needs(line: str) -> str:
    return elsewhere(line).needs


def shown() -> Iterator[str]:
    """Yield every command line of the pages and the help texts."""
    for page in PAGES:
        for block in read(page).blocks:
            if block.language == "console":
                yield from (line for _, line in block.commands())
    for lines in HELP.values():
        yield from lines


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    stand_ins.make(folder)
    return folder


@pytest.fixture
def world(template: Path, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "world"
    shutil.copytree(template, folder, symlinks=True)
    with stand_ins.world(folder):
        yield folder


# Commands


def problem_of_command(line: str, folder: Path) -> str:
    """Run a command line, or parse it where the table says that it cannot be run here; return what went wrong."""
    words = [
        str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(line, comments=True)
    ]
    words = [name for word in words for name in (sorted(map(str, Path().glob(word))) if "*" in word else ()) or [word]]
    program = Path(words[0]).name
    checks: Mapping[str, Callable[[], str]] = {
        "assay": lambda: problem_with(words[1:]) or RUNNERS[needs(line)](words[1:], folder, elsewhere(line).exit),
        "make": lambda: problem_of_make(words[1:]),
        "pip": lambda: problem_of_pip(words[1:]),
        "curl": lambda: problem_of_curl(words[1:]),
    }
    if program in checks:
        return checks[program]()
    return (
        ""
        if needs(line) == "nothing"
        else f"nothing runs {program}; use assay, make, pip or curl, or add a row to elsewhere.yaml"
    )


def problem_of_run(words: list[str], folder: Path, expected: int = 0, seconds: float = LONGEST) -> str:
    with alarm(give_up, seconds):
        done = front_door.run(folder, *words)
    return "" if done.code == expected else f"exit {done.code}: {(done.out + done.err).strip()[-2000:]}"


def problem_of_serving(words: list[str], folder: Path, _expected: int) -> str:
    """Run a command that ends when somebody presses Ctrl-C, and do that."""

    def press_ctrl_c(_signal: int, _frame: object) -> None:
        printed = get_raw(sys.stderr)
        if isinstance(printed, io.StringIO) and "open http://" in printed.getvalue():
            raise KeyboardInterrupt

    with alarm(press_ctrl_c, 0.2, repeat=True):
        done = front_door.run(folder, *words, ASSAY_VIEW_PORT="0", ASSAY_SERVE_PORT="0")  # others may serve
    return "" if done.code in {0, 130} and "open http://" in done.err else f"exit {done.code}: {done.err}"


@contextmanager
def with_service(page: Page, folder: Path) -> Iterator[list[Block]]:
    """Give the blocks of a page; if they ask a service, with the address of one that serves ``rows.jsonl``."""
    if SERVICE not in page.text:
        yield [*page.blocks]
        return
    with served(load("rows.jsonl").instances, folder / "served") as here:
        yield [replace(block, text=block.text.replace(SERVICE, here.url)) for block in page.blocks]


def problem_of_curl(words: list[str]) -> str:
    done = subprocess.run(["curl", "--fail-with-body", *words], capture_output=True, text=True, check=False)
    return f"exit {done.returncode}: {done.stdout}{done.stderr}" if done.returncode else ""


def give_up(_signal: int, _frame: object) -> None:
    raise TimeoutError("took too long; does it wait for a person?")


@contextmanager
def alarm(handler: Callable[[int, object], None], seconds: float, *, repeat: bool = False) -> Iterator[None]:
    """Call a handler wherever the program is after some seconds."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds if repeat else 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def problem_of_make(words: list[str]) -> str:
    done = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def problem_of_pip(words: list[str]) -> str:
    if words[0] != "install":
        return f"nothing checks pip {words[0]}"
    wanted = [Requirement(word) for word in words[1:] if not word.startswith(("-", "."))]
    extras = {extra for each in wanted if each.name == PROJECT["name"] for extra in each.extras}
    return "".join(f"there is no extra {each}; " for each in extras - PROJECT["optional-dependencies"].keys())


# Other blocks


def read_yaml(block: Block) -> None:
    """Read a block by what reads its kind, which its fields show."""
    value = yaml.safe_load(block.text)
    if "run" in value and "name" in value:
        Adapter.model_validate(value)
    elif "models" in value:
        Path("prices.yaml").write_text(block.text)
        load_prices(Path("prices.yaml"))
    elif "authors" in value:
        Path("metadata.yaml").write_text(block.text)
        read_metadata(Path("metadata.yaml"))
    elif "jobs" in value:
        read_workflow(value)
    elif "repo" in value:
        Recipe.model_validate(value)
    elif "versions" in value:
        LanguageVersions.model_validate(value)
    elif "files" in value:
        Hello.model_validate(value)
    else:
        raise ValueError(f"nothing reads a YAML file with the fields {', '.join(map(str, value))}")


def read_workflow(workflow: dict[str, Any]) -> None:
    """Look at what a workflow gives to the action of this repository, and what it takes from it."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    lines = [line for step in steps for line in in_matrix(step.get("run", ""), workflow)]
    problems = [problem for line in lines if (problem := problem_of_command(line, Path.cwd()))]
    assert not problems, "; ".join(problems)
    if lines:
        return
    given = [step["with"] for step in steps if "/assay@" in step.get("uses", "")]
    taken = set(re.findall(r"steps\.assay\.outputs\.(\w+)", str(steps)))
    assert given, "no step uses the action"
    unknown = [name for each in given for name in each if name not in action["inputs"]]
    assert not unknown, f"the action has no input {unknown[0]}"
    assert taken <= action["outputs"].keys(), f"the action has no output {min(taken - action['outputs'].keys())}"
    for each in given:
        line = f"assay evaluate {each['dataset']} {' '.join(each.get('arguments', '').split())}"
        assert not list(problems_in(line)), "; ".join(problems_in(line))


def in_matrix(text: str, workflow: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a step, each for every value of a matrix that it names."""
    matrices = [job.get("strategy", {}).get("matrix", {}) for job in workflow["jobs"].values()]
    for line in text.splitlines():
        name = next((name for matrix in matrices for name in matrix if f"${{{{ matrix.{name} }}}}" in line), "")
        values = next((matrix[name] for matrix in matrices if name in matrix), [""])
        yield from (line.replace(f"${{{{ matrix.{name} }}}}", str(value)) for value in values)


def problems_of_block(block: Block, folder: Path, names: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a block; Python blocks of a page share their names."""
    if block.file:
        Path("shown", block.file).parent.mkdir(parents=True, exist_ok=True)
        Path("shown", block.file).write_text(block.text)
        return
    readers = {"yaml": read_yaml, "toml": read_toml, "json": read_json, "text": read_text}
    if block.language == "console":
        for line, command in block.commands():
            problem = problem_of_command(command, folder)
            if problem:
                yield f"{block.page.name}:{line}: {command}\n    {problem}"
    elif block.language == "python":
        yield from problems_of_python(block, names)
    elif block.language in readers:
        try:
            readers[block.language](block)
        except (AssertionError, ValueError, OSError, yaml.YAMLError, AssayError) as error:
            yield f"{block.place}: {error}"
    else:
        yield f"{block.place}: fence the block as one of {', '.join(LANGUAGES)}"


def problems_of_shown_files(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the files that a page shows one by one: together they are data sets."""
    data_sets = [marker.parent for marker in folder.rglob("assay.yaml")]
    for data_set in data_sets:
        if not load(str(data_set)).instances:
            yield f"{data_set} has no task"
    for file in folder.rglob("*"):
        if file.is_file() and not any(file.is_relative_to(data_set) for data_set in data_sets):
            yield f"nothing reads {file.relative_to(folder)}"


def problems_of_python(block: Block, names: dict[str, Any]) -> Iterator[str]:
    out = io.StringIO()
    if block.needs:
        return  # tests/rewards/test_trainers.py runs it where that is installed
    try:
        with redirect_stdout(out), redirect_stderr(out):
            exec(compile("\n" * block.line + block.text, str(block.page), "exec"), names)
    except Exception:
        yield f"{block.place}: {traceback.format_exc(limit=-2)}"


def problems_of_code(code: str) -> Iterator[str]:
    """Yield what code in a sentence names that does not exist: a command, or an option standing alone."""
    if code.startswith("assay "):
        yield from problems_in(code)
    elif code.startswith("-"):
        yield from (f"no command has {each}" for each in {*OPTION.findall(code)} - ALL_OPTIONS - FOREIGN)


RUNNERS: Mapping[str, Callable[[list[str], Path, int], str]] = {
    "": problem_of_run,
    "ctrl-c": problem_of_serving,
    "containers": lambda _words, _folder, _expected: "",
    "nothing": lambda _words, _folder, _expected: "",
}
"""How a command is run here, by what it needs."""


# The tests


def complain(problems: Iterable[str]) -> None:
    """Fail with all problems, one below the other."""
    found = list(problems)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_of_a_page_works(path: Path, world: Path) -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    with with_service(read(path), world) as blocks:
        found = [problem for block in blocks for problem in problems_of_block(block, world, names)]
    complain([*found, *problems_of_shown_files(Path("shown"))])


@pytest.mark.parametrize("path", COMMANDS)
def test_every_help_text_has_examples_that_work(path: str, world: Path, template: Path) -> None:
    assert HELP[path], f"{path} --help has no example"
    for line in HELP[path]:
        if {run.name for run in Path("runs").iterdir()} != {run.name for run in (template / "runs").iterdir()}:
            shutil.rmtree("runs")
            shutil.copytree(template / "runs", "runs")  # an example stands alone
        complain([f"{line}\n    {problem}" for problem in (problem_of_command(line, world),) if problem])


@pytest.mark.docker
@pytest.mark.exhaustive  # cli/commands/test_demo.py runs the same command
@pytest.mark.parametrize("line", sorted({line for line in shown() if needs(line) == "containers"}))
def test_a_command_that_needs_containers_works(
    line: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(template, tmp_path / "world", symlinks=True)
    monkeypatch.chdir(folder)
    assert problem_of_run(shlex.split(line, comments=True)[1:], folder, seconds=600) == ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_in_sentences_names_commands_and_options_that_exist(path: Path) -> None:
    complain(f"{path.name}:{line}: {problem}" for line, code in read(path).codes for problem in problems_of_code(code))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    complain(broken_links(read(path)))


def test_the_readme_lists_every_command_and_group() -> None:
    (synopsis,) = (block for block in read(ROOT / "README.md").blocks if block.text.startswith("assay demo"))
    listed = {line.split()[1] for line in synopsis.text.splitlines()}
    assert listed == {path.split()[1] for path in COMMANDS}


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    public = assay.__all__
    assert [name for name in public if f"assay.{name}\n" not in page and name != "__version__"] == []


def test_the_page_of_plug_ins_has_every_group_of_entry_points() -> None:
    page = (ROOT / "docs/extend/index.md").read_text(encoding="utf-8")
    assert [seam for seam in seams() if f"| `assay.{seam}` |" not in page] == []


def problems_of_docstring(name: str, patch: str) -> str:
    """Run the examples in the docstring of a public name; return what differs from what they say."""
    report = io.StringIO()
    for each in doctest.DocTestFinder(recurse=False).find(getattr(assay, name), name, globs={"patch": patch}):
        doctest.DocTestRunner().run(each, out=report.write)
    return report.getvalue()


def test_examples_in_docstrings_of_public_names_print_what_they_say(world: Path) -> None:
    # A finding of PatchDiff needs containers and an idle machine; docs/api.md has the same lines without the finding.
    names = [name for name in assay.__all__ if not name.startswith("_") and name != "PatchDiff"]
    complain(filter(None, (problems_of_docstring(name, GOLD) for name in names)))


def test_no_row_of_the_table_is_left_over() -> None:
    lines = list(shown())
    assert [row.command for row in ELSEWHERE if not any(fnmatch(line, row.command) for line in lines)] == []
    assert {row.needs for row in ELSEWHERE} <= RUNNERS.keys()
    assert all(row.why for row in ELSEWHERE)
