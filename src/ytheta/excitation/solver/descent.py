"""Descent from one start: L-BFGS with rising sharpness and penalties, then the last shrink into the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ytheta.engine.engine import PickledByFields
from ytheta.excitation.constraints.shrink import shrink
from ytheta.excitation.solver.design import Design
from ytheta.excitation.trajectories.rest_to_rest import Unknowns

CORRECTIONS = 20  # pairs of vectors from which L-BFGS estimates second derivatives


@dataclass(frozen=True)
class Stage:
    """One minimization: sharpness of the criterion, weight of the penalties, largest number of iterations."""

    sharpness: float
    penalty_weight: float
    iterations: int


EXPLORATION = (Stage(1.0, 10.0, 60), Stage(4.0, 30.0, 60))
POLISH = (Stage(4.0, 100.0, 200), Stage(16.0, 300.0, 200), Stage(64.0, 1000.0, 200), Stage(128.0, 3000.0, 300))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trajectory that keeps all limits.

    Attributes
    ----------
    start        number of the random start from which it came
    x            its unknowns
    before       unknowns before the last shrink, from which a further descent starts
    value        exact value of the criterion
    factor       smallest factor of the last shrink
    evaluations  number of evaluations of the objective so far
    """

    start: int
    x: Unknowns
    before: Unknowns
    value: float
    factor: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class Exploration(PickledByFields):
    """Random start, then a short descent. Called with the number of the start; equal numbers give equal results."""

    design: Design
    seed: int
    stages: tuple[Stage, ...] = EXPLORATION

    def __call__(self, start: int) -> Candidate | None:
        first = self.draw(start)
        return None if first is None else descend(self.design, first, self.stages)

    def draw(self, start: int) -> Candidate | None:
        """Return a random trajectory that keeps all limits; None if the shrink finds none."""
        return _make_candidate(self.design, start, self.draw_unknowns(start), 0)

    def draw_unknowns(self, start: int) -> Unknowns:
        """Return random unknowns, whose trajectory may exceed limits."""
        return np.random.default_rng([self.seed, start]).normal(size=self.design.shape)


@dataclass(frozen=True, eq=False)
class Polish(PickledByFields):
    """A long descent from a candidate."""

    design: Design
    stages: tuple[Stage, ...] = POLISH

    def __call__(self, candidate: Candidate) -> Candidate:
        return descend(self.design, candidate, self.stages)


def descend(design: Design, candidate: Candidate, stages: Sequence[Stage]) -> Candidate:
    """Return a better candidate, or the same one if the descent does not improve the criterion."""
    x, evaluations = candidate.before.ravel(), candidate.evaluations
    for stage in stages:
        result = minimize(
            design.evaluate,
            x,
            args=(stage.sharpness, stage.penalty_weight),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": stage.iterations, "maxcor": CORRECTIONS},
        )
        x, evaluations = result.x, evaluations + int(result.nfev)
    improved = _make_candidate(design, candidate.start, x.reshape(design.shape), evaluations)
    if improved is None or not improved.value <= candidate.value:
        return Candidate(candidate.start, candidate.x, candidate.before, candidate.value, candidate.factor, evaluations)
    return improved


def _make_candidate(design: Design, start: int, x: Unknowns, evaluations: int) -> Candidate | None:
    shrunk = shrink(design.space, x, design.constraints)
    if shrunk is None:
        return None
    # A random start is continued from within the limits, an optimized one from where the penalties left it.
    before = x if evaluations else shrunk.x
    return Candidate(start, shrunk.x, before, design.measure(shrunk.x), shrunk.factor, evaluations)
