"""Settings: command line over ``ASSAY_*`` over ``assay.toml`` (or ``[tool.assay]`` of pyproject.toml) over defaults.

Every option of every command has a key, its long name with underscores: ``--runs-dir`` is ``runs_dir`` in the file and
``ASSAY_RUNS_DIR`` in the environment. At the top of the file a key is for every command that has the option. In a
table such as ``[evaluate]`` or ``[report.compare]`` it is for that command, as is ``ASSAY_EVALUATE_JOBS``.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import urlsplit

from assay.choices import EnvironmentChoice, ModelChoice
from assay.cli.settings import Setting, get_settings
from assay.harness.errors import DataError, UserError
from assay.harness.names import did_you_mean, nearest

if TYPE_CHECKING:
    from assay.harness.patchdiff.contract import Settings
    from assay.instances.trees.sources import Sources
    from assay.jobs.workplace import Workplace, WorkplaceSettings

TOOLCHAINS = "toolchains"
"""The table of images by language and version, which belongs to no command."""
SOURCES = "sources"
"""The table below it that is no language: where versions come from for which no image is named."""
HOST = "registry.example.com"
MODELS = "models"
"""The table that describes models by name, for every command with roles: ``cli/models.py``."""
PRIVATE = "private"
"""The one key that is no option: what of the person's logins builds may use."""
SOURCE_VARIABLES = {"order": "ASSAY_TOOLCHAINS_ORDER", "registry": "ASSAY_TOOLCHAINS_REGISTRY"}
ALSO = {"base_url": "OPENAI_BASE_URL"}
"""Variables of other tools that are read where Assay's own is not set."""


def read_settings() -> tuple[dict[str, Any], Path]:
    """Read the settings of the current folder, which may be empty; raises DataError."""
    own, shared = Path("assay.toml"), Path("pyproject.toml")
    if own.is_file():
        return _read_toml(own), own
    tables = _read_toml(shared).get("tool", {}) if shared.is_file() else {}
    found: dict[str, Any] = tables.get("assay", {}) if isinstance(tables, dict) else {}
    return found, shared


def toolchain_images() -> Mapping[str, Mapping[str, str]]:
    """Read the toolchain images that the user chose, by language and version; raises DataError."""
    settings, path = read_settings()
    images: Any = settings.get(TOOLCHAINS, {})
    if not isinstance(images, dict):
        raise DataError('is no table; write [toolchains.python] and below it "3.12" = "IMAGE"', file=str(path))
    sources = _toolchain_sources(images.get(SOURCES, {}), path)
    chosen: dict[str, dict[str, str]] = {name: table for name, table in images.items() if name != SOURCES}
    for language, versions in chosen.items():
        if not isinstance(versions, dict) or not all(isinstance(image, str) for image in versions.values()):
            problem = 'must hold versions and images, such as "3.12" = "python@sha256:..."'
            raise DataError(problem, file=str(path), field=f"{TOOLCHAINS}.{language}")
    return chosen | ({SOURCES: sources} if sources else {})


def _toolchain_sources(table: Any, path: Path) -> dict[str, str]:
    """Read the order of sources and the registry of official images from the file and the environment."""
    from assay.instances.toolchains.images import ORDER

    if not isinstance(table, dict) or not {*table} <= {*SOURCE_VARIABLES}:
        raise DataError("may hold order and registry", file=str(path), field=f"{TOOLCHAINS}.{SOURCES}")
    found = {name: os.environ.get(variable) or table.get(name, "") for name, variable in SOURCE_VARIABLES.items()}
    order, registry = found["order"], found["registry"]
    names = order if isinstance(order, list) else str(order).split()
    wrong = not all(name in ORDER for name in names) or (not names and "order" in table)
    for field, problem in (
        ("order", f"is {order!r}; write {' or '.join(ORDER)}, or a list of both" if wrong else ""),
        ("registry", "" if isinstance(registry, str) else f'is {registry!r}; write a text, such as "{HOST}/library"'),
    ):
        if problem and os.environ.get(SOURCE_VARIABLES[field]):
            raise UserError(f"{SOURCE_VARIABLES[field]} {problem}")
        if problem:
            raise DataError(problem, file=str(path), field=f"{TOOLCHAINS}.{SOURCES}.{field}")
    chosen = {"order": " ".join(names), "registry": registry.rstrip("/")}
    return {name: value for name, value in chosen.items() if value}


