"""Plays attacks and honest patches, and writes how many attacks were let through and how many honest patches refused.

    python scripts/error_card.py play       # the corpus, and the gold patches of its instances
    python scripts/error_card.py releases   # the gold patches of the bundled data set
    python scripts/error_card.py rows       # those of real rows, from docs/evidence/rows.jsonl
    python scripts/error_card.py write      # docs/evidence/error-card.md and the card of every bundle

Outcomes go into docs/evidence/error-card.jsonl. `play` again plays what has no outcome yet, or another patch than it
had; `--fresh` plays all, and `--only TEXT` what has the text in its name.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support"), str(ROOT / "scripts")]

from assay.harness.domain import INFRASTRUCTURE, Instance, Outcome  # noqa: E402
from assay.harness.engines.docker import DockerEngine, open_engine  # noqa: E402
from assay.harness.runs.store import RunStore  # noqa: E402
from corpus.box_scenes import BOX_SCENES  # noqa: E402
from corpus.generators import GENERATORS  # noqa: E402
from corpus.model import Case, corpus  # noqa: E402
from corpus.places import Places, make_mirrors  # noqa: E402
from corpus.scenes import HOST_SCENES  # noqa: E402
from corpus.stage import Place, fake_place, play, task_of  # noqa: E402

LEDGER = ROOT / "docs/evidence/error-card.jsonl"
RELEASES = "card.releases"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one patch."""

    case: str
    source: str
    """corpus, gold (of the corpus's instances), releases or rows."""
    language: str
    runner: str
    """Empty where it was not recorded."""
    kind: str
    """hostile: it must not be resolved; honest: it should be."""
    outcome: str
    patch: str = ""
    """Beginning of its SHA-256."""
    commit: str = ""
    """Commit of Assay, with + for a changed checkout."""
    date: str = ""

    @property
    def ran(self) -> bool:
        """Whether Assay judged it, rather than failing to."""
        return self.outcome not in INFRASTRUCTURE

    @property
    def wrong(self) -> bool:
        """Whether a hostile patch was resolved, or an honest one was not."""
        return self.ran and (self.outcome == Outcome.RESOLVED) == (self.kind == "hostile")


def main() -> None:
    given = read_arguments()
    if given.step == "write":
        from card_page import write_card

        write_card(read_ledger(given.ledger))
        return
    before = read_ledger(given.ledger)
    results: Iterable[Result]
    if given.step == "releases":
        results = evaluate_releases(given)
    elif given.step == "rows":
        results = read_rows()
    else:
        known = set() if given.fresh else {(each.case, each.patch) for each in before if each.ran}
        cases = [each for each in list_cases() if given.only in each.id and (each.id, hash_patch(each)) not in known]
        results = play_cases(cases, given.jobs)
    for number, each in enumerate(results, 1):
        before.append(each)
        write_ledger(given.ledger, before)
        print(f"{number}: {each.case}: {each.outcome}{' WRONG' if each.wrong else ''}", flush=True)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("play", "releases", "rows", "write"))
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--work", type=Path, default=ROOT / "build/card", help="folder of the runs")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--only", default="", help="text in the names of the cases to play")
    parser.add_argument("--fresh", action="store_true", help="play again what has an outcome")
    return parser.parse_args()


@cache
def list_cases() -> tuple[Case, ...]:
    """Return the cases that are patches, the fixes under other runners, and all gold patches.

    No patch is there twice for one instance.
    """
    golds = (make_gold(project.language, name) for project in corpus().projects.values() for name in project.instances)
    scenes = HOST_SCENES | BOX_SCENES
    patches = [each for each in corpus().cases if each.outcomes and each.check not in scenes]
    seen: set[tuple[str, ...]] = set()
    found = []
    for each in (*patches, *cross_fixes(patches), *golds):
        key = (each.language, each.instance, each.row.model_dump_json() if each.row else "", hash_patch(each))
        if key not in seen and each.language in corpus().projects:
            found.append(each)
        seen.add(key)
    return tuple(found)


