from samples import read


def test_the_issue_is_the_statement_or_else_the_change_of_the_documentation() -> None:
    issues = [read("nocode-bench", number).problem_statement for number in range(3)]
    assert issues == ["+`add` adds.", "+`sub` subtracts.", "Add `mul`."]
