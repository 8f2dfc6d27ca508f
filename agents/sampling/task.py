"""Turn an instance into what a solver may know of it, field by field."""

from assay.agents.contract import AgentTask, Capabilities, Oracle, Oracles
from assay.harness.domain import Instance


def make_task(instance: Instance, capabilities: Capabilities, root: str) -> AgentTask:
    return AgentTask(
        repo=instance.repo,
        language=instance.language,
        problem_statement=instance.problem_statement,
        root=root,
        hints=instance.hints if Oracle.HINTS in capabilities.oracle else "",
    )


def select_oracles(instance: Instance, capabilities: Capabilities) -> Oracles:
    """Return the parts of the answer that a solver declares to need, and no others."""
    answer: dict[Oracle, tuple[str, object]] = {
        Oracle.GOLD_PATCH: ("gold_patch", instance.gold_patch),
        Oracle.FAIL_TO_PASS: ("fail_to_pass", instance.fail_to_pass),
        Oracle.PASS_TO_PASS: ("pass_to_pass", instance.pass_to_pass),
        Oracle.INSTANCE_ID: ("instance_id", instance.id),
    }
    return Oracles.model_validate(dict(answer[each] for each in capabilities.oracle if each in answer))
