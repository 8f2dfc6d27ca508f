import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, ToolCall
from assay.agents.solvers.shared.bash_actions import GBNF, NoAction, clip, read_action


def called(*arguments: str, name: str = "bash") -> Answer:
    return Answer(
        tool_calls=tuple(ToolCall(id=f"c{at}", name=name, arguments=text) for at, text in enumerate(arguments))
    )


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        (called('{"command": "ls -l\\npwd"}'), "ls -l\npwd"),
        (called('{"command": "ls"}').model_copy(update={"content": "```bash\nrm x\n```"}), "ls"),  # before a block
        (Answer(content="I look.\n\n```bash\ncd src\nls\n```\nThen I see."), "cd src\nls"),
        (
            Answer(content="````bash\ncat > a.md <<E\n```bash\nmake\n```\nE\n````"),
            "cat > a.md <<E\n```bash\nmake\n```\nE",
        ),
        (Answer(content="```python\nx = 1\n```\n```sh\nls\n```"), "ls"),
        (
            Answer(content="I look at the files.\n```bash\nls -l\ncat setup.py\n```"),
            "ls -l\ncat setup.py",
        ),  # as in GBNF
    ],
)
def test_command_of_a_tool_call_or_a_block_is_read(answer: Answer, command: str) -> None:
    assert read_action(answer) == command


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (called('{"command": "ls"}', '{"command": "pwd"}'), "2 tool calls"),
        (called('{"command": "ls"', name="bash"), "no valid JSON"),
        (called('{"cmd": "ls"}'), "no 'command'"),
        (called('["ls"]'), "no 'command'"),
        (called('{"command": "  "}'), "no 'command'"),
        (called('{"command": "ls"}', name="python"), "no tool 'python'"),
    ],
)
def test_wrong_call_is_explained(answer: Answer, message: str) -> None:
    with pytest.raises(NoAction, match=message):
        read_action(answer)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I am done.", "0 bash blocks"),
        ("```\nls\n```", "0 bash blocks"),
        ("```bash\nls\n```\n```bash\npwd\n```", "2 bash blocks"),
        ("```bash\nls", "has no end"),
        ("```bash\n\n```", "is empty"),
    ],
)
def test_wrong_block_is_explained(text: str, message: str) -> None:
    with pytest.raises(NoAction, match=message):
        read_action(Answer(content=text))


def test_truncated_block_is_explained() -> None:
    with pytest.raises(NoAction, match="be shorter"):
        read_action(Answer(content="```bash\nls", finish=Finish.LENGTH))


def test_grammar_has_no_endless_repetition() -> None:
    assert all(int(most) <= 200 for most in re.findall(r"\{\d+,(\d*)\}", GBNF))


def test_clip_keeps_head_and_tail() -> None:
    """12,000 characters at the usual limit: 5,000 of the head, 5,000 of the tail, 2,000 left out."""
    shown = clip("a" * 6000 + "b" * 6000, 10_000)
    assert shown.startswith("a" * 5000 + "\n[2000 characters are left out")
    assert shown.endswith("]\n" + "b" * 5000)
    assert clip("a" * 10_000, 10_000) == "a" * 10_000


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_clip_returns_parts_of_the_text(text: str, limit: int) -> None:
    shown = clip(text, limit)
    if len(text) <= limit:
        assert shown == text
    else:
        head, note, tail = re.fullmatch(r"(.*)\n(\[\d+ characters [^\]]*\])\n(.*)", shown, re.DOTALL).groups()  # type: ignore[union-attr]
        assert len(head) + len(tail) == limit
        assert text.startswith(head)
        assert text.endswith(tail)
        assert f"[{len(text) - limit} " in note
