# ruff: noqa: E501 - what programs print is not broken
import re

import pytest

from assay.harness.domain import Recipe
from assay.instances.setup.remedies import REMEDIES
from assay.instances.setup.symptoms import diagnose, symptoms

OLD = "3.9"
GO = Recipe(language="go", toolchain="1.19")
RUST = Recipe(language="rust", toolchain="1.78")
PYTHON = Recipe(toolchain=OLD, packages=("pytest", "mock==9"))

CASES: list[tuple[str, Recipe, str, str, object]] = [
    # what is printed, recipe, rule, field, value afterwards
    ("E   ModuleNotFoundError: No module named 'yaml'", PYTHON, "missing-module", "packages", "PyYAML"),
    ("ImportError: No module named dateutil.tz", PYTHON, "missing-module", "packages", "python-dateutil"),
    ("E  fixture 'mocker' not found", PYTHON, "unknown-fixture", "packages", "pytest-mock"),
    ("pytest: error: unrecognized arguments: --cov=x --cov-report", PYTHON, "unknown-option", "packages", "pytest-cov"),
    ("Unknown config option: asyncio_mode", PYTHON, "unknown-setting", "packages", "pytest-asyncio"),
    ("'django_db' not found in `markers` configuration option", PYTHON, "unknown-marker", "packages", "pytest-django"),
    ("Missing required plugins: pytest-xdist, pytest-env", PYTHON, "required-plugins", "packages", "pytest-env"),
    ("async def functions are not natively supported", PYTHON, "coroutine-tests", "packages", "pytest-asyncio"),
    ("x.c:1:10: fatal error: libpq-fe.h: No such file or directory", PYTHON, "missing-header", "system_packages", "libpq-dev"),
    ("fatal error: openssl/ssl.h: No such file or directory", RUST, "missing-header", "system_packages", "libssl-dev"),
    ("error: command 'gcc' failed: No such file or directory", PYTHON, "no-compiler", "system_packages", "gcc"),
    ("error: linker `cc` not found", RUST, "no-compiler", "system_packages", "gcc"),
    ('exec: "gcc": executable file not found in $PATH', GO, "no-compiler", "system_packages", "gcc"),
    ("The system library `alsa` required by crate `a`", RUST, "missing-library", "system_packages", "libasound2-dev"),
    ("/usr/bin/ld: cannot find -lpcap: No such file", GO, "missing-library", "system_packages", "libpcap-dev"),
    ("ImportError: libGL.so.1: cannot open shared object file", PYTHON, "missing-shared-library", "system_packages", "libgl1"),
    ("ValueError: Namespace Gst not available", PYTHON, "missing-typelib", "system_packages", "gir1.2-gstreamer-1.0"),
    ("sh: 1: git-lfs: not found\nsh: 1: hg: not found", PYTHON, "missing-command", "system_packages", "mercurial"),
    ("No such file or directory: 'ffmpeg'", PYTHON, "missing-command", "system_packages", "ffmpeg"),
    ("cannot import name 'Markup' from 'jinja2'", PYTHON, "removed-api", "constraints", "jinja2<3.1"),
    ("AttributeError: module 'numpy' has no attribute 'float'", PYTHON, "removed-api", "constraints", "numpy<1.24"),
    ("LookupError: setuptools-scm was unable to detect version for /x", PYTHON, "version-from-tags", "pretend_version", True),
    ("Because mock was not found in the package registry and", PYTHON, "unknown-package", "packages", "pytest"),
    ("because you require mock==9 and", PYTHON, "conflicting-requirement", "packages", "mock"),
    ("because you require numpy>=2 and", PYTHON, "conflicting-requirement", "cutoff_days", 90),
    ("the current Python version (3.9.2) does not satisfy Python>=3.10", PYTHON, "newer-python-required", "toolchain", "3.11"),
    ("Because you require a==1.0 and a==2.0, we can", PYTHON.model_copy(update={"requirements": ("x.txt", "y.txt")}),
     "files-exclude-each-other", "requirements", "x.txt"),
    ("error: Expected '=' or whitespace, found Some('.'): tests/x.txt:1:3", PYTHON.model_copy(update={"requirements": ("tests/x.txt", "y.txt")}),
     "unreadable-file", "requirements", "y.txt"),
    ("E: Unable to locate package libfoo", PYTHON.model_copy(update={"system_packages": ("a", "libfoo")}),
     "unknown-debian-package", "system_packages", "a"),
    ("cannot import name 'Self' from 'typing'", PYTHON, "came-to-python", "toolchain", "3.11"),
    ("module 'time' has no attribute 'clock'", PYTHON, "left-python", "toolchain", "3.6"),
    ("ModuleNotFoundError: No module named '_sqlite3'", PYTHON, "incomplete-python", "toolchain", "3.11"),
    ("E       DeprecationWarning: x is deprecated", PYTHON, "warnings-are-errors", "env", {"PYTEST_ADDOPTS": "-W default"}),
    ("go: go.mod requires go >= 1.22 (running go 1.19.8)", GO, "newer-go-required", "toolchain", "1.24"),
    ("go: -race requires cgo; enable cgo by setting", GO, "needs-cgo", "env", {"CGO_ENABLED": "1"}),
    ("missing go.sum entry for module", GO, "module-file-incomplete", "env", {"GOFLAGS": "-mod=mod"}),
    ("it requires rustc 1.80 or newer", RUST, "newer-rust-required", "toolchain", "1.85"),
    ("feature `edition2024` is required", RUST, "newer-rust-required", "toolchain", "1.85"),
    ("the build backend poetry.core of that date has no editable installs", PYTHON, "no-editable-install", "install", None),
]  # fmt: skip
SECOND_ANSWERS = {"conflicting-requirement", "unknown-option", "incomplete-python"}
"""Rules that do something else if the symptom remains."""
VERSIONS = {"python": ("3.6", "3.9", "3.11"), "go": ("1.19", "1.24"), "rust": ("1.78", "1.85")}


@pytest.mark.parametrize(
    ("text", "recipe", "rule", "field", "value"), CASES, ids=[f"{c[2]}-{c[0][:20]}" for c in CASES]
)
def test_a_symptom_changes_the_recipe(facts, text: str, recipe: Recipe, rule: str, field: str, value: object) -> None:
    known = facts({}, language=recipe.language, available=VERSIONS[recipe.language])
    changed, findings = diagnose(f"before\n\x1b[31m{text}\x1b[0m\nafter", recipe, known)
    assert rule in [finding.rule for finding in findings], findings
    after = getattr(changed, field)
    assert after != getattr(recipe, field)
    assert value is None or after == value or (isinstance(after, tuple) and value in after), after
    again, nothing = diagnose(text, changed, known)
    assert (again, nothing) == (changed, []) or rule in SECOND_ANSWERS


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
    text = 'File "build_meta.py", line 332, in get_requires_for_build_wheel\n  x\nFile "/testbed/config.py", line 1, in main\n'
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