def workplace(
    engine: str,
    mirrors: Sequence[Path] | None = None,
    recipes: Sequence[Path] | None = None,
    environment: EnvironmentChoice = EnvironmentChoice.AUTO,
    /,
    **settings: "Unpack[WorkplaceSettings]",
) -> "Workplace":
    """Make the workplace of a command, with the user's toolchain images; progress is shown on the terminal."""
    from assay.cli.console import RunView
    from assay.jobs.workplace import Workplace

    chosen: WorkplaceSettings = {
        "jobs": 1,
        "view": RunView(),
        **settings,
        "engine": engine,
        "mirrors": tuple(mirrors or ()),
        "recipes": tuple(recipes or ()),
        "toolchains": toolchain_images(),
        "environment": environment,
    }
    return Workplace(**chosen)


def make_patchdiff_settings(
    generators: str | None, operators: str | None, budget: float, seed: int, confirmations: int
) -> "Settings":
    """Return PatchDiff's settings; raises UserError (PluginError) for an unknown generator or operator."""
    from assay.harness.patchdiff.contract import Settings, find_operators
    from assay.harness.patchdiff.generators import USUAL, find_generators

    wanted = generators.split(",") if generators else USUAL
    names = tuple(find_generators(name.strip() for name in wanted if name.strip()))
    chosen = find_operators(operators.split(",") if operators else None)
    return Settings(names, seed=seed, budget=budget, confirmations=confirmations, operators=chosen)


def choose_model(name: str | None, base_url: str | None, cassette: Path | None) -> ModelChoice | None:
    """Return the model that the options name; None if they name none."""
    return ModelChoice(name, base_url or "", cassette) if name else None


def sources(mirrors: Sequence[Path] | None = None) -> "Sources":
    from assay.jobs.workbench import make_sources

    return make_sources(mirrors or (), toolchain_images())


def read_defaults(root: Any, path: Sequence[str]) -> dict[str, Any]:
    """Read the options of a command that the file and the environment set, by parameter.

    Args:
        root: the tree of commands.
        path: names of the command from the top, such as report, compare.

    Raises:
        DataError: the file is wrong in any place. UserError: a variable that the command reads is.
    """
    settings, file = read_settings()
    commands = {names: get_settings(command) for names, command in _leaves(root)}
    shared = _find_shared(commands)
    _check({key: value for key, value in settings.items() if key != PRIVATE}, commands, shared, file)
    _export_private(settings.get(PRIVATE, []), file)
    found: dict[str, Any] = {}
    for depth in range(len(path) + 1):
        table = _table(settings, path[:depth])
        for key, setting in commands[tuple(path)].items():
            if key in table and (depth or key in shared):
                found[setting.parameter] = _read_value(setting, table[key], file, [*path[:depth], key])
    return found | _read_environment(commands[tuple(path)], path, shared)


def _export_private(names: Any, file: Path) -> None:
    """Name what is private for this process and those it starts, as ``ASSAY_PRIVATE`` does, which comes first."""
    if not isinstance(names, list) or not all(isinstance(name, str) and name.split() == [name] for name in names):
        problem = 'is no list of names; write hosts or names of variables, such as ["npm.acme.test", "NPM_TOKEN"]'
        raise DataError(problem, file=str(file), field=PRIVATE)
    if names and not os.environ.get("ASSAY_PRIVATE"):
        os.environ["ASSAY_PRIVATE"] = " ".join(names)


def refuse_address(address: str, path: Sequence[str]) -> None:
    """Raise DataError if only the file names an address on another machine, and the environment has a key."""
    from assay.agents.llm.ask import ADDRESS, KEY, OPENAI
    from assay.service.guard import is_loopback

    known = {OPENAI, *(os.environ.get(name) for name in (_variable("base_url"), _variable(*path, "base_url"), ADDRESS))}
    if os.environ.get(KEY) and address not in known and not is_loopback(urlsplit(address).netloc):
        problem = f"would send the key in {KEY} to {address}; if you mean that, set {ADDRESS}={address}"
        raise DataError(problem, file=str(read_settings()[1]), field="base_url")


