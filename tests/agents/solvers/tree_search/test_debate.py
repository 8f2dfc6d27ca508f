import pytest

from assay.agents.solvers.tree_search.debate import debate, read_solution


def test_every_debater_reads_earlier_arguments_and_the_judge_decides() -> None:
    asked: list[tuple[str, str]] = []

    def ask(question: str, purpose: str) -> str:
        asked.append((question, purpose))
        return f"word {len(asked)} <solution>1</solution>"

    assert debate(ask, "It is slow.", ["patch a", "patch b"], debaters=2, rounds=2) == 1
    assert [purpose for _, purpose in asked] == ["debate"] * 4 + ["decide"]
    assert "debate so far" not in asked[0][0]
    assert [question.count("Debater ") for question, _ in asked] == [0, 1, 2, 3, 4]
    assert "Solution 1:\npatch b" in asked[4][0]


def test_single_solution_needs_no_debate() -> None:
    def ask(question: str, purpose: str) -> str:
        raise AssertionError(question)

    assert debate(ask, "It is slow.", ["patch"], debaters=3, rounds=3) == 0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("<solution>1</solution>", 1),
        ("Not <solution>0</solution> but <solution> 2 </solution>", 2),
        ("<solution>3</solution>", None),
        ("<solution>-1</solution>", None),
        ("Number 1.", None),
    ],
)
def test_read_solution_returns_a_known_number(answer: str, expected: int | None) -> None:
    assert read_solution(answer, 3) == expected
