"""Steps an environment of SkyRL-gym; prints two rewards. Runs where ``skyrl-gym`` and this Assay are."""

import json
import sys
from pathlib import Path

import skyrl_gym
from skyrl_gym.envs import register

register(id="assay", entry_point="assay.rewards.skyrl:AssayEnv")
found = []
for answer in (Path(sys.argv[1]).read_text(), "I give up."):
    env = skyrl_gym.make("assay", env_config={}, extras={"reward_spec": {"ground_truth": "acme__calc-1"}})
    env.init([{"role": "user", "content": "add subtracts"}])
    output = env.step(answer)
    assert output["done"]
    assert env.get_metrics() == {"resolved": output["reward"]}
    found.append(output["reward"])
    env.close()
sys.stdout.write(json.dumps(found))
