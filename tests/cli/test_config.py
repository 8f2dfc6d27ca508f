"""Settings: which source counts, and what is wrong in a file."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from assay.cli.config import toolchain_images
from assay.cli.main import app
from assay.cli.settings import Setting, get_settings
from assay.harness.errors import DataError
from command_reference import leaves

ROOT: Any = typer.main.get_command(app)
SAMPLES = {"bool": "true", "int": "123", "float": "123.5", "str": "'word'", "Path": "'empty-folder'"}
"""One value of each kind, as a file holds it; fit for every range."""


COMMANDS = {tuple(path.split()[1:]): command for path, command in leaves(ROOT)}
OPTIONS = [
    (path, command, key, setting)
    for path, command in COMMANDS.items()
    for key, setting in get_settings(command).items()
]
OPTION_NAMES = [" ".join((*path, key)) for path, _, key, _ in OPTIONS]


def sample(setting: Setting) -> str:
    """Return a value of an option as a file holds it."""
    if setting.kind.__name__ == "datetime":
        return "'2023-09-30'"
    if setting.most is not None:
        return str(float(setting.most)) if setting.kind is float else f"{setting.most:g}"
    text = SAMPLES.get(setting.kind.__name__) or f"'{list(setting.kind)[-1].value}'"
    return f"[{text}]" if setting.many else text


def parsed(path: tuple[str, ...], command: Any) -> dict[str, Any]:
    """Parse an empty command line, without looking for what has to be typed; return the parameters."""
    root = ROOT.context_class(ROOT, info_name="assay")
    for name in path[:-1]:
        root = root.__class__(root.command.commands[name], parent=root, info_name=name)
    with command.context_class(command, parent=root, info_name=path[-1]) as context:
        for each in command.params:
            each.required = False
        command.parse_args(context, [])
        return dict(context.params)


@pytest.fixture
def _clean(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("empty-folder").mkdir()
    for name in os.environ:
        if name.startswith(("ASSAY_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("_clean")
@pytest.mark.parametrize(("path", "command", "key", "setting"), OPTIONS, ids=OPTION_NAMES)
def test_every_option_is_set_by_its_table_and_by_its_variable(
    path: tuple[str, ...], command: Any, key: str, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = sample(setting)
    wanted = text.strip("[]'").replace("true", "True")

    def found() -> str:
        value = parsed(path, command)[setting.parameter]
        value = value[0] if setting.many and value else value
        return str(getattr(value, "value", value)).partition(" 00:")[0]

    assert found() != wanted

    Path("assay.toml").write_text(f"[{'.'.join(path)}]\n{key} = {text}\n")
    assert found() == wanted
    Path("assay.toml").unlink()
    monkeypatch.setenv("_".join(("ASSAY", *path, key)).upper().replace("-", "_"), text.strip("[]'"))
    assert found() == wanted


def test_options_are_all_options() -> None:
    walked = {
        (path, each.name) for path, command in COMMANDS.items() for each in command.params if each.opts[0][0] == "-"
    }
    assert {(path, setting.parameter) for path, _, _, setting in OPTIONS} == walked
    assert len(OPTIONS) > 150


@pytest.mark.usefixtures("_clean")
@pytest.mark.parametrize("variable", ["ASSAY_JOBS", "ASSAY_EVALUATE_JOBS"])
def test_a_key_at_the_top_is_for_every_command_and_a_variable_overrides_it(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("assay.toml").write_text("jobs = 7\n[diff]\njobs = 3\n[images]\njobs = 2\n")
    at = {path: parsed(path, COMMANDS[path])["jobs"] for path in [("evaluate",), ("diff",), ("images", "build")]}
    assert at == {("evaluate",): 7, ("diff",): 3, ("images", "build"): 2}
    monkeypatch.setenv(variable, "5")
    assert parsed(("evaluate",), COMMANDS["evaluate",])["jobs"] == 5


@pytest.mark.usefixtures("_clean")
def test_how_counter_tests_run_is_set_at_the_top(assay: Callable, rows: Path) -> None:
    """No other command has an option of this name."""
    Path("assay.toml").write_text('counter = "none"\n')
    assert assay("evaluate", "rows.jsonl", "--null", "--run-id", "mine").code == 0
    assert json.loads(Path("runs/mine/run.json").read_text())["settings"]["counter"] == "none"


def test_the_endpoint_is_read_from_the_variable_of_other_tools_too(monkeypatch: pytest.MonkeyPatch) -> None:
    command = COMMANDS["solve",]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://theirs")
    assert parsed(("solve",), command)["base_url"] == "http://theirs"
    monkeypatch.setenv("ASSAY_BASE_URL", "http://mine")
    assert parsed(("solve",), command)["base_url"] == "http://mine"


ELSEWHERE = "https://elsewhere.example/v1"


@pytest.mark.usefixtures("_clean")
@pytest.mark.parametrize(
    ("address", "variables", "is_refused"),
    [
        (ELSEWHERE, {"OPENAI_API_KEY": "sk-1"}, True),
        (ELSEWHERE, {}, False),
        (ELSEWHERE, {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": ELSEWHERE}, False),
        (ELSEWHERE, {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://mine"}, False),
        ("http://127.0.0.1:8000/v1", {"OPENAI_API_KEY": "sk-1"}, False),
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": "sk-1"}, False),
    ],
)
def test_a_file_alone_does_not_choose_where_the_key_of_the_environment_goes(
    address: str, variables: dict[str, str], is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("assay.toml").write_text(f'base_url = "{address}"\n')
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if is_refused:
        with pytest.raises(DataError, match=f"^assay.toml: field base_url: .*OPENAI_BASE_URL={ELSEWHERE}"):
            parsed(("solve",), COMMANDS["solve",])
    else:
        assert parsed(("solve",), COMMANDS["solve",])["base_url"] == variables.get("OPENAI_BASE_URL", address)


def test_settings_come_from_line_environment_and_file_in_this_order(assay: Callable, rows: Path) -> None:
    Path("assay.toml").write_text('runs_dir = "from-file"\n')
    assay("evaluate", "rows.jsonl", "--gold")
    assert Path("from-file/rows.gold/report.json").is_file()
    assay("evaluate", "rows.jsonl", "--gold", ASSAY_RUNS_DIR="from-env")
    assert Path("from-env/rows.gold/report.json").is_file()
    assay("evaluate", "rows.jsonl", "--gold", "--runs-dir", "from-line", ASSAY_RUNS_DIR="from-env")
    assert Path("from-line/rows.gold/report.json").is_file()


def test_the_table_of_pyproject_is_read_where_there_is_no_file_of_assays_own(assay: Callable, rows: Path) -> None:
    Path("pyproject.toml").write_text('[tool.assay.evaluate]\ngold = true\nruns-dir = "x"\n')
    assert "field evaluate.runs-dir: is no setting; did you mean runs_dir?" in assay("evaluate", "rows.jsonl").err
    Path("pyproject.toml").write_text('[tool.assay.evaluate]\ngold = true\nruns_dir = "x"\n')
    assert "3 of 3 resolved · x/rows.gold" in assay("evaluate", "rows.jsonl").out


def test_a_switch_that_the_file_sets_is_turned_off_on_the_line(assay: Callable, rows: Path) -> None:
    Path("assay.toml").write_text("[evaluate]\ngold = true\njson = true\n")
    assert assay("evaluate", "rows.jsonl").json["resolved_instances"] == 3
    assert assay("evaluate", "rows.jsonl", "--no-json").out.endswith("3 of 3 resolved · runs/rows.gold\n")
    assert "exactly one of" in assay("evaluate", "rows.jsonl", "--no-gold").err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jobs = 'many'", ["assay.toml", "jobs", "'many'", "a whole number of at least 1"]),
        ("jobs = true", ["assay.toml", "jobs", "True", "a whole number"]),
        ("jobs = 0", ["jobs", "at least 1"]),
        ("speed = 9", ["assay.toml", "speed"]),
        ("jbos = 9", ["field jbos", "did you mean jobs?"]),
        ("[evaluate]\njbos = 9", ["field evaluate.jbos", "did you mean jobs?"]),
        ("[evaluat]\njobs = 9", ["field evaluat", "did you mean evaluate?"]),
        ("[report.compare]\njobs = 9", ["field report.compare.jobs"]),
        ("cost = 3", ["field cost", "[solve]", "[report.compare]"]),
        ("strict = 1", ["strict", "true or false"]),
        ("environment = 'none'", ["environment", "auto, recipe or published"]),
        ("[dataset.audit]\ncutoff = 'soon'", ["dataset.audit.cutoff", "date"]),
        ("private = 'npm.acme.test'", ["assay.toml", "field private", "no list of names"]),
        ("toolchains = 3", ["toolchains"]),
        ("[toolchains]\npython = 'python:3.9'", ["toolchains.python", "versions"]),
        ("[toolchains.sources]\nfirst = 1", ["toolchains.sources", "order and registry"]),
        ("[toolchains.sources]\norder = ['nix']", ["toolchains.sources.order", "official or bootstrap"]),
        ("[toolchains.sources]\norder = []", ["toolchains.sources.order", "official or bootstrap"]),
        ("[toolchains.sources]\nregistry = 5000", ["toolchains.sources.registry", "a text"]),
        ("jobs", ["assay.toml", "TOML"]),
    ],
)
@pytest.mark.usefixtures("_clean")
def test_a_wrong_settings_file_is_one_line(assay: Callable, rows: Path, text: str, words: list[str]) -> None:
    Path("assay.toml").write_text(text)
    assay("evaluate", "rows.jsonl", "--gold").refuses(*words)
    assert assay("evaluate", "--help").code == 0


def test_sources_of_toolchains_come_from_the_file_and_the_environment(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_TOOLCHAINS_ORDER", raising=False)
    assert toolchain_images() == {}
    Path("assay.toml").write_text(
        "[toolchains.python]\n'3.9' = 'mine:3.9'\n"
        "[toolchains.sources]\norder = ['bootstrap', 'official']\nregistry = 'registry.test/library/'\n"
    )
    monkeypatch.setenv("ASSAY_TOOLCHAINS_REGISTRY", "other.test")

    assert toolchain_images() == {
        "python": {"3.9": "mine:3.9"},
        "sources": {"order": "bootstrap official", "registry": "other.test"},
    }


def test_a_wrong_variable_is_one_line_and_a_misspelt_one_that_is_not_of_other_parts_is_named(
    assay: Callable, rows: Path
) -> None:
    done = assay("evaluate", "rows.jsonl", "--gold", ASSAY_TOOLCHAINS_ORDER="nix")
    done.refuses("ASSAY_TOOLCHAINS_ORDER is 'nix'; write official or bootstrap")
    done = assay("evaluate", "rows.jsonl", "--gold", ASSAY_JOBS="many")
    assert (done.code, done.err) == (2, "assay: ASSAY_JOBS is 'many'; write a whole number of at least 1\n")
    for name in ("ASSAY_JOB", "ASSAY_JOBZ"):
        done = assay("evaluate", "rows.jsonl", "--gold", **{name: "1"})
        assert done.code == 0
        assert f"{name} is no setting; did you mean ASSAY_JOBS?" in done.err
    others = {"ASSAY_FAKE_SECONDS": "0", "ASSAY_TRIPWIRES": "x", "ASSAY_TOKEN": "x"}
    assert assay("dataset", "check", "rows.jsonl", **others).err == ""


def test_the_file_of_the_documents_is_right(assay: Callable, rows: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/settings.md").read_text(encoding="utf-8")
    Path("assay.toml").write_text(text.partition("```toml\n")[2].partition("```")[0])
    assert assay("dataset", "check", "rows.jsonl").code == 0
