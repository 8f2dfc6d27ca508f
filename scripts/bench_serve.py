"""Loads a service with many clients on the fake engine, kills it, restarts it, and checks every answer.

Arguments, all optional: clients (200), seconds (30), seconds of a test command (0.2). It fails if an answer is wrong,
lost or doubled. Overhead is the time from a question to its answer without the test command's; there are as many jobs
as clients, so nothing waits for its turn.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/instances")]
from stand_ins import row  # noqa: E402
from toy import GOLD  # noqa: E402

INSTANCES = [f"acme__calc-{number}" for number in range(1, 51)]
NEW, GOLDEN, LEAVING = 0.2, 0.2, 0.02
"""Shares of questions with content that nobody has asked for, with a gold patch, and whose client leaves."""
HOT = 20
"""Wrong patches that many clients ask for."""


@dataclass
class Load:
    """What was asked and answered."""

    url: str
    test_seconds: float
    new: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    answered: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Instance and outcome by the evaluation's id."""
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    async def client(self, number: int, until: float) -> None:
        """Ask until the time is over."""
        chance = random.Random(number)
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(base_url=self.url, timeout=120, trust_env=False, limits=limits) as client:
            while time.monotonic() < until:
                await self.ask(client, chance)

    async def ask(self, client: httpx.AsyncClient, chance: random.Random) -> None:
        """Ask once, and check the answer."""
        name, kind = chance.choice(INSTANCES), chance.random()
        is_gold, is_new = kind < GOLDEN, GOLDEN <= kind < GOLDEN + NEW
        factor = chance.getrandbits(60) if is_new else chance.randrange(2, HOT)
        patch = GOLD if is_gold else GOLD.replace("+    return a + b", f"+    return a * {factor}")
        question = client.post("/v1/rewards", json={"instance_id": name, "patch": patch, "wait": 100})
        began = time.monotonic()
        try:
            leaves = chance.random() < LEAVING
            async with asyncio.timeout(self.test_seconds * chance.random() if leaves else None):
                answer = await question
        except TimeoutError:
            self.counts["left"] += 1
            return
        except httpx.HTTPError as error:
            self.counts["unanswered"] += 1
            self.problems.append(f"lost: {error!r}")
            return
        self.check(answer, name, "resolved" if is_gold else "unresolved", time.monotonic() - began, is_new)

    def check(self, answer: httpx.Response, name: str, outcome: str, taken: float, is_new: bool) -> None:
        """Count an answer; note a wrong one."""
        self.counts[f"status {answer.status_code}"] += 1
        if answer.status_code != 200:
            self.problems.append(f"{answer.status_code}: {answer.text[:200]}")
            return
        said = answer.json()
        expected = (name, outcome, float(outcome == "resolved"))
        if (said["instance_id"], said["outcome"], said["reward"]) != expected:
            self.problems.append(f"wrong: {said}, not {expected}")
        self.answered[said["id"]] = (name, outcome)
        (self.new if is_new else self.known).append(taken)


def main() -> None:
    """Load a service, kill it, look at what it has kept, and print the figures."""
    given = dict(enumerate(sys.argv))
    clients, seconds, test_seconds = int(given.get(1, 200)), float(given.get(2, 30)), float(given.get(3, 0.2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.jsonl").write_text("".join(json.dumps(row(each)) + "\n" for each in INSTANCES))
        with service(folder, clients, test_seconds) as (process, url):
            load = Load(url, test_seconds)
            began = time.monotonic()
            asyncio.run(together(load, clients, began + seconds))
            wall = time.monotonic() - began
            metrics = httpx.get(f"{url}/metrics", trust_env=False).text
            process.kill()
        problems = [*load.problems, *kept(folder, load), *restarted(folder, load)]
        show(load, clients, wall, metrics)
    for problem in problems[:20]:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} problems")


async def together(load: Load, clients: int, until: float) -> None:
    """Let all clients ask at once."""
    await asyncio.gather(*(load.client(number, until) for number in range(clients)))


@contextmanager
def service(folder: Path, jobs: int, test_seconds: float) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the service as a process."""
    command = [sys.executable, "-m", "assay", "serve", "rows.jsonl", "--engine", "fake", "--port", "0", "-j", str(jobs)]
    env = {**os.environ, "ASSAY_FAKE_SECONDS": str(test_seconds)}
    with subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = next(line for line in process.stderr or () if line.startswith("open "))
            yield process, line.split()[1].removesuffix("/docs")
        finally:
            process.kill()


def kept(folder: Path, load: Load) -> Iterator[str]:
    """Yield each verdict that was answered and not kept, and each content that was kept twice."""
    keys = Counter(json.loads(path.read_bytes())["key"] for path in folder.rglob("verdict.json"))
    yield from (f"doubled: {key}" for key, times in keys.items() if times > 1)
    yield from (f"lost on disk: {key}" for key in load.answered if key not in keys)
    load.counts["kept"] = len(keys)


def restarted(folder: Path, load: Load) -> Iterator[str]:
    """Yield what a restarted service no longer knows of what the killed one had answered."""
    with service(folder, 1, 1000.0) as (_, url), httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        for key, expected in load.answered.items():
            said = client.get(f"/v1/evaluations/{key}").json()
            if (said.get("instance_id"), said.get("outcome")) != expected:
                yield f"lost after the restart: {key}: {said}"


def show(load: Load, clients: int, wall: float, metrics: str) -> None:
    """Print the figures."""
    answers = len(load.new) + len(load.known)
    print(f"{clients} clients, {wall:.1f} s, tests of {load.test_seconds} s: {answers / wall:.0f} answers a second")
    print(", ".join(f"{name} {number}" for name, number in sorted(load.counts.items())))
    print(next(line for line in metrics.splitlines() if line.startswith("assay_reused_total")))
    print(f"{'milliseconds':<34}{'p50':>8}{'p99':>8}")
    overhead = [1000 * (each - load.test_seconds) for each in load.new]
    for name, values in (("overhead of a new content", overhead), ("any other", [1000 * each for each in load.known])):
        ordered = sorted(values) or [0.0]
        print(f"{name:<34}{ordered[len(ordered) // 2]:>8.0f}{ordered[int(len(ordered) * 0.99)]:>8.0f}")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


main()
