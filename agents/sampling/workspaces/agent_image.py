"""The image that agents work in: one layer over the instance's image that leaves only the base commit in git.

The check is by ancestry, not by date: the repository holds exactly the objects of that commit. It runs when the image
is built and, in a few milliseconds, when an agent starts.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assay.agents.sampling.workspaces import scripts
from assay.agents.sampling.workspaces.container import STORE, ContainerWorkspace
from assay.harness.domain import TestPlan
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure


@dataclass(frozen=True, slots=True)
class AgentImages:
    """Builds agents' images; safe for several threads and processes on one cache."""

    engine: Engine
    cache: Path
    """Folder of build locks and logs."""
    note: Callable[[str], None] = lambda _text: None

    def image(self, parent: str, plan: TestPlan) -> str:
        """Build the agent's image over the instance's if it is missing, and return its name.

        Raises EnvironmentFailure: it cannot be built, or holds more than the base commit.
        """
        from assay.instances.toolchains.ensure import ensure

        files = build_files(parent, plan)
        info = self.engine.find_image(parent)
        content = repr((sorted(files.items()), info.digest if info else ""))
        name = f"{LABEL}/agent:{sha256(content.encode()).hexdigest()[:16]}"

        def make(scratch: Path, log: Path) -> None:
            context = scratch / "context"
            context.mkdir()
            for path, text in files.items():
                (context / path).write_text(text, encoding="utf-8")
            self.engine.build(name, context, log, secrets={}, labels={f"{LABEL}.kind": "agent"})

        ensure(name, self.engine, self.cache, make, self.note)
        return name


def build_files(parent: str, plan: TestPlan) -> dict[str, str]:
    """Return the build context of the agent's layer, file name to text."""
    from assay.instances.toolchains.buildfiles import build_text

    dockerfile = build_text("agent.Dockerfile").replace("@PARENT@", parent)
    for name, value in {"@ROOT@": plan.workdir, "@OWNER@": plan.user, "@STORE@": STORE}.items():
        dockerfile = dockerfile.replace(name, shlex.quote(value))
    return {
        "Dockerfile": dockerfile,
        "agent.sh": build_text("agent.sh"),
        "base-only.sh": build_text("base-only.sh"),
        "check.sh": build_text("agent-check.sh"),
        # Staged here once, so that an agent's first command need not read every file.
        "open.sh": f"{scripts.open_store(STORE, borrow=False)}\n{scripts.stage(f'$(cat {STORE}/assay-base)')}\ntrue\n",
    }


def check_start(workspace: ContainerWorkspace) -> None:
    """Check inside the container that the repository holds only the base commit. Raises EnvironmentFailure."""
    from assay.instances.toolchains.buildfiles import build_text

    done = workspace.exec(build_text("agent-check.sh"), seconds=120.0)
    if done.exit_code != 0:
        problems = "; ".join(done.output.split("\n")[:5]) or f"status {done.exit_code}"
        raise EnvironmentFailure(f"the agent's checkout holds more than its base commit: {problems}")
    workspace.command_seconds = 0.0
