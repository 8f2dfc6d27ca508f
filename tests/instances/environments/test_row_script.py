import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.instances.environments.row_script import Script, ScriptPart, find_part, read_script
from assay.instances.environments.shell import read_statements

DJANGO = """\
#!/bin/bash
set -uxo pipefail
source /opt/miniconda3/bin/activate
conda activate testbed
cd /testbed
sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen
export LC_ALL=en_US.UTF-8
git config --global --add safe.directory /testbed
git status
git -c core.fileMode=false diff abc
python -m pip install -e .
git checkout abc tests/cache/tests.py
git apply -v - <<'EOF_1'
+: '>>>>> Start Test Output'
EOF_1
: '>>>>> Start Test Output'
./tests/runtests.py --verbosity 2 cache.tests
: '>>>>> End Test Output'
git checkout abc tests/cache/tests.py
"""
SHELL = (
    "set -uxo pipefail",
    "source /opt/miniconda3/bin/activate",
    "conda activate testbed",
    "cd /testbed",
    "export LC_ALL=en_US.UTF-8",
    "git config --global --add safe.directory /testbed",
)


def test_script_is_parted_into_what_prepares_and_what_tests() -> None:
    assert read_script(DJANGO) == Script(
        workdir="/testbed",
        system=("sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen",),
        install=(*SHELL, "python -m pip install -e ."),
        prepare=SHELL,
        own_prepare=("cd /testbed", "export LC_ALL=en_US.UTF-8"),
        tests="./tests/runtests.py --verbosity 2 cache.tests",
        commands=(("./tests/runtests.py", "--verbosity", "2", "cache.tests"),),
        runs=("tests/runtests.py",),
    )


def test_lines_that_end_as_in_dos_make_no_difference() -> None:
    assert read_script(DJANGO.replace("\n", "\r\n")) == read_script(DJANGO)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("git apply -v - <<'E'\nx\nE", "tree"),
        ("git submodule update --init", "tree"),
        ("rm -f tests/test_a.py", "tree"),
        ("git config user.name x", "shell"),
        ("A=1 B=2", "shell"),
        ("source a/b && nvm use 18", "shell"),
        ("{ set +x; } 2>/dev/null", "shell"),
        ("echo x; : # y", "nothing"),
        ("# nothing", "nothing"),
        ("sudo apt-get install -y x", "system"),
        ("python3.9 -m pip install .", "install"),
        ("cd sub && timeout 900 npm ci", "install"),
        ("python setup.py build_ext --inplace", "install"),
        ("yarn", "install"),
        ("npm run build", "build"),
        ("python manage.py migrate", "build"),
        ("cd build && cmake ..", "build"),
        ("echo 1 > made.txt", "build"),
        ("echo 127.0.0.1 a >> /etc/hosts", "system"),
        ("for x in a b; do\n  make $x\ndone", "build"),
        ("if ! git diff --quiet; then npm install; fi", "install"),
    ],
)
def test_statement_belongs_to_a_part(text: str, part: str) -> None:
    (statement,) = read_statements(text)
    assert find_part(statement) is ScriptPart(part)


@pytest.mark.parametrize(
    ("text", "env", "commands", "folder"),
    [
        ("pytest -rA a.py", "", (("pytest", "-rA", "a.py"),), ""),
        ("(go test -v ./x -run '^T') | cat", "", (("go", "test", "-v", "./x", "-run", "^T"),), ""),
        ("A='b c' x y 2>&1", "A='b c'", (("x", "y"),), ""),
        ("(mvn -q a && mvn -q b) | cat", "", (("mvn", "-q", "a"), ("mvn", "-q", "b")), ""),
        ("cd tests && ./run", "", (("./run",),), "tests"),
        ("(\n  pytest a.py\n)", "", (("pytest", "a.py"),), ""),
        ("pytest a.py; true", "", (), ""),
        ("pytest a.py | jq .", "", (), ""),
        ("pytest a.py || pytest b.py", "", (), ""),
        ("pytest a.py\npytest b.py", "", (), ""),
        ("pytest *.py", "", (), ""),
        ("A=$B pytest a.py", "", (), ""),
        ("pytest a.py > log", "", (), ""),
        ("pytest 'a.py", "", (), ""),
    ],
)
def test_test_command_is_given_in_words_if_it_is_plain(text: str, env: str, commands: object, folder: str) -> None:
    script = read_script(f": '>>>>> Start Test Output'\n{text}\n: '>>>>> End Test Output'\n")
    assert (script.env, script.commands, script.folder) == (env, commands, folder)
    assert text in script.tests


def test_without_markers_the_last_command_that_acts_is_the_test_command() -> None:
    script = read_script("cd /x\npip install .\nmake\ngit apply a\npytest -rA t.py\ngit checkout b t.py\necho done\n")
    assert script.commands == (("pytest", "-rA", "t.py"),)
    assert script.prepare == ("cd /x", "make")


@pytest.mark.parametrize("text", ["", "echo x", "cd /x\n", ": '>>>>> Start Test Output'", ": '>>>>> End Test Output'"])
def test_script_without_tests_has_no_test_command(text: str) -> None:
    assert read_script(text).commands == ()


def test_script_that_no_shell_could_read_is_kept_whole() -> None:
    assert read_script("pytest 'a\n") == Script(tests="pytest 'a\n")


LINES = ("cd /x", "make", "pip install .", "git apply x", "echo a", "apt-get install y", "export A=1", "x <<E\nb\nE")


@given(st.lists(st.sampled_from(LINES)))
def test_every_statement_before_the_tests_is_in_the_parts_it_belongs_to(lines: list[str]) -> None:
    script = read_script("\n".join([*lines, ": '>>>>> Start Test Output'", "t", ": '>>>>> End Test Output'", "make z"]))
    parts = [(find_part(statement), line) for line in lines for statement in read_statements(line)]
    assert list(script.system) == [line for part, line in parts if part is ScriptPart.SYSTEM]
    assert list(script.prepare) == [line for part, line in parts if part in {ScriptPart.SHELL, ScriptPart.BUILD}]
    installs = [line for part, line in parts if part is ScriptPart.INSTALL]
    assert [line for line in script.install if line in installs] == installs
    assert script.tests == "t"