def odd_variables(root: Any) -> Iterator[str]:
    """Yield a sentence for each ``ASSAY_*`` variable that is no setting but nearly the name of one."""
    known = {
        "ASSAY_BOX_TOKEN",
        "ASSAY_BOX_URL",
        "ASSAY_CACHE",
        "ASSAY_CORPUS_ENGINE",
        "ASSAY_KEY_ADDRESSES",
        "ASSAY_KEY_PASSPHRASE",
        "ASSAY_KUBERNETES_NAMESPACE",
        "ASSAY_KUBERNETES_POD",
        "ASSAY_KUBERNETES_URL",
        "ASSAY_PRIVATE",
        "ASSAY_PUBLISHED",
        "ASSAY_SERVICE",
        "ASSAY_TOKEN",
        *SOURCE_VARIABLES.values(),
    }
    for path, command in _leaves(root):
        known |= {name for key in get_settings(command) for name in (_variable(key), _variable(*path, key))}
    by_end = {name.removeprefix("ASSAY_"): name for name in known}
    for name in sorted(os.environ):
        end = name.removeprefix("ASSAY_")
        close = nearest(end, by_end, likeness=0.75) if end != name and name not in known else ""
        if close:
            yield f"{name} is no setting; did you mean {by_end[close]}?"


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command below a group with its path."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, child in below.items():
        yield from _leaves(child, (*path, name))


def _find_shared(commands: Mapping[tuple[str, ...], Mapping[str, Setting]]) -> frozenset[str]:
    """Return the keys that have one kind of value in every command, wherever it may be repeated."""
    kinds: dict[str, set[object]] = {}
    for found in commands.values():
        for key, setting in found.items():
            kinds.setdefault(key, set()).add(setting.kind)
    return frozenset(key for key, each in kinds.items() if len(each) == 1)


def _table(settings: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    table: Any = settings
    for name in path:
        table = table.get(name, {})
    return table if isinstance(table, dict) else {}


def _check(
    settings: Mapping[str, Any],
    commands: Mapping[tuple[str, ...], Mapping[str, Setting]],
    shared: frozenset[str],
    file: Path,
    path: tuple[str, ...] = (),
) -> None:
    """Raise DataError for the first key of a table, or of one below it, that is unknown or has a wrong value."""
    below = {names[: len(path) + 1][-1] for names in commands if names[: len(path)] == path and len(names) > len(path)}
    readers = [found for names, found in commands.items() if names[: len(path)] == path]
    keys = {key for found in readers for key in found}
    for key, value in settings.items():
        if not path and key in {TOOLCHAINS, MODELS}:
            continue
        if key in below and isinstance(value, dict):
            _check(value, commands, shared, file, (*path, key))
        elif key not in keys:
            raise DataError(
                f"is no setting{did_you_mean(key, keys | below)}", file=str(file), field=".".join((*path, key))
            )
        elif not path and key not in shared:
            tables = " or ".join(f"[{'.'.join(names)}]" for names, found in commands.items() if key in found)
            raise DataError(f"differs from command to command; put it below {tables}", file=str(file), field=key)
        else:
            _read_value(next(found[key] for found in readers if key in found), value, file, [*path, key])


def _read_value(setting: Setting, value: object, file: Path, place: Sequence[str]) -> Any:
    try:
        return setting.parse_toml(value)
    except ValueError as error:
        raise DataError(str(error), file=str(file), field=".".join(place)) from None


def _read_environment(found: Mapping[str, Setting], path: Sequence[str], shared: frozenset[str]) -> dict[str, Any]:
    values = {}
    for key, setting in found.items():
        names = [_variable(*path, key), _variable(key) if key in shared else "", ALSO.get(key, "")]
        name = next((each for each in names if os.environ.get(each)), "")
        if name:
            try:
                values[setting.parameter] = setting.parse_text(os.environ[name])
            except ValueError as error:
                raise UserError(f"{name} {error}") from None
    return values


def _variable(*names: str) -> str:
    return "_".join(("ASSAY", *names)).upper().replace("-", "_")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # errors of TOML and of UTF-8 are ValueErrors
        raise DataError(f"is not valid TOML: {error}", file=str(path)) from error
