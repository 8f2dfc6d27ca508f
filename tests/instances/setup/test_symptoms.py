import re
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Recipe
from assay.harness.files import read_yaml
from assay.instances.setup.remedies import REMEDIES
from assay.instances.setup.symptoms import diagnose, symptoms

PYTHON = Recipe(toolchain="3.9", packages=("pytest", "mock==9"))
GO = Recipe(language="go", toolchain="1.19")
RUST = Recipe(language="rust", toolchain="1.78")
NODE = Recipe(language="javascript", toolchain="12", test_command="export PATH\nexec jest\n", runner="jest")
JAVA = Recipe(language="java", toolchain="17")
CPP = Recipe(language="cpp", toolchain="12")
PHP = Recipe(language="php", toolchain="8.2")
RUBY = Recipe(language="ruby", toolchain="3.1")
BY_LANGUAGE = {each.language: each for each in (PYTHON, GO, RUST, NODE, JAVA, CPP, PHP, RUBY)}
BY_LANGUAGE["typescript"] = NODE.model_copy(update={"language": "typescript"})
PACKAGES = {
    "package.json": '{"scripts": {"build": "x"}, "workspaces": ["a"], "dependencies": {"chai": "^4.1", "jest": "29"}}',
    "a/package.json": '{"name": "@x/a"}',
}
CASES = read_yaml(Path(__file__).with_name("symptoms.yaml"))
SECOND_ANSWERS = {"conflicting-requirement", "unknown-option", "incomplete-python", "warnings-are-errors-in-c"}
SECOND_ANSWERS |= {"newer-ruby-syntax", "newer-phpunit"}
"""Rules that do something else if the symptom remains."""
NODES = ("10", "12", "14", "16", "18", "20", "22")
VERSIONS = {"python": ("3.6", "3.9", "3.11"), "go": ("1.19", "1.24"), "rust": ("1.78", "1.85")}
VERSIONS |= {"javascript": NODES, "typescript": NODES}
VERSIONS |= {"java": ("11", "17", "21"), "cpp": ("12", "14")}
VERSIONS |= {"php": ("7.4", "8.2", "8.4"), "ruby": ("2.7", "3.1", "3.3")}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['rule']}-{case['text'][:20]}" for case in CASES])
def test_a_symptom_changes_the_recipe(facts, case: dict[str, Any]) -> None:
    recipe = BY_LANGUAGE[case.get("language", "python")]
    given = case.get("given", {}).items()
    recipe = recipe.model_copy(update={name: tuple(each) if isinstance(each, list) else each for name, each in given})
    texts = case.get("texts", PACKAGES if recipe.runner else {})
    known = facts(texts, language=recipe.language, available=VERSIONS[recipe.language])
    changed, findings = diagnose(f"before\n\x1b[31m{case['text']}\x1b[0m\nafter", recipe, known)
    assert case["rule"] in [finding.rule for finding in findings], findings
    after, value = getattr(changed, case["field"]), case.get("value")
    assert after != getattr(recipe, case["field"])
    assert value is None or after == value or (isinstance(after, tuple) and value in after), after
    again, nothing = diagnose(case["text"], changed, known)
    assert (again, nothing) == (changed, []) or case["rule"] in SECOND_ANSWERS


@pytest.mark.parametrize(
    ("manifest", "field", "value"),
    [
        ("setup()", "requirements", ("requirements/base.txt",)),
        ("setup(install_requires=['b'])", "packages", "PyYAML<7"),
    ],
)
def test_a_missing_module_brings_the_file_that_names_it_where_manifests_name_nothing(
    facts, manifest: str, field: str, value: object
) -> None:
    files = {"setup.py": manifest, "requirements/base.txt": "PyYAML<7\nclick", "requirements/all-of-them.txt": "pyyaml"}
    changed, _ = diagnose("No module named 'yaml'", PYTHON, facts(files))
    assert value in (getattr(changed, field), getattr(changed, field)[-1])


def test_other_output_changes_nothing(facts) -> None:
    text = "1 passed\nAssertionError: 1 != 2\nNo module named 'asyncio.tasks'\nfixture 'calc' not found"
    assert diagnose(text, PYTHON, facts({})) == (PYTHON, [])


def test_rules_of_one_language_leave_others_alone(facts) -> None:
    assert diagnose("No module named 'yaml'", GO, facts({}, language="go", available=("1.19",))) == (GO, [])


def test_a_module_of_the_tree_is_looked_for_in_its_folder(facts) -> None:
    changed, _ = diagnose("No module named 'helpers'", PYTHON, facts({}, "tests/lib/helpers/__init__.py"))
    assert changed.env == {"PYTHONPATH": "/testbed/tests/lib"}
    assert changed.packages == PYTHON.packages


