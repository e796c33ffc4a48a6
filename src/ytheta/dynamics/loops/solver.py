"""Closed loops in motion: x = U(Q) for many samples at once.

Reference     [walker1988] sec. 2.3, (4)
Accepts       every robot; without loops x is Q

Where U is affine (parallelograms) it is used as it stands, else ``loop_solver`` closes the loops. What cannot close is
an outcome with advice, no error: a log may hold such samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.loops.loop_solver import from_home, newton, verdict
from ytheta.errors import ClosureError, InputError
from ytheta.robot.loops.closure import CLOSURE_TOLERANCE, RANK, STRIDE
from ytheta.shapes import Float, SamplesByCoordinate, Shaped

FARTHEST = 1000 * STRIDE


@dataclass(frozen=True, eq=False)
class Outcome:
    """Closed coordinates for samples of Q, or what stood in the way.

    ``closed``: the loops meet. ``determined``: closed, and E exists (``condition`` of Jp is bounded). ``gap`` is the
    largest distance that is left (metres, radians), ``rounds`` the rounds of Newton's method. Where a loop cannot
    close, x holds the best approach.
    """

    x: Float[np.ndarray, "samples coordinates"]
    q: Float[np.ndarray, "samples joints"]
    closed: Shaped[np.ndarray, "samples"]
    determined: Shaped[np.ndarray, "samples"]
    gap: Float[np.ndarray, "samples"]
    condition: Float[np.ndarray, "samples"]
    rounds: int
    advice: str

    def or_raise(self) -> Outcome:
        """This outcome, or ClosureError with its advice."""
        if not self.determined.all():
            raise ClosureError(self.advice)
        return self


def solve(
    loops: Constraint, Q: Float[np.ndarray, "samples actuated"], start: SamplesByCoordinate | None = None
) -> Outcome:
    """x = U(Q) for every sample, from home, or from coordinates ``start`` that are near where they are known."""
    if Q.shape[1] != len(loops.actuated):
        raise InputError(f"robot {loops.robot.name!r} has {len(loops.actuated)} actuated coordinates, not {Q.shape[1]}")
    if loops.affine is not None:
        return _outcome(loops, Q @ loops.affine.E.T + loops.affine.offset, 0)
    far = np.flatnonzero(np.abs(Q - loops.home[list(loops.actuated)]).max(axis=1, initial=0.0) > FARTHEST)
    if len(far):
        raise InputError(
            f"robot {loops.robot.name!r}: sample {far[0]} is more than {FARTHEST:g} rad or m from home, too far to be "
            "led there with closed loops; check that positions are in radians and metres"
        )
    x = np.tile(loops.home, (len(Q), 1)) if start is None else start.copy()
    x[:, loops.actuated] = Q
    rounds = 0
    if loops.passive and len(Q):
        x, rounds = newton(loops, x) if start is not None else from_home(loops, x)
    return _outcome(loops, x, rounds)


def _outcome(loops: Constraint, x: SamplesByCoordinate, rounds: int) -> Outcome:
    factors, offset = loops.robot.coupling_map
    gaps, condition = np.zeros((len(x), 1)), np.ones(len(x))
    if loops.passive and len(x):
        gaps, condition, _ = verdict(loops, x)
    closed = gaps.max(axis=1) <= CLOSED
    determined = closed & (condition < 1.0 / RANK)
    advice = _advice(loops, x, gaps, closed, determined)
    q = x @ factors.T + offset
    return Outcome(x, q, closed, determined, gaps.max(axis=1), condition, rounds, advice)


def _advice(loops: Constraint, x: SamplesByCoordinate, gaps, closed, determined) -> str:  # type: ignore[no-untyped-def]
    """Where and why the first sample failed, and what to do."""
    if determined.all():
        return "closed"
    k = int(np.flatnonzero(~determined)[0])
    names = loops.robot.actuated
    at = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, x[k, loops.actuated], strict=True))
    count = f"{np.count_nonzero(~determined)} of {len(x)} samples; the first is sample {k} at {at}"
    if not closed[k]:
        worst = int(np.argmax(gaps[k]))
        return (
            f"robot {loops.robot.name!r} cannot take the pose of {count}: the joint of loop "
            f"{loops.cuts[worst].joint.name!r} stays {gaps[k, worst]:.3g} (metres or radians) apart; keep to poses it "
            "can reach, or correct the lengths or the [home] it starts from"
        )
    passive = ", ".join(loops.robot.passive)
    return (
        f"robot {loops.robot.name!r} is singular in {count}: there the actuated coordinates do not determine "
        f"{passive}; keep away from this pose"
    )
