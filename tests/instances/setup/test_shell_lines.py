import pytest

from assay.instances.setup.shell_lines import (
    installs,
    read_automation,
    read_documents,
    workflow_values,
    workflow_variable,
)

WORKFLOW = """\
on: push
jobs:
  test:
    strategy:
      matrix:
        python-version: ["3.7", 3.8, "3.10"]
    steps:
      - uses: actions/setup-python@v2
        with: {python-version: "${{ matrix.python-version }}"}
      - run: |
          sudo apt-get update && sudo apt-get install -y libxml2-dev \\
            graphviz libfoo-${{ matrix.arch }}
          python -m pip install -e ".[test,dev]" -r requirements/ci.txt pytest-mock==3.6
      - run: tox -e py
"""


def test_commands_of_workflows_dockerfiles_and_makefiles_are_found(project) -> None:
    made = project(
        {
            ".github/workflows/ci.yml": WORKFLOW,
            "Dockerfile": "FROM debian\nRUN apt-get install -y libpq-dev\n",
            "Makefile": "test:\n\tpip install nose\n",
            ".travis.yml": "script: [pytest, 'pip install mock']\n",
        }
    )
    lines = read_automation(made)
    found = installs(lines)
    assert found.system == ("libxml2-dev", "graphviz", "libpq-dev")
    assert found.files == ("requirements/ci.txt",)
    assert set(found.packages) == {"pytest-mock==3.6", "mock", "nose"}
    assert "tox -e py" in lines
    assert workflow_values(made, "python-version")[:3] == ("3.7", "3.8", "3.10")


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("pip3 install 'attrs>=19' -c constraints.txt", "packages", ("attrs>=19",)),
        ("pip install --upgrade pip --index-url https://host/simple", "packages", ("pip",)),
        ("pip install .", "packages", ()),
        ("pip install calc[all] -e .[test,dev]", "packages", ()),
        ("uv pip install -r dev.txt", "files", ("dev.txt",)),
        ("poetry install --with test,docs -E json", "packages", ()),
        ("echo 'half", "packages", ()),
        ("# apt-get install nothing", "system", ()),
    ],
)
def test_packages_of_a_command_are_read(line: str, field: str, value: tuple[str, ...]) -> None:
    assert getattr(installs([line]), field) == value


@pytest.mark.parametrize("text", ["a: [b", "a: &b [*b]", "a: 1\n---\nb: 2"])
def test_a_broken_workflow_says_nothing(project, text: str) -> None:
    assert read_automation(project({".github/workflows/ci.yml": text})) == []


def test_nox_sessions_and_documents_are_read(project) -> None:
    nox = "def tests(session):\n    session.install('-e', '.[test]', 'mock>=4')\n    session.install(*deps)\n"
    made = project({"noxfile.py": nox, "README.md": "Use apt to be happy.\n\n    $ sudo apt-get install libxml2-dev\n"})
    found = installs([*read_automation(made), *read_documents(made)])
    assert (found.packages, found.system) == (("mock>=4",), ("libxml2-dev",))


@pytest.mark.parametrize(
    ("value", "known"),
    [("1", "1"), ("${{ matrix.server }}", "5.0"), ("${{ secrets.KEY }}", ""), ("${{ matrix.other }}", "")],
)
def test_a_variable_of_workflows_has_its_value_or_the_first_of_a_matrix(project, value: str, known: str) -> None:
    text = "jobs: {test: {strategy: {matrix: {server: ['5.0', '6.0']}}, steps: [{run: pytest, env: {LEVEL: '%s'}}]}}"
    made = project({".github/workflows/ci.yml": text % value})
    assert workflow_variable(made, "LEVEL") == known
    assert workflow_variable(made, "OTHER") == ""
