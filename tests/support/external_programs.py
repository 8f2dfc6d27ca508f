"""External programs of the tests, and runs of them on a small tree."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.agents.contract import AgentTask, Budget, SolveOutcome, SolveSession
from assay.agents.external.adapter import Adapter
from assay.agents.external.command import Command, CommandSettings
from assay.agents.llm.budget import Ledger
from assay.agents.llm.chat import Answer, Request
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.agents.trajectory import AgentInfo, Trajectory, TrajectoryRecorder

ASK = r"""
ask() {
    body=$(printf '{"model": "%s", "messages": [{"role": "user", "content": "%s"}]}' "$ASSAY_MODEL" "$1")
    exec 3<> "/dev/tcp/127.0.0.1/$(echo "$ASSAY_BASE_URL" | sed 's|.*:\([0-9]*\)/.*|\1|')"
    printf 'POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer %s\r\n' "$ASSAY_TOKEN" >&3
    printf 'Content-Length: %s\r\n\r\n%s' "${#body}" "$body" >&3
    reply=$(cat <&3)
    exec 3>&-
}
"""
"""A function of bash alone that asks a model; the reply with its headers is in $reply."""
OBEY = (
    ASK
    + r"""
ask "$(head -n 1 "$ASSAY_INSTRUCTION")"
eval "$(echo "$reply" | sed -n 's/.*RUN<\(.*\)>.*/\1/p')"
"""
)
FIX = "RUN<sed -i s/a-b/a+b/ calc.py>"
CALC = "def add(a, b): return a-b\n"


@dataclass
class Run:
    """A program on a small tree."""

    session: SolveSession
    agent: Command
    recorder: TrajectoryRecorder
    logs: Path

    def solve(self) -> SolveOutcome:
        return self.agent.solve(self.session)

    def trajectory(self) -> Trajectory:
        found = self.recorder.trajectory()
        assert found is not None
        return found

    def output(self) -> str:
        return (self.logs / "output.txt").read_text()


def adapter_file(folder: Path, adapter: Adapter) -> str:
    path = folder / f"{adapter.name}.yaml"
    path.write_text(adapter.model_dump_json(exclude_defaults=True))  # JSON is YAML
    return str(path)


def make_run(
    folder: Path,
    run: str,
    lines: Iterable[str | Answer] | Callable[[Request], str | Answer] = (),
    *,
    budget: Budget | None = None,
    scratch: Path | None = None,
    **fields: object,
) -> Run:
    adapter = Adapter.model_validate({"name": "toy-agent", "run": run, "instruction": "{issue}", **fields})
    agent = Command(CommandSettings(adapter=adapter_file(folder, adapter)))
    recorder = TrajectoryRecorder(None, AgentInfo(name="toy-agent", version="1", model_name="toy"))
    budget = budget or Budget()
    session = SolveSession(
        AgentTask(repo="acme/calc", language="python", problem_statement="add subtracts\nFix it.\n"),
        folder_workspace(folder / "tree", {"calc.py": CALC}),
        RecordedModel(Scripted(lines), recorder, ModelDefaults(model="real-name"), Ledger(budget.llm)),
        recorder,
        budget,
        scratch=scratch,
        logs=folder / "logs",
    )
    return Run(session, agent, recorder, folder / "logs")
