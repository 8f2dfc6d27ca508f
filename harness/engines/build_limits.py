"""Limits of image builds: the first process of every RUN step supervises it, in the same way on each builder.

No builder limits all of these, and a client cannot reach its control groups. The kernel shields a container's first
process from all others, and ends them with it. The supervisor looks a few times a second: a step may pass a limit for a
moment.
"""

import json
import re
from dataclasses import astuple, dataclass
from importlib import resources

SUPERVISOR = resources.files("assay").joinpath("dockerfiles/limited-step.sh").read_text(encoding="utf-8")
"""Shell text that takes a command and the limits in the order of ``BuildLimits``."""


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """What one RUN step of an image build may use."""

    seconds: int = 3600
    processes: int = 4096
    """Threads count, too."""
    memory_mb: int = 8192
    disk_mb: int = 20480
    """MB of new files; what is removed and still open counts, too."""


USUAL = BuildLimits()
REASONS = {
    91: "took more than {0.seconds:,} s",
    92: "used more than {0.processes:,} processes",
    93: "used more than {0.memory_mb:,} MB of memory",
    94: "wrote more than {0.disk_mb:,} MB to the disk",
    95: "printed more than 64 MB",
    96: "left less than 3 % of this machine's memory",
    97: "left less than 1,024 MB of the disk",
}
"""What a step did that the supervisor ended, by the status with which it ends."""

_CODE = re.compile(r"(?:exit code:|exit status|non-zero code:) (\d+)\b")
_RUN = re.compile(r"RUN ((?:--\S+ +)*)(.*)", re.DOTALL)


def limit_steps(dockerfile: str, limits: BuildLimits) -> str:
    """Return a Dockerfile whose RUN lines have the supervisor as their first process."""
    lines = re.sub(r"\\\n", "", dockerfile).splitlines()
    return "".join(f"{_limit(line, limits)}\n" for line in lines)


def _limit(line: str, limits: BuildLimits) -> str:
    step = _RUN.fullmatch(line)
    if step is None:
        return line
    words = ["/bin/sh", "-c", SUPERVISOR, "assay", step[2], *map(str, astuple(limits))]
    return f"RUN {step[1]}{json.dumps(words)}"


def drop_supervisor(log: str) -> str:
    """Return a builder's output without the supervisor's text, which builders show with each step."""
    return log.replace(SUPERVISOR, "...").replace(json.dumps(SUPERVISOR)[1:-1], "...")


def name_limit(said: str, limits: BuildLimits) -> str:
    """Name the limit that ended a build, from a step's status as the builder said it; "" if none did."""
    codes = _CODE.findall(said)
    reason = REASONS.get(int(codes[-1])) if codes else None
    return f"the build {reason.format(limits)}" if reason else ""
