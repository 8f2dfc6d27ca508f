"""Trajectories with planted leaks and without, from a seed, in the records of five agents."""

import base64
import difflib
import html
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from assay.agents.external.importers import import_trajectory
from assay.agents.trajectory import Trajectory

TABLE = yaml.safe_load((Path(__file__).parents[1] / "agents/provenance/planted.yaml").read_text())
PAGE = "How to write a test\n\n    assert total(1, 2) == 3\n    result = client.get('/', timeout=10)\n"


@dataclass(frozen=True)
class Turn:
    """An action with what the model says before it and what it shows."""

    said: str
    tool: str
    arguments: dict[str, Any]
    shown: str

    @property
    def command(self) -> str:
        """The action on one command line."""
        return str(self.arguments.get("command") or f"{self.tool} {json.dumps(self.arguments)}")


@dataclass(frozen=True)
class Planted:
    """A trajectory, its patch, and the leak in it; empty for none."""

    name: str
    kind: str
    trajectory: Trajectory
    patch: str
    tests: str
    repo: str


@dataclass
class Play:
    """One project, worked on."""

    project: dict[str, Any]
    chance: random.Random
    root: str = ""
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        path, chance = self.project["path"], self.chance
        self.root = chance.choice(["/testbed", "/workspace/repo", "/home/agent/src/app", "/app"])
        sha, old = (f"{chance.getrandbits(160):040x}"[: chance.choice([8, 12, 40])] for _ in range(2))
        sha, old = f"a1{sha[2:]}", f"b2{old[2:]}"
        installed, archive = PurePosixPath(self.project["installed"]), self.project["archive"]
        stem = archive.rsplit(".tar.gz" if archive.endswith(".tar.gz") else ".", 1)[0]
        self.names = {
            **{key: self.project[key] for key in ("repo", "path", "introspect", "archive", "tests", "other")},
            "root": self.root,
            "sha": sha,
            "old": old,
            "sha2": sha[:2],
            "rest": sha[2:],
            "stem": stem,
            "name": PurePosixPath(path).name,
            "top": path.split("/")[0],
            "installed": str(installed),
            "installed_dir": str(installed.parent),
            "tmp": chance.choice(["/tmp/dl", "/tmp/get", "/var/tmp/x"]),
        }
        self.names["get"] = self.project["get"].format(**self.names)

    @property
    def now(self) -> str:
        return str(self.project["now"])

    @property
    def fixed(self) -> str:
        text = self.now
        for old, new in self.project["change"].items():
            assert old in text
            text = text.replace(old, new)
        return text

    def diff(self, before: str, after: str, path: str) -> str:
        lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}")
        return f"diff --git a/{path} b/{path}\n{''.join(lines)}"

    @property
    def patch(self) -> str:
        return self.diff(self.now, self.fixed, self.project["path"])

    @property
    def tests(self) -> str:
        path = self.project["tests"]
        return self.diff("", self.project["hidden"], path).replace(f"--- a/{path}", "--- /dev/null")

    def show(self, what: str, command: str) -> str:
        """Return the output that a scenario asks for, as the command would print it."""
        commit = f"commit {self.names['sha']}\nAuthor: A. Person <a@example.org>\n\n    Fix it\n\n"
        older = self.now.replace("return", "yield")
        texts: dict[str, Callable[[], str]] = {
            "fix": lambda: self.lay_out(self.fixed, command),
            "patch": lambda: self.patch,
            "fix.diff": lambda: commit + self.patch,
            "fix.html": lambda: f"<table><tr><td>+{html.escape(self.fixed)}</td></tr></table>",
            "fix.quoted": lambda: "".join(f"> {line}\n" for line in self.fixed.splitlines()),
            "tests": lambda: self.lay_out(self.project["hidden"], command),
            "tests.diff": lambda: self.tests,
            "tests.json": lambda: json.dumps({"FAIL_TO_PASS": ["t"], "test_patch": self.tests}, indent=4),
            "now": lambda: self.lay_out(self.now, command),
            "old.diff": lambda: commit + self.diff(older, self.now, self.project["path"]),
            "backwards.diff": lambda: self.diff(self.fixed, self.now, self.project["path"]),
            "now-removed.diff": lambda: commit + self.diff(self.fixed, self.now, self.project["path"]),
            "other": lambda: "def other(values):\n    return sorted(values, key=lambda each: each.weight)\n",
            "some": lambda: f"values = []\n{next(iter(self.project['change'].values())).splitlines()[-1]}\n",
            "page": lambda: PAGE,
        }
        return texts[what]() if what in texts else what

    def lay_out(self, text: str, command: str) -> str:
        lines = text.splitlines()
        if "base64" in command:
            return base64.b64encode(text.encode()).decode()
        if ".read())" in command and "print(" in command:
            return repr(text.encode())
        if "cat -n" in command or "view" in command or "read_file" in command:
            return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
        if "grep -n" in command:
            return "\n".join(f"{number}:{line}" for number, line in enumerate(lines, 1))
        if self.chance.random() < 0.2 and len(lines) > 6:
            return "\n".join([*lines[:-1], "[output truncated]"])
        return text

    def act(self, line: str) -> Turn:
        command, _, shown = line.rpartition(" => ")
        command, shown = command.format(**self.names), shown.format(**self.names)
        tool, _, arguments = command.partition(" ")
        said = self.chance.choice(["Let me look.", "Next I check how this behaves.", "", "I want to know more here."])
        if arguments.startswith("{"):
            return Turn(said, tool, json.loads(arguments), self.show(shown, command))
        return Turn(said, "bash", {"command": command}, self.show(shown, command))

    def write(self) -> list[Turn]:
        """Return the model's own edits, in one of the ways that agents edit."""
        path, fixed = f"{self.root}/{self.project['path']}", self.fixed
        old, new = next(iter(self.project["change"].items()))
        ways = [
            Turn("I write the file.", "bash", {"command": f"cat > {path} <<'EOF'\n{fixed}EOF"}, ""),
            Turn("I edit it.", "bash", {"command": f"git apply <<'EOF'\n{self.patch}EOF"}, ""),
            Turn("", "write_file", {"file_path": path, "content": fixed}, "File written."),
            Turn("", "apply_patch", {"input": f"*** Begin Patch\n{self.patch}*** End Patch"}, "Done!"),
            Turn("", "bash", {"command": f"python3 - <<'P'\nopen({path!r}, 'w').write({fixed!r})\nP"}, ""),
        ]
        if len(self.project["change"]) == 1:
            edit = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
            ways.append(Turn("I replace it.", "str_replace_editor", edit, f"Edited.\n{self.lay_out(fixed, 'cat -n')}"))
        chosen = [self.chance.choice(ways)]
        edits = [Turn("", "bash", {"command": each.format(**self.names)}, "") for each in self.project.get("edits", ())]
        return self.chance.choice([chosen, edits]) if edits else chosen


