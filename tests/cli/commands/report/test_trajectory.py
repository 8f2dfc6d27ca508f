import json
from collections.abc import Callable
from pathlib import Path

from planted import PLANTED
from toy import GOLD, TESTS


def test_an_external_agent_s_trajectory_is_converted_to_atif(assay: Callable, in_folder: Path) -> None:
    said = [{"role": "user", "content": "add subtracts"}, {"role": "assistant", "content": "```bash\nls\n```"}]
    Path("mini.traj.json").write_text(json.dumps(said))
    done = assay("report", "trajectory", "mini.traj.json", "--from", "mini")
    assert done.code == 0
    assert done.json["schema_version"] == "ATIF-v1.8"
    assert done.json["steps"][1]["tool_calls"][0]["arguments"] == {"command": "ls"}
    shown = assay("report", "trajectory", "mini.traj.json", "--from", "mini", "-o", "ours.json")
    assert "2 steps with 1 action of mini-swe-agent unknown in ours.json" in shown.out
    assert json.loads(Path("ours.json").read_text()) == done.json
    assay("report", "trajectory", "mini.traj.json", "--from", "sweagent").refuses(
        "mini.traj.json: this is not a trajectory in the format sweagent"
    )


SHOWN = "commit abcdef1\n\n     return a - b\n+    return a + b\n"


def record(command: str, shown: str, said: str = "") -> str:
    """Return a trajectory in ATIF: one action, and the model's words before it."""
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": command}}
    seen = {"results": [{"source_call_id": "c", "content": shown}]}
    step = {"step_id": 2, "source": "agent", "message": said, "tool_calls": [call], "observation": seen}
    steps = [{"step_id": 1, "source": "user", "message": "add subtracts"}, step]
    return json.dumps({"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "steps": steps})


def test_an_audit_says_where_a_patch_comes_from(assay: Callable, rows: Path) -> None:
    Path("t.json").write_text(record("git show abcdef1", SHOWN))
    assay("report", "trajectory", "t.json", "--audit").refuses("no patch.diff beside it; name one with --patch FILE")
    Path("patch.diff").write_text(GOLD)
    done = assay("report", "trajectory", "t.json", "--audit")
    assert (done.code, done.out) == (
        4,
        "t.json: leaked: 1 line followed (1 git_object)\n"
        "  git_object: step 2 shows 100% of the patch: bash git show abcdef1\n"
        "    return a + b\n"
        "  sign: step 2: a commit by its id: git show abcdef1\n",
    )
    Path("t.json").write_text(record("cat calc.py", SHOWN, said="return a + b"))
    done = assay("report", "trajectory", "t.json", "--audit", "--patch", "patch.diff", "--json")
    assert (done.code, done.json["trajectories"][0]["audit"]["verdict"]) == (0, "clean")


def test_an_audit_looks_for_the_hidden_tests_of_the_instance(assay: Callable, rows: Path) -> None:
    tests = "\n".join(line[1:] for line in TESTS.splitlines() if line.startswith("+"))
    more = [json.loads(line) for line in rows.read_text().splitlines()]
    more[0]["test_patch"] += MORE
    rows.write_text("".join(json.dumps(row) + "\n" for row in more))
    Path("mini.traj.json").write_text(
        json.dumps(
            [
                {"role": "user", "content": "add subtracts"},
                {"role": "assistant", "content": "return a + b\n```bash\ncat /eval/test_calc.py\n```"},
                {"role": "user", "content": f"{tests}\n{MORE}"},
            ]
        )
    )
    Path("fix.diff").write_text(GOLD)
    ask = ("report", "trajectory", "mini.traj.json", "--from", "mini", "--audit", "--patch", "fix.diff")
    assert assay(*ask).code == 0
    done = assay(*ask, "-d", "rows.jsonl", "-i", "acme__calc-1", "--json")
    (leak,) = done.json["trajectories"][0]["audit"]["leaks"]
    assert (done.code, leak["kind"], leak["what"]) == (4, "hidden_tests", "tests")
    assay(*ask, "-d", "rows.jsonl").refuses("-d and -i name the instance together")


MORE = """\
diff --git a/tests/test_sum.py b/tests/test_sum.py
new file mode 100644
--- /dev/null
+++ b/tests/test_sum.py
@@ -0,0 +1,3 @@
+def test_carry(carried):
+    assert carried.add(8, 4) == 12
+    assert carried.add(99, 1) == 100
"""


def test_a_run_is_audited_and_leaked_passes_are_no_chats(assay: Callable, mine: Path) -> None:
    Path("solved").mkdir()
    Path("solved/acme__calc-1.json").write_text(record("git show abcdef1", SHOWN))
    given = ("mine", "--trajectories", "solved")
    done = assay("report", "trajectory", *given, "--audit", "--json")
    first, second = done.json["trajectories"]
    assert (done.code, first["audit"]["verdict"], second["problem"]) == (4, "leaked", "no trajectory")
    done = assay("report", "export", *given, "--format", "sft", "-o", "none", "--check")
    assert done.code == 0
    assert "sft.jsonl: 0 rows\nleft_out.jsonl: 2 rows\n" in done.out
    (leaked, _) = [json.loads(line) for line in Path("none/left_out.jsonl").read_text().splitlines()]
    assert (Path("none/sft.jsonl").read_text(), leaked["why"]) == (
        "",
        "the trajectory shows the answer first: git_object",
    )
    Path("solved/acme__calc-1.json").write_text(record("cat calc.py", SHOWN, said="return a + b"))
    assert assay("report", "trajectory", *given, "--audit").code == 0
    assert assay("report", "export", *given, "--format", "sft", "-o", "chats", "--check").code == 0
    (row,) = [json.loads(line) for line in Path("chats/sft.jsonl").read_text().splitlines()]
    assert (row["instance_id"], row["reward"], row["messages"][0]["content"]) == ("acme__calc-1", 1, "add subtracts")
    assert assay("report", "export", *given, "--format", "sft", "--cutoff", "2030-01-01", "-o", "young").code == 0
    assert "screened: old" in Path("young/left_out.jsonl").read_text()
    assay("report", "export", *given, "--format", "csv", "--allow", "x").refuses("choose rows for training")


def test_secrets_of_another_agent_s_trajectory_are_taken_out(assay: Callable, in_folder: Path) -> None:
    secret = PLANTED[0].line
    Path("mini.traj.json").write_text(json.dumps([{"role": "user", "content": secret}]))
    done = assay("report", "trajectory", "mini.traj.json", "--from", "mini")
    assert "[redacted:token]" in done.json["steps"][0]["message"]
    assert "took out 1 secret (1 token)" in done.err
    shown = assay("report", "trajectory", "mini.traj.json", "--from", "mini", "-o", "ours.json")
    assert "in ours.json; took out 1 secret (1 token)" in shown.out
    assert PLANTED[0].secret not in Path("ours.json").read_text()
