"""What the model is asked, step by step."""

from assay.agents.contract import AgentTask
from assay.harness.templates import read_table

TEXTS: dict[str, str] = read_table(__file__)
LEFT_OUT = "There is no room for all of the code here; left out are:"
CUT = "- {path}: {count} of the {all} lines that belong here"  # said below code that is cut


def issue(task: AgentTask) -> str:
    return TEXTS["issue"].format(repo=task.repo, issue=task.problem_statement.strip())
