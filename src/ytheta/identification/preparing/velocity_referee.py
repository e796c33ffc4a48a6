"""The torques as referee between recorded velocity and differentiated position.

Spectra show scale, delay and noise of recorded velocity (``logs.preparing.recorded_velocity``), but not which of two
smooth signals is right. The torques do: the source with smaller errors leaves smaller residuals. The same model is
fitted with each of the candidates, so that all have the same number of parameters and need no held-out samples. Two
figures are compared: the relative torque error of all joints, to which joints with large torques contribute most, and
the geometric mean of the joints' RMS residuals, the Gaussian likelihood, to which all joints contribute equally.

Candidates   the choice from the spectra; recorded velocity for all joints at which its scale is right; differentiated
             position for all joints.
Choice       the choice from the spectra, unless another candidate reduces both figures by at least 3 %: if the two
             figures contradict each other, or hardly differ, the torques do not decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.weighted import Weighted
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.recorded_velocity import VelocityChoice
from ytheta.shapes import Float

MIN_GAIN = 0.03  # relative reduction of both figures for which the choice from the spectra is given up
MIN_EQUATIONS_PER_PARAMETER = 10.0  # of all joints; with fewer equations, residuals say nothing


def choose_velocity(
    preparation: Preparation, make_problem: Callable[[Preparation], EstimationProblem]
) -> VelocityChoice:
    """Return the velocities of a log that explain its torques best; ``make_problem`` makes the equations of a log."""
    spectral = preparation.velocity
    flags = dict.fromkeys((spectral.uses_recorded, spectral.may_use_recorded, (False,) * len(spectral.uses_recorded)))
    if len(flags) == 1:
        return spectral
    levels = {}
    for uses_recorded in flags:
        choice = replace(spectral, uses_recorded=uses_recorded)
        level = compute_residual_levels(make_problem(preparation.with_velocity(choice)))
        if level is None:
            return spectral
        levels[uses_recorded] = level
    gains = {each: float((levels[spectral.uses_recorded] - level).min()) for each, level in levels.items()}
    best = max(gains, key=gains.__getitem__)
    if gains[best] < -np.log1p(-MIN_GAIN):
        return spectral
    return replace(spectral, uses_recorded=best, torque_gain=1.0 - float(np.exp(-gains[best])))


def compute_residual_levels(problem: EstimationProblem) -> Float[np.ndarray, "2"] | None:
    """Return the logarithms of the two figures; None if there are too few equations or no residuals."""
    equations = problem.normal_equations()
    if equations.counts.sum() < MIN_EQUATIONS_PER_PARAMETER * len(problem.base):
        return None
    squares = equations.residual_squares(Weighted().fit(problem).beta)
    used = squares > 0.0
    if not used.any():
        return None
    total = np.log(squares[used].sum())
    return 0.5 * np.array([total, np.mean(np.log(squares[used]))])
