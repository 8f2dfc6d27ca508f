"""Plays attacks and honest patches against harnesses, Assay among them, on the same local images.

    python scripts/crash_test.py triples                                     # writes them, and builds their images
    python scripts/crash_test.py play assay
    python scripts/crash_test.py play swebench --venv ENVIRONMENT            # swebench 5
    python scripts/crash_test.py play inspect --venv ENVIRONMENT             # inspect-evals, with swebench 4
    python scripts/crash_test.py play harbor --venv ENVIRONMENT
    python scripts/crash_test.py play multi-swe-bench --venv ENVIRONMENT --checkout CLONE
    python scripts/crash_test.py write                                       # docs/evidence/crash-test.md

swe-polybench and swe-bench-pro go as multi-swe-bench does: they grade the logs that swebench's containers printed.
Outcomes go into docs/evidence/crash-test.jsonl. `play` again plays what has no outcome; `--fresh` plays all.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support"), str(ROOT / "scripts")]

import triples  # noqa: E402
from error_card import git  # noqa: E402
from triples import Collection, Triple  # noqa: E402

from assay.harness.domain import INFRASTRUCTURE, Outcome, Prediction  # noqa: E402
from assay.harness.engines.docker import open_engine  # noqa: E402
from assay.harness.evaluation.evaluate import Task  # noqa: E402
from assay.version import __version__  # noqa: E402
from corpus.places import Places, make_mirrors  # noqa: E402
from corpus.stage import play  # noqa: E402

LEDGER = ROOT / "docs/evidence/crash-test.jsonl"
FIELD = ROOT / "scripts/field"
SECONDS = 120
"""Time for the tests of one patch."""
OUTCOMES = ("resolved", "unresolved", "error", "not run")
RUN, MODEL = "crash", "crash"


@dataclass(frozen=True, slots=True)
class Result:
    """What one harness said of one patch."""

    harness: str
    triple: str
    kind: str
    row: str
    control: str
    """gold or null for the patches that show whether the harness can judge the row; else empty."""
    outcome: str
    """One of OUTCOMES; an error is the harness's own word, and nothing that it counts as resolved."""
    reason: str
    version: str
    date: str


Said = tuple[str, str, str]
"""Triple, outcome and reason."""


def main() -> None:
    given = read_arguments()
    if given.step == "write":
        from crash_page import write_page

        write_page(read_ledger(given.ledger))
    elif given.step == "triples":
        collection = make_triples(given.work)
        print(f"{len(collection.triples)} triples for {len(collection.rows)} rows in {given.work}")
    else:
        play_harness(given)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("triples", "play", "write"))
    parser.add_argument("harness", nargs="?", choices=sorted(HARNESSES))
    parser.add_argument("--venv", type=Path, help="environment with the other harness")
    parser.add_argument("--checkout", type=Path, help="clone of the other harness")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--work", type=Path, default=ROOT / "build/crash", help="folder of triples and runs")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--only", default="", help="text in the names of the triples to play")
    parser.add_argument("--fresh", action="store_true", help="play again what has an outcome")
    return parser.parse_args()


def make_triples(work: Path) -> Collection:
    """Build the images of all rows and write the triples; the mirrors of the repositories stay beside them."""
    cases = triples.list_playable()
    places = Places(open_engine(), work / "mirrors", make_mirrors(work / "mirrors"))
    images = triples.build_images(sorted({each.instance for each in cases}), places)
    collection = triples.make_collection(cases, images)
    triples.write(collection, work)
    return collection


def play_harness(given: argparse.Namespace) -> None:
    before, collection = read_ledger(given.ledger), triples.read(given.work)
    known = set() if given.fresh else {each.triple for each in before if each.harness == given.harness}
    chosen = [each for each in collection.triples if given.only in each.id and each.id not in known]
    chosen.sort(key=lambda each: find_control(each, collection) == "")  # a run that is stopped has the controls
    version, day = find_version(given), datetime.now(UTC).date().isoformat()
    by_id = {each.id: each for each in collection.triples}
    for number, (name, outcome, reason) in enumerate(HARNESSES[given.harness](chosen, collection, given), 1):
        assert outcome in OUTCOMES, outcome
        kind, row = by_id[name].kind, by_id[name].row
        facts = (name, kind, row, find_control(by_id[name], collection), outcome, " ".join(reason.split())[:200])
        before.append(Result(given.harness, *facts, version, day))
        write_ledger(given.ledger, before)
        print(f"{number} of {len(chosen)}: {name}: {outcome} {reason[:100]}", flush=True)


