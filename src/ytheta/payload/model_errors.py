"""Errors of the model without payload: its parameters are uncertain, and friction has changed since then.

Identity      delta = B z,   z ~ N(0, 1),   B Bᵀ = C + D
Notation      code    meaning
              delta   errors of the parameters of the model
              C       their covariance, from the identification; zero for a description, which does not state it
              D       diagonal: changes of friction with temperature, load and time, ``friction_drift`` times the value;
                      offsets change by as much as Coulomb friction
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters, without_regrouping
from ytheta.identification.prediction.torque_model import TorqueModel
from ytheta.robot.parameters import FRICTION_PARAMETERS, find_absent_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase

FRICTION_DRIFT = 0.2  # standard deviation, relative to the value: a gear that warms up loses 10 to 40 % of its friction
FREE_FRICTION = 1e3  # standard deviation in SI units, if friction is estimated anew
UNIDENTIFIED_FACTOR = 10.0  # standard deviation of what the model does not know, relative to its largest parameter
BASIC_SYMBOLS = tuple(FRICTION_PARAMETERS[kind] for kind in ("viscous", "coulomb", "offset"))


@dataclass(frozen=True, eq=False)
class ModelErrors:
    """The parameters of a model that may be wrong, and B of the module docstring."""

    base: BaseParameters
    factor: Float[np.ndarray, "base errors"]


def make_model_errors(model: TorqueModel, friction_drift: float) -> ModelErrors | None:
    """Return the errors of a model; None if it has neither a covariance nor friction that changes."""
    robot, identified = model.base.robot, model.identified
    if identified is None:
        return _make_friction_errors(robot, friction_drift)
    assert isinstance(identified.base, BaseParameters)
    drift = _compute_drift(identified.base.independent, identified.beta, friction_drift)
    covariance = identified.uncertainty.covariance + np.diag(drift**2)
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    unknown = UNIDENTIFIED_FACTOR * abs(identified.beta).max(initial=1.0) * identified.uncertainty.unidentified
    return ModelErrors(
        identified.base, np.hstack([scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)), unknown])
    )


def _make_friction_errors(robot: Robot, friction_drift: float) -> ModelErrors | None:
    """Return the errors of the friction of a description, whose other parameters count as known."""
    absent = find_absent_parameters(robot)
    names = [name for name in robot.parameter_names if name.rpartition(".")[2] in FRICTION_PARAMETERS.values()]
    values = dict(zip(robot.parameter_names, robot.theta.tolist(), strict=True))
    kept = [name for name in names if name not in absent]
    drift = _compute_drift(kept, np.array([values[name] for name in kept]), friction_drift)
    kept = [name for name, std in zip(kept, drift, strict=True) if std > 0.0]
    if not kept:
        return None
    return ModelErrors(without_regrouping(robot, kept), np.diag(drift[drift > 0.0]))


def _compute_drift(names: list[str] | tuple[str, ...], values: PerBase, friction_drift: float) -> PerBase:
    """Return the standard deviations of the change of each parameter; zero for parameters other than friction."""
    by_name = dict(zip(names, values.tolist(), strict=True))
    drift = np.zeros(len(names))
    for k, name in enumerate(names):
        owner, _, symbol = name.rpartition(".")
        if symbol not in FRICTION_PARAMETERS.values():
            continue
        if math.isinf(friction_drift):
            drift[k] = FREE_FRICTION if symbol in BASIC_SYMBOLS else 0.0
            continue
        is_offset = symbol == FRICTION_PARAMETERS["offset"]
        size = abs(by_name.get(f"{owner}.{FRICTION_PARAMETERS['coulomb']}", 0.0)) if is_offset else abs(by_name[name])
        drift[k] = friction_drift * size
    return drift
