"""What runs the tests of JavaScript projects, and on which node."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.harness.files import read_yaml
from assay.instances.environments.shell import read_statements
from assay.instances.setup.node_manifests import allows_node, find_locked_major, read_packages
from assay.instances.setup.node_suite import expand_pattern
from assay.instances.setup.proposals import propose
from assay.instances.setup.proposals.javascript import LEGACY

NODES = ("10", "12", "14", "16", "18", "20", "22")
CASES = read_yaml(Path(__file__).with_name("node_suites.yaml"))


def write(case: dict[str, Any]) -> dict[str, str]:
    inner = {f"{folder}/package.json": json.dumps(about) for folder, about in case.get("packages", {}).items()}
    return {"package.json": json.dumps(case["package"]), **inner}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_runs_the_tests(facts, case: dict[str, Any]) -> None:
    recipe = propose(facts(write(case), *case.get("files", ()), language="typescript", available=NODES))
    assert recipe.runner == case["runner"]
    for text in case["has"]:
        assert text in recipe.test_command
    for text in case.get("lacks", ()):
        assert text not in recipe.test_command
    for name, value in case.get("fields", {}).items():
        found = getattr(recipe, name)
        assert (list(found) if isinstance(found, tuple) else found) == value
    assert bool(read_statements(recipe.test_command)) == bool(case["has"])
    assert recipe.test_files == ("patch" if "{files}" in recipe.test_command or not case["has"] else "all")


@pytest.mark.parametrize(
    ("texts", "node", "options"),
    [
        ({}, "14", ""),  # in use on the day of the commit
        ({".nvmrc": "v16.3.0\n"}, "16", ""),
        ({".node-version": "15"}, "16", ""),
        ({".tool-versions": "ruby 3\nnodejs 14.2.0\n"}, "14", ""),
        ({"package.json": '{"volta": {"node": "18.1.0"}}'}, "18", ""),
        ({"package.json": '{"engines": {"node": ">=16.5"}}'}, "16", ""),
        ({".github/workflows/a.yml": "{jobs: {a: {strategy: {matrix: {node: [10.x, 14.x, lts/*]}}}}}"}, "14", ""),
        ({"package.json": '{"devDependencies": {"webpack": "^4.1"}, "engines": {"node": "18"}}'}, "18", LEGACY),
        ({"yarn.lock": 'webpack@^4.0.0:\n  version "4.46.0"\n', ".travis.yml": "{node_js: [12, 18]}"}, "12", ""),
    ],
)  # fmt: skip
def test_node_is_chosen_by_what_the_project_says(facts, texts: dict[str, str], node: str, options: str) -> None:
    recipe = propose(facts({"package.json": "{}", **texts}, language="javascript", available=NODES))
    assert (recipe.toolchain, recipe.env.get("NODE_OPTIONS", "")) == (node, options)


@pytest.mark.parametrize(
    ("bound", "allowed"),
    [
        (">=14", "14 16 18 20 22"),
        (">=10.12 <16", "10 12 14"),
        ("^12.22.0 || ^14.17.0 || >=18.0.0", "12 14 18 20 22"),
        ("16.x", "16"),
        ("~18.12.1", "18"),
        ("12 - 16", "12 14 16"),
        (">= 16.0.0 <=20", "16 18 20"),
        ("<20.5", "10 12 14 16 18 20"),
        ("*", " ".join(NODES)),
        ("", " ".join(NODES)),
        ("nonsense", " ".join(NODES)),
    ],
)
def test_ranges_of_node(bound: str, allowed: str) -> None:
    assert [each for each in NODES if allows_node(bound, int(each))] == allowed.split()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package-lock.json", '{"packages": {"node_modules/jest": {\n      "version": "27.1.0"}}}'),
        ("package-lock.json", '{"dependencies": {\n    "jest": {\n      "version": "27.1.0"}}}'),
        ("yarn.lock", '"jest@npm:^27.0.0":\n  version: 27.1.0\n'),
        ("yarn.lock", 'jest@^27.0.0:\n  version "27.1.0"\n'),
        ("pnpm-lock.yaml", "packages:\n\n  /jest@27.1.0:\n"),
        ("pnpm-lock.yaml", "packages:\n\n  jest@27.1.0:\n"),
        ("package.json", '{"devDependencies": {"jest": "~27.0"}}'),
    ],
)
def test_locks_say_the_version_of_a_package(project, path: str, text: str) -> None:
    assert find_locked_major(project({path: text}, language="javascript"), "jest") == 27
    assert find_locked_major(project({path: text}, language="javascript"), "jes") == 0


@pytest.mark.parametrize(
    "texts",
    [
        {"package.json": '{"workspaces": ["packages/*", "!packages/c"]}'},
        {"package.json": '{"workspaces": {"packages": ["./packages/a", "packages/b/"]}}'},
        {"package.json": "{}", "pnpm-workspace.yaml": "packages:\n  # ours\n  - 'packages/*'\n  - '!packages/c'\n"},
        {"package.json": "{}", "lerna.json": '{"packages": ["packages/a", "packages/b"]}'},
    ],
)
def test_workspaces(project, texts: dict[str, str]) -> None:
    members = {f"packages/{name}/package.json": "{}" for name in ("a", "b", "c", "a/node_modules/x")}
    assert list(read_packages(project(texts | members))) == ["", "packages/a", "packages/b"]


def test_broken_manifests_declare_nothing(project) -> None:
    texts = {"package.json": "{", "lerna.json": "[]", "pnpm-workspace.yaml": ":"}
    assert read_packages(project(texts))[""].scripts == {}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("test/*.js", ["test/a.js"]),
        ("./test/**/*.js", ["test/a.js", "test/in/b.js"]),
        ("test/{a,b}.js", ["test/a.js"]),
        ("none/*.js", ["none/*.js"]),
        ("test", ["test"]),
    ],
)
def test_patterns_of_files(pattern: str, found: list[str]) -> None:
    assert expand_pattern(pattern, "x", ["x/test/a.js", "x/test/in/b.js", "test/c.js"]) == found