def find_control(triple: Triple, collection: Collection) -> str:
    """Return gold for a row's gold patch, null for the patch that changes nothing, and else nothing."""
    if triple.kind == "null":
        return "null"
    return "gold" if triple.patch == collection.rows[triple.row]["patch"] else ""


def play_assay(chosen: Sequence[Triple], collection: Collection, given: argparse.Namespace) -> Iterator[Said]:
    """Evaluate in the images of the rows, which are published ones to Assay."""
    engine, mirrors = open_engine(), given.work / "mirrors"
    commits = {"python": next(iter(collection.rows.values()))["base_commit"]}
    places = triples.build_images(sorted({each.row for each in chosen}), Places(engine, mirrors, commits))

    def judge(each: Triple) -> Said:
        place = places[each.row]
        limits = place.plan.limits.model_copy(update={"seconds": float(SECONDS)})
        prediction = Prediction(instance_id=place.instance.id, model=MODEL, patch=each.patch)
        task = Task(place.instance, prediction, place.plan.model_copy(update={"limits": limits}))
        verdict = play(task, place.image, engine, given.work / "assay" / f"{each.id}-{os.getpid()}").verdict
        said = "not run" if verdict.outcome in INFRASTRUCTURE else "unresolved"
        said = "resolved" if verdict.outcome is Outcome.RESOLVED else said
        return each.id, said, f"{verdict.outcome} {verdict.reason}"

    with ThreadPoolExecutor(given.jobs) as pool:
        yield from pool.map(judge, chosen)


