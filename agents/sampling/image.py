"""The image that agents work in: an instance's image with a layer that leaves one commit and nothing else to find.

What is checked is ancestry, not dates: the objects in the repository are those of the one commit. It is checked when
the image is made and, in a few milliseconds, when an agent starts.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assay.agents.sampling.workspaces import scripts
from assay.agents.sampling.workspaces.box import STORE, BoxWorkspace
from assay.harness.domain import TestPlan
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure


@dataclass(frozen=True, slots=True)
class AgentImages:
    """Makes agents' images; safe to use from several threads and processes on one cache."""

    engine: Engine
    cache: Path
    """Folder of locks and logs."""
    note: Callable[[str], None] = lambda _text: None

    def image(self, parent: str, plan: TestPlan) -> str:
        """Return the name of the image over an instance's image, which is on the engine then.

        Args:
            parent: the instance's image, which is there.
            plan: says where the tree lies and whose it is.

        Raises:
            EnvironmentFailure: it cannot be made, or holds what an agent must not find.
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
    """Return the build context of the layer over an image, name to text."""
    from assay.instances.toolchains.buildfiles import build_text

    dockerfile = build_text("agent.Dockerfile").replace("@PARENT@", parent)
    for name, value in {"@ROOT@": plan.workdir, "@OWNER@": plan.user, "@STORE@": STORE}.items():
        dockerfile = dockerfile.replace(name, shlex.quote(value))
    return {
        "Dockerfile": dockerfile,
        "agent.sh": build_text("agent.sh"),
        "check.sh": build_text("agent-check.sh"),
        # Staged once here, so that no agent's first look at its tree has to read every file.
        "open.sh": f"{scripts.open_store(STORE, borrow=False)}\n{scripts.stage(f'$(cat {STORE}/assay-base)')}\ntrue\n",
    }


def check_start(workspace: BoxWorkspace) -> None:
    """Look once more, in the container itself, that the repository tells of nothing but its one commit.

    Raises:
        EnvironmentFailure: it does.
    """
    from assay.instances.toolchains.buildfiles import build_text

    done = workspace.exec(build_text("agent-check.sh"), seconds=120.0)
    if done.exit_code != 0:
        told = "; ".join(done.output.split("\n")[:5]) or f"status {done.exit_code}"
        raise EnvironmentFailure(f"the agent's tree is not fit to be given to an agent: {told}")
    workspace.command_seconds = 0.0
