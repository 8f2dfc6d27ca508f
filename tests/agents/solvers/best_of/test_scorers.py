import pytest

from assay.agents.contract import AgentTask, Candidate
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.solvers.best_of.scorers import RewardModel
from assay.agents.trajectory import AgentInfo, TrajectoryRecorder


@pytest.mark.parametrize(
    ("answer", "score"),
    [("It holds.\n<value>72.5</value>", 72.5), ("<value> 250 </value>", 100.0), ("I am sure.", 0.0)],
)
def test_reward_model_reads_a_percentage(answer: str, score: float) -> None:
    recorder = TrajectoryRecorder(None, AgentInfo(name="a", version="1"))
    model = RecordedModel(Scripted([answer]), recorder, ModelDefaults(model="tiny"))
    task = AgentTask(repo="a/b", language="python", problem_statement="It fails.")
    assert RewardModel(model).score(task, Candidate(patch="+x")) == score