def test_a_distribution_that_the_project_asks_for_comes_before_a_folder_of_its_name(facts) -> None:
    texts = {"setup.py": "setup(install_requires=['click'])", "requirements-extra.txt": "yamllint>=1\n"}
    known = facts(texts, "calc/tools/yamllint/__init__.py")
    changed, _ = diagnose("No module named 'yamllint'", PYTHON, known)
    assert (changed.env, changed.packages) == ({}, (*PYTHON.packages, "yamllint>=1"))


def test_a_variable_that_only_workflows_set_is_set_as_they_do(facts) -> None:
    workflow = "jobs: {t: {steps: [{run: pytest, env: {REDIS_VERSION: 7.2}}]}}"
    text = "KeyError: 'REDIS_VERSION'\nKeyError: 'OTHER_NAME'"
    changed, findings = diagnose(text, PYTHON, facts({".github/workflows/ci.yml": workflow}))
    assert changed == PYTHON.model_copy(update={"env": {"REDIS_VERSION": "7.2"}})
    assert [each.rule for each in findings] == ["variable-of-workflows"]


def test_django_settings_are_those_that_manage_names(facts) -> None:
    manage = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.app.settings")'
    known = facts({"manage.py": manage, "example/manage.py": manage.replace("tests.app", "example")})
    changed, _ = diagnose("Requested setting X, but settings are not configured.", PYTHON, known)
    assert changed.env == {"PYTHONPATH": "/testbed", "DJANGO_SETTINGS_MODULE": "tests.app.settings"}
    assert "pytest-django" in changed.packages


def test_requirements_are_listed_where_the_project_cannot_say_them(facts) -> None:
    known = facts({"setup.py": "setup(install_requires=['six>1'], extras_require={'test': ['mock']})"})
    recipe = Recipe(extras=("test",), packages=("pytest",))
    changed, _ = diagnose("Failed to build `calc @ file:///testbed`", recipe, known)
    assert (changed.metadata, changed.extras, changed.packages) == (False, (), ("pytest", "six>1", "mock"))


def test_requirements_are_listed_where_the_setup_script_fails_in_the_backend(facts) -> None:
    text = (
        'File "build_meta.py", line 332, in get_requires_for_build_wheel\n  x\nFile "/testbed/a.py", line 1, in main\n'
    )
    changed, findings = diagnose(text, PYTHON, facts({"setup.py": "setup(install_requires=['six'])"}))
    assert (changed.metadata, changed.packages) == (False, (*PYTHON.packages, "six"))
    assert [each.rule for each in findings] == ["metadata-needs-build"]


def test_a_service_is_started_before_the_tests(facts) -> None:
    changed, _ = diagnose(
        "ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", PYTHON, facts({})
    )
    assert changed.system_packages == ("redis-server",)
    assert changed.test_command.startswith("redis-server ")
    assert changed.runner == "pytest"


def test_a_missing_library_that_nobody_knows_is_sought_in_the_workflows(facts) -> None:
    workflow = "jobs: {t: {steps: [{run: apt-get install -y libfoo-dev ffmpeg apache2}]}}"
    changed, _ = diagnose(
        "fatal error: foo.h: No such file or directory",
        PYTHON,
        facts({".travis.yml": workflow.replace("run", "script")}),
    )
    assert changed.system_packages == ("libfoo-dev", "ffmpeg")


def test_every_rule_names_a_remedy_and_groups_that_its_reason_uses() -> None:
    for symptom in symptoms():
        assert symptom.remedy in REMEDIES
        named = set(re.findall(r"\{(\w+)\}", symptom.reason)) - set(symptom.given)
        for pattern in symptom.patterns:
            assert named <= set(re.compile(pattern).groupindex), symptom.name
    assert {symptom.remedy for symptom in symptoms()} == set(REMEDIES)


def test_a_missing_package_of_the_project_is_built_after_those_that_it_uses(facts) -> None:
    texts = {
        "package.json": '{"scripts": {"prepare": "husky install"}, "workspaces": ["*"]}',
        "a/package.json": '{"name": "@x/a", "scripts": {"build": "tsc"}, "dependencies": {"@x/b": "*"}}',
        "b/package.json": '{"name": "@x/b", "scripts": {"build": "tsc"}}',
        "c/package.json": '{"name": "@x/c", "scripts": {"build": "ng build"}}',
    }
    known = facts(texts, language="javascript", available=NODES)
    changed, _ = diagnose("Cannot find module '@x/a/extra' from 'x.js'", NODE, known)
    built = "(cd b && npm run build) || true\n(cd a && npm run build) || true\n"
    assert changed.test_command == f"export PATH\n{built}exec jest\n"
    more, _ = diagnose("Cannot find module '@x/c'", changed, known)
    assert more.test_command == f"export PATH\n{built}(cd c && npm run build) || true\nexec jest\n"
