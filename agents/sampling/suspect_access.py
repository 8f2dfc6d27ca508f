"""Signs in a trajectory that an agent looked the answer up. They are reported and decide nothing.

Assay's own containers hold no answer, so most of these attempts fail; on external images and agents they may succeed.
"""

import json
import re
from collections.abc import Iterator

from assay.agents.trajectory import Step, Trajectory

SIGNS = {
    "history of all refs": r"\bgit\b[^|;&\n]*\b(?:log|rev-list|show-branch|shortlog)\b[^|;&\n]*"
    r"--(?:all|branches|tags|remotes)\b",
    "reflog": r"\bgit\b[^|;&\n]*(?:\breflog\b|\s-g\b|--walk-reflogs)",
    "unreachable objects": r"\bgit\b[^|;&\n]*"
    r"(?:\b(?:fsck|unpack-objects|verify-pack|prune-packed)|--batch-all-objects)\b",
    "a commit by its id": r"\bgit\b[^|;&\n]*\b(?:show|diff|checkout|cherry-pick|cat-file|log|restore|reset|apply)\b"
    r"[^|;&\n]*\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b",
    "heads of other operations": r"\b(?:ORIG_HEAD|FETCH_HEAD|MERGE_HEAD)\b",
    "other repositories": r"\bgit\b[^|;&\n]*\b(?:fetch|pull|clone|ls-remote|remote\s+(?:add|update|set-url))\b",
    "download": r"\b(?:curl|wget|aria2c|lynx)\b|\b(?:requests|httpx)\.(?:get|post)\(|\burlopen\(|\burlretrieve\(",
    "packages": r"\b(?:pip3?|uv|pipx|conda|npm|yarn|pnpm|gem|cargo|go)\b[^|;&\n]*"
    r"\s(?:download|fetch|get|add|view|pack|install(?=[ \t]+\S)(?![^|;&\n]*\s(?:-e|--editable|-r|\.)(?:[\s/\[]|$)))\b",
    "package caches": r"\.cache/(?:pip|uv)|_cacache|\.npm\b",
    "engine": r"docker\.sock|containerd\.sock|podman\.sock|/run/docker",
    "processes of others": r"/proc/(?:1|self)/(?:environ|mountinfo|root)\b|/proc/mounts\b|/proc/\*/environ",
    "metadata service": r"\b169\.254\.169\.254\b|metadata\.google\.internal",
    "hidden tests": r"\b(?:FAIL_TO_PASS|PASS_TO_PASS|fail_to_pass|pass_to_pass|(?:test|gold)_patch|(?:fix|test)\.patch)"
    r"\b",
}
"""Name of a sign to its pattern, searched in the agent's tool calls, not in their output."""
LONGEST = 120  # characters of a quoted match
_COMPILED = {name: re.compile(pattern) for name, pattern in SIGNS.items()}


def find_suspect_access(trajectory: Trajectory, package: str = "") -> tuple[str, ...]:
    """Return the signs in order, each as ``step NUMBER: SIGN: MATCHED TEXT``.

    ``package`` is the name under which the project is installed; an installed copy could be the fixed release.
    """
    signs = dict(_COMPILED)
    if package:
        signs["installed copy of the project"] = re.compile(rf"(?:site|dist)-packages/{re.escape(package)}\b")
    return tuple(
        f"step {step.step_id}: {name}: {found}"
        for step in trajectory.steps
        for action in _actions(step)
        for name, found in _signs(action, signs)
    )


def _signs(action: str, signs: dict[str, re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    for name, pattern in signs.items():
        match = pattern.search(action)
        if match:
            yield name, " ".join(match.group().split())[:LONGEST]


def _actions(step: Step) -> Iterator[str]:
    if step.source != "agent" or step.is_copied_context:
        return
    for call in step.tool_calls or ():
        yield "\n".join(_strings(call.arguments))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _strings(each)
    elif value is not None:
        yield json.dumps(value)
