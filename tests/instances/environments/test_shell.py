import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.instances.environments.shell import (
    ShellStatement,
    ShellWord,
    UnreadableError,
    list_commands,
    read_command,
    read_statements,
    read_word,
)

PIECES = st.sampled_from(
    [*shlex.split("a if fi { } '(' ')' \\' \\\" \\` '$(' $ '\\' ';' '&&' '|' '>' '<<' E '#' ="), "\n", " "]
)
WORDS = st.lists(
    st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cc", "Cs"], codec="utf-8"), min_size=1),
    min_size=1,
)


def one(text: str) -> ShellStatement:
    (statement,) = read_statements(text)
    return statement


@given(WORDS)
def test_quoted_words_are_read_as_they_are(words: list[str]) -> None:
    statement = one(shlex.join(["run", *words]))
    assert [read_command(node) for node in statement.nodes] == [([], [ShellWord(word) for word in ("run", *words)])]


@given(st.lists(PIECES).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_statements(text)
    except UnreadableError:
        return
    assert all(statement.source in text for statement in found)
    assert all(command for statement in found for command in (*statement.commands, *statement.files_written))
    assert all(node.type for statement in found for node in list_commands(statement))


@given(st.lists(st.sampled_from(("a", "'b c'", '"d e"', "f\\ g", "x=1", "\\\n", "'i\nj'", "k#l", '"m\\"n"', "o''p"))))
def test_words_are_those_of_a_real_shell(pieces: list[str]) -> None:
    line = " ".join(["show", *pieces]).replace("\\\n ", "\\\n")
    program = f"show() {{ for word; do printf '%s\\0' \"$word\"; done; }}; {line}"
    shown = subprocess.run(["bash", "-c", program], capture_output=True, check=True).stdout.decode()
    (words,) = one(line).commands
    assert list(words[1:]) == shown.split("\0")[:-1]


def test_statement_ends_where_the_shell_can_run_it() -> None:
    text = (
        "set -e; cd x\n"
        "if a; then\n  b\nfi\n"
        "git apply - <<'EOF'\n+ if (\nEOF\n"
        "make \\\n  all |\n  cat\n"
        "f() {\n  echo '}'\n}\n"
        'echo "$(date "+%s")" `who`\n'
        "\n# a comment that isn't closed\n"
        "echo a # it's over\n"
        "bash -c 'cd x\nmake'\n"
        "pytest \\\na.py \\\nb.py\n"
        "set +x; { make; } 2>/dev/null\n"
    )
    found = read_statements(text)
    assert [statement.source.split("\n")[0] for statement in found if statement.nodes] == [
        "set -e; cd x",
        "if a; then",
        "git apply - <<'EOF'",
        "make \\",
        "f() {",
        'echo "$(date "+%s")" `who`',
        "echo a # it's over",
        "bash -c 'cd x",
        "pytest \\",
        "set +x; { make; } 2>/dev/null",
    ]
    assert found[2].source == "git apply - <<'EOF'\n+ if (\nEOF"
    assert found[3].commands == (("make", "all"), ("cat",))
    assert found[-3].commands == (("bash", "-c", "cd x\nmake"),)
    assert found[-2].commands == (("pytest", "a.py", "b.py"),)


def test_commands_are_without_what_surrounds_them() -> None:
    statement = one("A=1 B='x y' sudo make -j2 2> log && (cd sub; ./run) | tee out || if true; then done=1; fi")
    assert [" ".join(command) for command in statement.commands] == [
        "sudo make -j2",
        "cd sub",
        "./run",
        "tee out",
        "true",
    ]
    assert statement.files_written == ("log",)


def test_a_loop_has_the_commands_that_it_runs() -> None:
    statement = one('for x in make done; do\n  pip install "$x" >> log\ndone')
    assert statement.commands == (("pip", "install", "$x"),)


@pytest.mark.parametrize("word", ["$x", "*.py", "~/x", "a{b,c}", '"$x"', "$(date)", "`date`", "[ab]", '"a`b`"'])
def test_word_that_the_shell_changes_is_not_literal(word: str) -> None:
    assert not read_word(word).is_literal


@pytest.mark.parametrize("word", ["'$x'", "'*.py'", '"*.py"', "\\*", "a{b}", "'~'", "x=y", '"\\$x"'])
def test_quoted_word_is_literal(word: str) -> None:
    assert read_word(word).is_literal


@pytest.mark.parametrize("text", ["a; b", "a || b", "a | b", "a &", "(cd x && a) && b", "a > log", "! a", "{ a; }"])
def test_only_commands_one_after_the_other_are_listed(text: str) -> None:
    assert list_commands(one(text)) == []


@pytest.mark.parametrize(
    "text", ["'", '"', "`", "$(", "(", "{ a", "if a", "cat <<E\nF", "fi", "! if a; then\n  b\nfi", "echo $(" * 99]
)
def test_text_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_statements(text)
