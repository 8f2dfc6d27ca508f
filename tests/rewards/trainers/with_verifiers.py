"""Scores traces with a taskset of verifiers; prints two rewards. Runs where ``verifiers`` and this Assay are."""

import asyncio
import json
import sys
from pathlib import Path

import verifiers.v1 as vf

from assay.rewards.verifiers import AssayTaskset, AssayTasksetConfig


async def rewards(answer: str) -> list[float]:
    """Return the rewards of an answer and of none, scored as a rollout is."""
    tasks = list(AssayTaskset(AssayTasksetConfig()))
    assert [task.data.id for task in tasks] == ["acme__calc-1", "acme__calc-2", "acme__calc-3"]
    assert "add subtracts" in tasks[0].data.prompt_text
    found = []
    for text in (answer, "I give up."):
        trace = vf.Trace.model_construct(root_reply=text, rewards={}, metrics={}, nodes=[])
        await tasks[0].score(trace)
        found.append(trace.rewards["assay"].score)
    return found


sys.stdout.write(json.dumps(asyncio.run(rewards(Path(sys.argv[1]).read_text()))))