def play_swebench(chosen: Sequence[Triple], collection: Collection, given: argparse.Namespace) -> Iterator[Said]:
    """Run its command line; its logs of each instance stay for the graders of logs."""
    folder = given.work / "swebench"
    folder.mkdir(exist_ok=True)
    rows = [{**collection.rows[each.row], "instance_id": each.id} for each in chosen]
    answers = [{"instance_id": each.id, "model_name_or_path": MODEL, "model_patch": each.patch} for each in chosen]
    for name, lines in (("rows.jsonl", rows), ("predictions.jsonl", answers)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    command = "-m swebench.harness.run_evaluation -d rows.jsonl -p predictions.jsonl"
    command += f" --run_id {RUN} --max_workers {given.jobs} --timeout {SECONDS}"
    run([given.venv / "bin/python", *command.split()], folder)
    for each in chosen:
        logs = find_logs(given.work, each.id)
        if not each.patch:
            yield each.id, "unresolved", "it does not run an empty patch"
        elif (logs / "report.json").is_file():
            report = json.loads((logs / "report.json").read_text())[each.id]
            yield each.id, "resolved" if report["resolved"] else "unresolved", ""
        else:
            text = (logs / "run_instance.log").read_text(errors="replace") if logs.is_dir() else "no folder of logs"
            yield each.id, "error", next((line for line in reversed(text.splitlines()) if "Error" in line), "")


def find_logs(work: Path, triple: str) -> Path:
    return work / "swebench/logs/run_evaluation" / RUN / MODEL / triple


def play_inspect(chosen: Sequence[Triple], collection: Collection, given: argparse.Namespace) -> Iterator[Said]:
    job = {"rows": collection.rows, "folder": str(given.work / "inspect"), "jobs": given.jobs}
    yield from drive("play_inspect.py", {**job, "triples": [each.model_dump() for each in chosen]}, given)


def play_harbor(chosen: Sequence[Triple], collection: Collection, given: argparse.Namespace) -> Iterator[Said]:
    """Run its command line on task folders whose solution applies the patch; its oracle agent runs solutions."""
    tasks, jobs = given.work / "harbor/tasks", given.work / "harbor/jobs"
    for each in chosen:
        write_task(tasks / each.id, each, collection.rows[each.row])
    names = [word for each in chosen for word in ("-i", each.id)]
    command = f"run -p {tasks} -a oracle -n {given.jobs} -o {jobs} --job-name {RUN}-{os.getpid()} -q -y"
    run([given.venv / "bin/harbor", *command.split(), *names], given.work)
    for path in (jobs / f"{RUN}-{os.getpid()}").glob("*/result.json"):
        trial = json.loads(path.read_text())
        rewards = (trial.get("verifier_result") or {}).get("rewards")
        error = (trial.get("exception_info") or {}).get("exception_message", "")
        said = "error" if rewards is None else "resolved" if rewards.get("reward") == 1 else "unresolved"
        yield trial["task_name"].rpartition("/")[2], said, error


def write_task(folder: Path, triple: Triple, row: Mapping[str, Any]) -> None:
    """Write a task of Harbor: the row's image and tests, judged by their exit status as in Harbor's own template."""
    limits = f"[verifier]\ntimeout_sec = {SECONDS}.0\n[agent]\ntimeout_sec = {SECONDS}.0\n"
    image = f'[environment]\ndocker_image = "{row["image"]}"\nworkdir = "/testbed"\n'
    paths = shlex.join(line[6:] for line in row["test_patch"].splitlines() if line.startswith("+++ b/"))
    setup = "source /opt/miniconda3/bin/activate\nconda activate testbed\ncd /testbed\n"
    tests = f"git checkout {row['base_commit']} {paths}\ngit apply -v /tests/test.patch\n"
    judge = f"if {row['test_command']}; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n"
    files = {
        "task.toml": f'schema_version = "1.4"\n{limits}{image}',
        "instruction.md": "Sums are wrong.\n",
        "environment/README.md": "The image is there already.\n",
        "solution/solve.sh": "#!/bin/bash\ncd /testbed && git apply --verbose /solution/model.patch\n",
        "solution/model.patch": triple.patch,
        "tests/test.sh": f"#!/bin/bash\n{setup}{tests}{judge}  echo 0 > /logs/verifier/reward.txt\nfi\n",
        "tests/test.patch": row["test_patch"],
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogatepass"))


def grade_logs(chosen: Sequence[Triple], collection: Collection, given: argparse.Namespace) -> Iterator[Said]:
    """Have a harness grade what the tests printed in swebench's containers."""
    controls = {(each.row, find_control(each, collection)): each.id for each in collection.triples}
    logs = {each.id: read_log(given.work, each.id) for each in collection.triples}
    asked = [{"id": each.id, "gold": controls[each.row, "gold"], "null": controls[each.row, "null"]} for each in chosen]
    job = {"harness": given.harness, "checkout": str(given.checkout), "logs": logs, "triples": asked}
    yield from drive("grade_logs.py", job, given)


def read_log(work: Path, triple: str) -> str | None:
    path = find_logs(work, triple) / "test_output.txt"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def drive(driver: str, job: Mapping[str, Any], given: argparse.Namespace) -> Iterator[Said]:
    """Have a driver play a job in the other harness's environment."""
    path = given.work / f"{given.harness}.job.json"
    path.write_text(json.dumps(job), encoding="ascii")
    printed = run([given.venv / "bin/python", FIELD / driver, path], given.work)
    for line in printed.splitlines():
        if line.startswith('{"id"'):
            said = json.loads(line)
            yield said["id"], said["outcome"], said["reason"]


def run(command: Iterable[str | Path], folder: Path) -> str:
    """Run a command of another harness and return its output; it also goes to the screen's error stream."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, text=True, env=clean_environment(), check=False)
    if done.returncode != 0:
        print(f"{shlex.join(words[:6])} ... ended with {done.returncode}", file=sys.stderr)
    return done.stdout


def clean_environment() -> dict[str, str]:
    """Return this environment without what leads other programs to this checkout."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}


def find_version(given: argparse.Namespace) -> str:
    """Return a version that a page can name: of the package, and of the commit for what is not one."""
    if given.harness == "assay":
        return f"{__version__}, {git('rev-parse', '--short=8', 'HEAD')}"
    if given.checkout:
        command = ["git", "-C", str(given.checkout), "rev-parse", "--short=8", "HEAD"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    names = PACKAGES[given.harness]
    program = f"from importlib.metadata import version; print(', '.join(n + ' ' + version(n) for n in {names}))"
    return run([given.venv / "bin/python", "-c", program], ROOT).strip()


PACKAGES = {"swebench": ["swebench"], "harbor": ["harbor"], "inspect": ["inspect-evals", "inspect-ai", "swebench"]}
Player = Callable[[Sequence[Triple], Collection, argparse.Namespace], Iterator[Said]]
HARNESSES: dict[str, Player] = {
    "assay": play_assay,
    "swebench": play_swebench,
    "inspect": play_inspect,
    "harbor": play_harbor,
    "multi-swe-bench": grade_logs,
    "swe-polybench": grade_logs,
    "swe-bench-pro": grade_logs,
}


def read_ledger(path: Path) -> list[Result]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [Result(**json.loads(line)) for line in lines]


def write_ledger(path: Path, results: Iterable[Result]) -> None:
    """Write results, one line each; of one triple and harness the last."""
    unique = {(each.harness, each.triple): each for each in results}
    lines = [json.dumps(asdict(each)) + "\n" for _, each in sorted(unique.items())]
    path.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