def cross_fixes(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield each fix for the instances of its project that another runner tests."""
    for each in cases:
        if each.group == "fixes":
            instances = corpus().projects[each.language].instances.items()
            others = {cut.recipe["runner"]: to for to, cut in reversed(instances) if "runner" in cut.recipe}
            for to in others.values():
                yield each.model_copy(update={"instance": to, "name": f"{each.name}-{to}"})


def make_gold(language: str, name: str) -> Case:
    number, title = "1", f"the gold patch of {name}, {language}"
    facts = {"language": language, "instance": name, "gold": True, "outcomes": "resolved"}
    return Case.model_validate(
        {"number": number, "name": f"{language}-{name}", "group": "gold", "title": title, **facts}
    )


def make_patch(case: Case) -> str:
    project = corpus().projects[case.language]
    if not case.generate:
        return case.text(project)
    return GENERATORS[case.generate](project.instance(case.instance, "0" * 40))


def hash_patch(case: Case) -> str:
    return hashlib.sha256(make_patch(case).encode(errors="surrogatepass")).hexdigest()[:12]


def play_cases(cases: Sequence[Case], jobs: int) -> Iterator[Result]:
    """Play cases, several at once; yields each result as it comes."""
    engine = open_engine()
    with TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
        root = Path(scratch)
        places = Places(engine, root / "mirrors", make_mirrors(root / "mirrors"))
        waiting = [pool.submit(play_case, each, find_place(each, places), engine, root) for each in cases]
        yield from (each.result() for each in as_completed(waiting))


def find_place(case: Case, places: Places) -> Place | None:
    """Build what a case is played in; None if it is decided without a container."""
    if case.engine != "docker":
        return None
    if case.row is not None:
        return places.prepare_published(case.instance, case.row)
    return places.prepare(case.language, case.instance)


def play_case(case: Case, place: Place | None, engine: DockerEngine, root: Path) -> Result:
    project = corpus().projects[case.language]
    where, player = (place, engine) if place else fake_place(project.instance(case.instance, "0" * 40))
    task = replace(task_of(case, project, where), counter="")  # as by default
    played = play(task, where.image, player, root / case.id)
    runner = find_runner(where.instance)
    source = "gold" if case.group == "gold" else "corpus"
    kind, outcome = case.kind, str(played.verdict.outcome)
    return Result(case.id, source, case.language, runner, kind, outcome, hash_patch(case), *stamp())


def evaluate_releases(given: argparse.Namespace) -> list[Result]:
    """Evaluate the gold patches of the bundled data set with the command line, as a person would."""
    from assay.instances.dataset.load import load

    command = [sys.executable, "-m", "assay", "evaluate", "releases", "--gold", "--jobs", str(given.jobs)]
    command += ["--run-id", RELEASES, "--runs-dir", str(given.work), *(["--fresh"] if given.fresh else [])]
    code = subprocess.run(command, check=False).returncode
    if code not in {0, 3}:
        sys.exit(code)
    store, results = RunStore(given.work / RELEASES), []
    for each in load("releases").instances:
        saved = store.load_verdict(each.id)
        if saved:
            patch = hashlib.sha256(each.gold_patch.encode()).hexdigest()[:12]
            facts = (each.language, find_runner(each), "honest", str(saved.verdict.outcome), patch)
            results.append(Result(each.id, "releases", *facts, *stamp()))
    return results


def find_runner(instance: Instance) -> str:
    """Return the runner of an instance's tests; empty if it is none that Assay knows."""
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe

    return make_plan(instance, find_recipe(instance)).runner


def read_rows() -> list[Result]:
    """Read the newest outcome of the gold patch of each real row."""
    from real_rows import LEDGER as ROWS
    from real_rows import find_newest
    from real_rows import read_ledger as read

    newest = [row for (_, patch), row in find_newest(read(ROWS)).items() if patch == "gold"]
    return [
        Result(row.instance_id, "rows", row.language, "", "honest", row.outcome, "", row.commit, row.date)
        for row in newest
    ]


def read_ledger(path: Path) -> list[Result]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [Result(**json.loads(line)) for line in lines]


def write_ledger(path: Path, results: Iterable[Result]) -> None:
    """Write results, one line each; of one case the last."""
    unique = {(each.source, each.case): each for each in results}
    lines = [json.dumps(asdict(each)) + "\n" for _, each in sorted(unique.items())]
    path.write_text("".join(lines), encoding="utf-8")


def stamp() -> tuple[str, str]:
    """Return the commit of this checkout and the day."""
    changed = git("status", "--porcelain", "-uno", "harness", "instances", ":!harness/bundles")
    commit = git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")
    return commit, datetime.now(UTC).date().isoformat()


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
