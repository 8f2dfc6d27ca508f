"""Cases of the harness itself on the real engine: signals, third parties, clocks and what an image holds."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.harness.domain import Outcome, Recipe
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.owner import DEADLINE, OWNER, owner_labels
from corpus.checks import Scene
from corpus.scenes import in_a_process
from corpus.stage import LATER, judge, labelled, play, task_of

SLEEP = "\n\nimport time\n\ntime.sleep(600)\n"


def image_holds_no_answer(scene: Scene) -> None:
    """62: neither fix nor hidden tests nor other history; and nothing of the host or of the build."""
    where = scene.place()
    fixed = "return a + b"
    with scene.engine.open(BoxSpec(where.image, where.plan.limits, {"assay.run": scene.run.name})) as box:

        def run(command: str) -> str:
            done = box.exec(["sh", "-c", command], workdir="/testbed")
            assert done.exit_code == 0, done.output
            return done.output.decode().strip()

        everywhere = "-s --exclude-dir=proc --exclude-dir=sys -e"
        for words in (fixed, LATER.strip(), "def test_add", "def test_sums", "1 + 3 = 4"):
            places = "/testbed /tmp /home /root /run /var /etc /assay" if words == fixed else "/"
            assert run(f"grep -rlF {everywhere} '{words}' {places} || true") == "", words
        assert run("git rev-list --all --count") == "1"
        assert run("git tag; git remote; git stash list; git reflog | wc -l") in {"0", "1"}
        assert run("git cat-file --batch-all-objects --batch-check | wc -l") == run(
            "git rev-list --objects --all | wc -l"
        )
        assert run("ls /run/secrets /assay 2>/dev/null || true") == ""
    texts = (where.instance.gold_patch, where.instance.test_patch, where.instance.id)
    history = json.dumps(scene.engine._client.history(where.image))
    assert not [text for text in texts if text in history]


def sigterm(scene: Scene) -> None:
    """64: the process is gone, long before its tests would be, and so is the container."""
    _signalled(scene, signal.SIGTERM)


def sigint_twice(scene: Scene) -> None:
    """65: the same for two interrupts, the second while the first is being obeyed."""
    _signalled(scene, signal.SIGINT, signal.SIGINT)


def _signalled(scene: Scene, *signals: signal.Signals) -> None:
    command = _given(scene)
    with _process(command, scene.run) as process:
        _until(lambda: bool(_at_work(scene)), process)
        time.sleep(0.5)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.2)
        code = process.wait(timeout=60)
    assert code in (130, -signals[0]), code
    left = labelled(scene.engine, scene.run.name)
    assert not left, left
    assert not list((scene.run / "instances").glob("*/verdict.json"))


def _given(scene: Scene) -> list[str]:
    """Write a data set and a prediction that sleeps; return the command that evaluates them."""
    instance = scene.place().instance
    given = scene.run.parent / "given"
    given.mkdir()
    row = {
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base_commit,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "problem_statement": "",
        "hints_text": "",
        "created_at": instance.created_at.isoformat(),
        "version": "1",
        "FAIL_TO_PASS": json.dumps(instance.fail_to_pass),
        "PASS_TO_PASS": json.dumps(instance.pass_to_pass),
    }
    sleeping = scene.case.model_copy(update={"append": {"src/calc/__init__.py": SLEEP}}).text(scene.project)
    prediction = {"instance_id": instance.id, "model_name_or_path": "m", "model_patch": sleeping}
    (given / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (given / "predictions.jsonl").write_text(json.dumps(prediction) + "\n")
    files = [str(given / "rows.jsonl"), "-p", str(given / "predictions.jsonl")]
    places = ["--mirror", str(scene.mirror), "--runs-dir", str(scene.run.parent), "--run-id", scene.run.name]
    return [sys.executable, "-m", "assay", "evaluate", *files, *places, "-j", "1"]


@contextmanager
def _process(command: list[str], run: Path) -> Iterator[subprocess.Popen[bytes]]:
    run.mkdir(exist_ok=True)
    with (run / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _until(condition: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + 40
    while not condition():
        assert process is None or process.poll() is None, "the process ended too early"
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def _at_work(scene: Scene) -> list[str]:
    """Return the run's containers in which the tests have begun."""
    chosen = {"label": f"assay.run={scene.run.name}", "status": "running"}
    client = scene.engine._client
    found = [each["Id"] for each in client.containers(filters=chosen)]
    return [box for box in found if any("sleep" not in row[-1] for row in client.top(box)["Processes"][1:])]


def removed_by_others(scene: Scene) -> None:
    """70: the evaluation is tried again in a fresh container, and says nothing about the first."""
    _disturbed(scene, lambda box: scene.engine._client.remove_container(box, force=True))


def killed_by_others(scene: Scene) -> None:
    """70b: the same for a container that somebody kills; the tests themselves cannot end it."""
    _disturbed(scene, scene.engine._client.kill)


def _disturbed(scene: Scene, disturb: Callable[[str], object]) -> None:
    where = scene.place()

    def act() -> None:
        seen = list[str]()
        _until(lambda: bool(seen.extend(_at_work(scene)) or seen))
        time.sleep(0.3)
        disturb(seen[0])  # between two commands it looks as if it were not at work

    other = threading.Thread(target=act)
    other.start()
    played = play(task_of(scene.case, scene.project, where), where.image, scene.engine, scene.run)
    other.join()
    judge(scene.case, played)
    journal = (scene.run / "journal.jsonl").read_text()
    assert journal.count('"started"') == 2, journal


