"""Asks a service as an environment of OpenEnv; prints two rewards. Runs where ``openenv`` is."""

import asyncio
import json
import sys
from pathlib import Path

from openenv.core.generic_client import GenericEnvClient


async def rewards(url: str, token: str, gold: str) -> list[float]:
    """Return the rewards of the gold patch and of none."""
    found = []
    async with GenericEnvClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) as client:
        for patch in (gold, ""):
            first = await client.reset(instance_id="acme__calc-1")
            assert first.observation["problem_statement"] == "add subtracts"
            assert not first.done
            last = await client.step({"patch": patch})
            assert last.done
            found.append(last.reward)
    return found


sys.stdout.write(json.dumps(asyncio.run(rewards(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_text()))))
