from assay.instances.setup.project_facts import get_name
from assay.instances.setup.proposals import propose

TESTS = ("tests/test_a.py",)


def test_test_extra_is_chosen_before_the_developers(facts) -> None:
    script = "setup(extras_require={'dev': ['black'], 'test': ['mock'], 'docs': ['sphinx']})"
    found = propose(facts({"setup.py": script}, *TESTS))
    assert (found.extras, found.packages) == (("test",), ("pytest",))
    assert "|| set -- tests\n" in found.test_command
    assert found.runner == "pytest"


def test_developers_group_serves_where_there_is_none_for_tests(facts) -> None:
    pyproject = "[dependency-groups]\ndev = ['hypothesis>=6', 'mypy', 'ruff']\n"
    assert propose(facts({"pyproject.toml": pyproject})).packages == ("hypothesis>=6", "pytest")


def test_requirement_files_of_tox_come_before_guessed_ones(facts) -> None:
    texts = {"tox.ini": "[testenv]\ndeps = -r req/t.txt\n", "req/t.txt": "mock", "test-requirements.txt": "nose"}
    assert propose(facts(texts)).requirements == ("req/t.txt",)
    del texts["tox.ini"]
    assert propose(facts(texts)).requirements == ("test-requirements.txt",)


def test_extras_of_tox_are_taken_beside_the_test_extra(facts) -> None:
    script = "setup(extras_require={'plot': ['numpy'], 'test': ['mock'], 'docs': ['sphinx']})"
    tox = "[testenv]\nextras =\n  plot\n  py38: docs\n  other\n"
    assert propose(facts({"setup.py": script, "tox.ini": tox})).extras == ("test", "plot")
    assert propose(facts({"setup.py": script, "tox.ini": "[testenv]\nextras = plot\n"})).extras == ("test", "plot")


def test_tests_that_need_a_network_are_left_out_by_their_marker(facts) -> None:
    found = propose(facts({"pytest.ini": "[pytest]\nmarkers =\n  network: slow\n"}))
    assert found.env == {"PYTEST_ADDOPTS": "-m 'not (network)'"}


def test_packages_of_workflows_are_added_without_tools_and_the_project_itself(facts) -> None:
    workflow = "jobs: {t: {steps: [{run: pip install tox pytest-mock calc 'mock<4'}]}}"
    assert propose(facts({".github/workflows/t.yml": workflow})).packages == ("pytest-mock", "mock<4", "pytest")


def test_version_of_other_languages_is_what_their_manifest_asks_for(facts) -> None:
    found = facts({"go.mod": "module x\n\ngo 1.20\n"}, language="go", available=("1.15", "1.19", "1.24"))
    assert found.requires == ">=1.20"
    assert propose(found).toolchain == "1.24"
    assert propose(found).packages == ()


def test_a_distribution_is_asked_for_as_the_project_asks_for_it(facts) -> None:
    found = facts(
        {"setup.py": "setup(extras_require={'x': ['Flask_SQLAlchemy<3']})", "requirements/a.txt": "mock==4 # x"}
    )
    assert found.declaring("flask-sqlalchemy") == "Flask_SQLAlchemy<3"
    assert found.declaring("mock") == "mock==4"
    assert found.declaring("numpy") == ""


def test_a_line_that_is_no_requirement_has_no_name() -> None:
    assert [get_name(text) for text in ("A.b>1", "-r x.txt", "./local", "git+https://h/x", "")] == ["a-b", *[""] * 4]
