"""Reader of ATIF itself, Assay's own form."""

from assay.agents.trajectory import Trajectory


def read(content: bytes) -> Trajectory:
    return Trajectory.model_validate_json(content)