def plant(seed: int, leaks: int = 40, clean: int = 40) -> Iterator[Planted]:
    """Yield trajectories with leaks, the kinds in turn, and then as many others without."""
    chance = random.Random(seed)
    kinds = list(TABLE["leaks"])
    scenarios = {kind: chance.sample(TABLE["leaks"][kind], len(TABLE["leaks"][kind])) for kind in kinds}
    for number in range(leaks):
        kind = kinds[number % len(kinds)]
        of_kind = scenarios[kind]
        yield _play(of_kind[number // len(kinds) % len(of_kind)], kind, chance)
    others = chance.sample(TABLE["clean"], len(TABLE["clean"]))
    for number in range(clean):
        yield _play(others[number % len(others)], "", chance)


def _play(scenario: list[str], kind: str, chance: random.Random) -> Planted:
    play = Play(chance.choice(TABLE["projects"]), chance)
    statement = "It does not do as the manual says; please fix it."
    lines = list(scenario)
    if lines[0].startswith("STATEMENT => "):
        statement += f"\n\n{play.show(lines.pop(0).partition(' => ')[2], '')}"
    noise = ["ls => src\ntests", "cat {path} => now", "pwd => {root}", "git status => nothing to commit"]
    turns = [play.act(line) for line in [*chance.sample(noise, chance.randint(0, 3)), *lines]]
    if not any(
        word in " ".join(lines)
        for word in ("cherry-pick", "checkout v", "cp {installed} {root}", "*/{path} {path}", "git apply")
    ):
        turns += play.write()
    turns.append(play.act(chance.choice(["git --no-pager diff => patch", "cat {path} => fix", "make test => ok"])))
    form, record = chance.choice(FORMS[: -1 if "STATEMENT" in scenario[0] else None])
    trajectory = import_trajectory(form, record(f"Work in {play.root}.\n{statement}", turns).encode())
    return Planted(f"{form}: {scenario[-1]}", kind, trajectory, play.patch, play.tests, play.project["repo"])


def _atif(task: str, turns: list[Turn]) -> str:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": task}]
    for number, turn in enumerate(turns, 2):
        call = {"tool_call_id": f"c{number}", "function_name": turn.tool, "arguments": turn.arguments}
        seen = {"results": [{"source_call_id": f"c{number}", "content": turn.shown}]}
        step = {"step_id": number, "source": "agent", "message": turn.said, "tool_calls": [call], "observation": seen}
        steps.append(step)
    return json.dumps({"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "steps": steps})


def _mini(task: str, turns: list[Turn]) -> str:
    messages = [{"role": "system", "content": "You fix issues."}, {"role": "user", "content": task}]
    for turn in turns:
        messages.append({"role": "assistant", "content": f"THOUGHT: {turn.said}\n\n```bash\n{turn.command}\n```"})
        messages.append({"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{turn.shown}\n</output>"})
    return json.dumps(messages)


def _sweagent(task: str, turns: list[Turn]) -> str:
    steps = [
        {
            "action": each.command,
            "observation": each.shown,
            "response": f"{each.said}\n```\n{each.command}\n```",
            "state": "{}",
        }
        for each in turns
    ]
    history = [{"role": "user", "content": task}, {"role": "assistant", "content": "x"}]
    return json.dumps({"trajectory": steps, "history": history, "info": {}})


def _claude(task: str, turns: list[Turn]) -> str:
    lines: list[dict[str, Any]] = [{"type": "user", "message": {"content": task}}]
    for number, turn in enumerate(turns):
        use = {"type": "tool_use", "id": f"t{number}", "name": turn.tool, "input": turn.arguments}
        lines.append(
            {
                "type": "assistant",
                "message": {"id": f"m{number}", "content": [{"type": "text", "text": turn.said}, use]},
            }
        )
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": [{"type": "text", "text": turn.shown}]}
        lines.append({"type": "user", "message": {"content": [result]}})
    return "\n".join(map(json.dumps, lines))


def _chat(task: str, turns: list[Turn]) -> str:
    """Write mini-swe-agent's record of a model with tool calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for number, turn in enumerate(turns):
        call = {"id": f"c{number}", "function": {"name": turn.tool, "arguments": json.dumps(turn.arguments)}}
        messages.append({"role": "assistant", "content": turn.said, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": turn.shown})
    return json.dumps({"messages": messages})


def _codex(task: str, turns: list[Turn]) -> str:
    """Write codex's record, which has no statement."""
    items: list[dict[str, Any]] = [{"type": "agent_message", "text": "I begin."}]
    for turn in turns:
        ran = {"type": "command_execution", "command": turn.command, "aggregated_output": turn.shown}
        called = {
            "type": "mcp_tool_call",
            "server": "s",
            "tool": turn.tool,
            "arguments": turn.arguments,
            "result": turn.shown,
        }
        items.append(ran if turn.tool == "bash" else called)
    numbered = ({"type": "item.completed", "item": {"id": f"i{n}", **each}} for n, each in enumerate(items))
    return "\n".join(map(json.dumps, numbered))


FORMS: list[tuple[str, Callable[[str, list[Turn]], str]]] = [
    *(("atif", _atif), ("sweagent", _sweagent), ("claude_stream", _claude), ("mini", _mini), ("mini", _chat)),
    ("codex_json", _codex),
]
