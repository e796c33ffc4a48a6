"""The argument ``prior`` of ``identify``: none, a robot, or the file of a robot or of an earlier model."""

from __future__ import annotations

from pathlib import Path

from ytheta.errors import InputError
from ytheta.files.paths import check_path
from ytheta.identification.model_file import find_earlier_model, read_identification_table, read_model
from ytheta.identification.priors.settings import PriorSettings, check_same_parts
from ytheta.robot.missing_meshes import check_inertias_are_complete, list_incomplete_links
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

NO_PRIOR = "none"
PriorInput = str | Path | Robot | None


def read_prior(robot: Robot, prior: PriorInput, strength: float | None) -> PriorSettings:
    """Return the settings of the prior; ``prior``: "none", a robot, a name in the catalog, or the path of a file."""
    if prior is None:
        # Nothing is expected of links that are described incompletely, unless the user asks for it.
        return PriorSettings(flat=strength is None and bool(list_incomplete_links(robot)), strength=strength)
    if isinstance(prior, str) and prior == NO_PRIOR:
        return PriorSettings(flat=True, strength=strength)
    if isinstance(prior, Robot):
        check_same_parts(robot, prior)
        check_inertias_are_complete(prior, "a prior")
        return PriorSettings(description=prior, strength=strength, source=prior.name)
    path = check_path(prior, "the prior")
    described = load(prior)  # a path or a name in the catalog
    if described.inertias_unknown:
        raise InputError(f"{path} was identified with unknown geometry and has no inertias; give another prior")
    check_same_parts(robot, described)
    check_inertias_are_complete(described, "a prior")
    if read_identification_table(path) is None:
        return PriorSettings(description=described, strength=strength, source=str(path))
    if strength is not None:
        raise InputError(
            f"{path} has a covariance of its own, which is the strength of the prior; remove prior_strength"
        )
    return PriorSettings(earlier=find_earlier_model(read_model(path)), source=str(path))