def image_missing(scene: Scene) -> None:
    """71: an image that is not there is the environment's fault, and asked for once."""
    case = scene.case.model_copy(update={"gold": True, "outcomes": (Outcome.ENV_ERROR,)})
    where = scene.place()
    played = play(task_of(case, scene.project, where), "assay/no-such-image:0", scene.engine, scene.run)
    judge(case, played)
    assert (scene.run / "journal.jsonl").read_text().count('"started"') == 1


def reaper(scene: Scene) -> None:
    """73: it leaves alone what is not ours, what lives, and what another machine owns."""
    image = scene.place().image
    client = scene.engine._client
    dead = scene.run / "dead"
    scene.run.mkdir()
    in_a_process(lambda: dead.write_text(owner_labels(600)[OWNER]))
    ours, past = {"assay.run": scene.run.name}, str(int(time.time()) - 5)
    labels = {
        "foreign": {"assay.run": scene.run.name},
        "alive": {**ours, **owner_labels(600)},
        "elsewhere": {**ours, **owner_labels(600), OWNER: "another-machine:boot:1:2"},
        "dead": {**ours, **owner_labels(600), OWNER: dead.read_text()},
        "jumped": {**ours, **owner_labels(600), DEADLINE: past},
        "late": {**ours, **owner_labels(600), OWNER: "another-machine:boot:1:2", DEADLINE: past},
    }
    made = {name: client.create_container(image, command="true", labels=each)["Id"] for name, each in labels.items()}
    try:
        reaped = scene.engine.reap()
        left = {each["Id"] for each in client.containers(all=True, filters={"label": f"assay.run={scene.run.name}"})}
        assert {name for name, box in made.items() if box in left} == {"foreign", "alive", "elsewhere", "jumped"}
        assert not [name for name in ("foreign", "alive", "elsewhere", "jumped") if made[name][:12] in reaped]
    finally:
        for box in labelled(scene.engine, scene.run.name).get("containers", []):
            client.remove_container(box, force=True)


def clock_jump(scene: Scene) -> None:
    """76: the deadline does not notice that the wall clock jumps a day ahead, and then two back."""
    where, real = scene.place(), time.time
    shifts = iter([86400.0, -86400.0] * 1000)
    task = task_of(scene.case, scene.project, where)
    time.time = lambda: real() + next(shifts)
    try:
        played = play(task, where.image, scene.engine, scene.run)
    finally:
        time.time = real
    judge(scene.case, played)
    assert 6 <= played.seconds < 60


def expired_certificate(scene: Scene) -> None:
    """77: tests with a certificate that has expired pass at the moment that the recipe names."""
    where = scene.place()
    assert isinstance(where.instance.environment, Recipe)
    if "faketime" not in where.plan.model_dump_json().lower():
        pytest.skip("plans do not carry a recipe's faketime yet")
    played = play(task_of(scene.case, scene.project, where), where.image, scene.engine, scene.run)
    judge(scene.case, played)


def time_zones(scene: Scene) -> None:
    """79: the host's time zone and locale make no difference."""
    where, before = scene.place(), dict(os.environ)
    found = []
    try:
        for zone, locale in (("UTC", "C"), ("Asia/Kathmandu", "tr_TR.UTF-8"), ("America/St_Johns", "ja_JP.EUC-JP")):
            os.environ.update(TZ=zone, LC_ALL=locale, LANG=locale)
            time.tzset()
            task = task_of(scene.case, scene.project, where)
            played = play(task, where.image, scene.engine, scene.run / zone.replace("/", "-") / scene.run.name)
            judge(scene.case, played)
            tests = played.evidence.report.tests
            found.append({name: tests[name] for name in (*where.instance.fail_to_pass, *where.instance.pass_to_pass)})
    finally:
        os.environ.clear()
        os.environ.update(before)
        time.tzset()
    assert found[0] == found[1] == found[2]


def engine_restart(scene: Scene) -> None:
    """80: the engine goes away and comes back while tests run; the verdict is the same.

    Only for an engine that is there for this: ASSAY_DAEMON_RESTART is the command that restarts what DOCKER_HOST names.
    """
    restart = os.environ.get("ASSAY_DAEMON_RESTART", "")
    if os.environ.get("ASSAY_DAEMON_FAULTS") != "1" or not restart:
        pytest.skip("opt-in: set ASSAY_DAEMON_FAULTS=1, DOCKER_HOST of a private engine and ASSAY_DAEMON_RESTART")
    where = scene.place()

    def disturb() -> None:
        _until(lambda: bool(_at_work(scene)))
        subprocess.run(restart, shell=True, check=True)

    other = threading.Thread(target=disturb)
    other.start()
    played = play(task_of(scene.case, scene.project, where), where.image, scene.engine, scene.run)
    other.join()
    judge(scene.case, played)


def host_memory_stays_flat(scene: Scene) -> None:
    """54: endless output costs the host no more than the cap."""
    where = scene.place()
    task = task_of(scene.case, scene.project, where)
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    played = play(task, where.image, scene.engine, scene.run)
    grown = _peak() - before
    judge(scene.case, played)
    assert grown < 64 * 1024, f"{grown} KiB more"


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


BOX_SCENES: dict[str, Callable[[Scene], None]] = {
    each.__name__: each
    for each in (
        image_holds_no_answer,
        sigterm,
        sigint_twice,
        removed_by_others,
        killed_by_others,
        image_missing,
        reaper,
        clock_jump,
        expired_certificate,
        time_zones,
        engine_restart,
        host_memory_stays_flat,
    )
}
