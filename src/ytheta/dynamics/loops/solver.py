"""Closed loops in motion: x = U(Q) for many samples at once.

Reference     [walker1988] sec. 2.3, (4)
Accepts       every robot; without loops x is Q

If U is affine (parallelograms), it is evaluated. Else ``robot.loops.solver`` closes the loops with compiled equations.
Loops that cannot close are an outcome with advice and not an error: a log may hold such samples.

Samples without a warm start are gathered in cells of the space of Q. One sample of each cell is moved to its place by
continuation from home; the others start from it along E. Samples that the straight line from home does not reach are
tried from their neighbours in the order of the samples. A mechanism that stays on its branch never crosses a
singularity, so the determinant of each diagonal block of Jp keeps its sign. A change of sign shows a lost branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.loops.constraint import Constraint
from ytheta.errors import ClosureError, InputError
from ytheta.robot.loops.closure import CLOSURE_TOLERANCE, MAX_STRIDES, RANK_TOLERANCE
from ytheta.robot.loops.solver import MAX_STRIDE, NewtonStep, continue_to, newton
from ytheta.shapes import Float, SamplesByCoordinate, Shaped

if TYPE_CHECKING:
    import casadi

CELL_SIZE = 0.05  # radians or metres: samples within a cell start from the same solution
MAX_DISTANCE = MAX_STRIDES * MAX_STRIDE  # from home


@dataclass(frozen=True, eq=False)
class Outcome:
    """Closed coordinates for samples of Q, or the reason why there are none.

    ``closed``: the loops meet. ``determined``: closed, and E exists (``condition`` of Jp is bounded). ``gap`` is the
    largest distance that is left (metres, radians), ``rounds`` the number of rounds of Newton's method for all samples
    together, without those of the continuation. If a loop cannot close, x holds the best approach.
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
        """Return this outcome, or raise ClosureError with its advice."""
        if not self.determined.all():
            raise ClosureError(self.advice)
        return self


def solve(
    loops: Constraint, Q: Float[np.ndarray, "samples actuated"], start: SamplesByCoordinate | None = None
) -> Outcome:
    """x = U(Q) for every sample, from home, or from a warm start: coordinates that are near the solution."""
    if Q.shape[1] != len(loops.actuated):
        raise InputError(f"robot {loops.robot.name!r} has {len(loops.actuated)} actuated coordinates, not {Q.shape[1]}")
    if loops.affine is not None:
        return _outcome(loops, Q @ loops.affine.E.T + loops.affine.offset, 0)
    far = np.flatnonzero(np.abs(Q - loops.home[list(loops.actuated)]).max(axis=1, initial=0.0) > MAX_DISTANCE)
    if len(far):
        raise InputError(
            f"robot {loops.robot.name!r}: sample {far[0]} is more than {MAX_DISTANCE:g} rad or m from home, too far to "
            "be reached with closed loops; check that positions are in radians and metres"
        )
    x = np.tile(loops.home, (len(Q), 1)) if start is None else start.copy()
    x[:, loops.actuated] = Q
    rounds = 0
    if loops.passive and len(Q):
        x, rounds = _close(loops, x) if start is not None else _close_from_home(loops, x)
    return _outcome(loops, x, rounds)


def compute_closure_state(loops: Constraint, x: SamplesByCoordinate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaps of the loops, condition number of Jp, and whether the determinant of each block of Jp is positive."""
    gaps, condition, Jp = _evaluate(loops.closure_state, x)
    Jp = Jp.reshape(len(x), len(loops.passive), len(loops.passive)).transpose(0, 2, 1)
    positive = [np.linalg.det(Jp[:, rows][:, :, columns]) > 0.0 for rows, columns in loops.blocks]
    return gaps, condition[:, 0], np.stack(positive, axis=1)


def _close(loops: Constraint, x: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Close samples from where they are; the rounds of Newton's method."""

    def find_step(samples: SamplesByCoordinate) -> NewtonStep:
        # Elimination in compiled code, without redundant equations: many times faster than least squares in NumPy.
        c, step = _evaluate(loops.residual_and_step, samples)
        size = np.linalg.norm(c, axis=1)
        return NewtonStep(size, step, slope=size)

    return newton(find_step, x, loops.passive)


def _close_on_branch(
    loops: Constraint, x: SamplesByCoordinate
) -> tuple[SamplesByCoordinate, Shaped[np.ndarray, "samples"]]:
    """Close samples from where they are; whether they are closed, and on the branch of home."""
    x, _ = _close(loops, x)
    return x, _on_branch(loops, x)


def _on_branch(loops: Constraint, x: SamplesByCoordinate) -> Shaped[np.ndarray, "samples"]:
    """Closed, and on the same side of all singularities as home."""
    gaps, _, positive = compute_closure_state(loops, x)
    _, _, positive_at_home = compute_closure_state(loops, loops.home[None])
    return (gaps.max(axis=1) <= CLOSURE_TOLERANCE) & (positive == positive_at_home).all(axis=1)


def _close_from_home(loops: Constraint, x: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Close samples whose passive coordinates are unknown; the rounds of Newton's method."""
    driving, passive = list(loops.driving), list(loops.passive)
    _, leaders, cell = np.unique(np.floor(x[:, driving] / CELL_SIZE), axis=0, return_index=True, return_inverse=True)
    cell = cell.ravel()
    stops, _ = _continue(loops, np.tile(loops.home, (len(leaders), 1)), x[leaders])
    start = stops[cell]
    distance = x[:, driving] - start[:, driving]
    near = np.abs(distance).max(axis=1) <= 2 * CELL_SIZE
    E = _evaluate(loops.tangent, stops)[0].reshape(len(stops), len(loops.actuated), -1)
    E = E[:, [loops.actuated.index(place) for place in driving]][:, :, passive][cell]
    with np.errstate(invalid="ignore"):  # E is infinite at a singular pose
        change = np.einsum("sa,sap->sp", distance, E)
    x[:, passive] = start[:, passive] + np.where(near[:, None] & np.isfinite(change), change, 0.0)
    x, rounds = _close(loops, x)
    arrived = _on_branch(loops, x)
    missed = np.flatnonzero(~arrived & near)
    retried, covered = _continue(loops, start[missed], x[missed])
    x[missed[covered == 1.0]] = retried[covered == 1.0]
    arrived[missed[covered == 1.0]] = True
    x = _close_from_neighbours(loops, x, arrived)
    gaps, _, _ = compute_closure_state(loops, x)
    other_branch = ~arrived & (gaps.max(axis=1) <= CLOSURE_TOLERANCE)  # closed, but not a solution
    x[np.ix_(other_branch, passive)] = start[other_branch][:, passive]
    return x, rounds


def _continue(
    loops: Constraint, x: SamplesByCoordinate, goal: SamplesByCoordinate
) -> tuple[SamplesByCoordinate, Shaped[np.ndarray, "samples"]]:
    return continue_to(lambda trial: _close_on_branch(loops, trial), x, goal, loops.driving, loops.passive)


def _close_from_neighbours(
    loops: Constraint, x: SamplesByCoordinate, arrived: Shaped[np.ndarray, "samples"]
) -> SamplesByCoordinate:
    """Try samples that have not arrived from those before and after them that have, as long as that helps."""
    driving, passive = list(loops.driving), list(loops.passive)
    near = np.abs(np.diff(x[:, driving], axis=0)).max(axis=1, initial=0.0) <= MAX_STRIDE
    while True:
        after = np.flatnonzero(near & arrived[:-1] & ~arrived[1:]) + 1
        before = np.flatnonzero(near & ~arrived[:-1] & arrived[1:])
        target, source = np.concatenate([after, before]), np.concatenate([after - 1, before + 1])
        trial = x[target]
        trial[:, passive] = x[source][:, passive]
        trial, good = _close_on_branch(loops, trial)
        if not good.any():
            return x
        x[target[good]] = trial[good]
        arrived[target[good]] = True


def _evaluate(function: casadi.Function, x: SamplesByCoordinate) -> list[np.ndarray]:
    """Outputs of a CasADi function of dense vectors for many samples, one row each."""
    x = np.ascontiguousarray(x)
    results = [np.empty((len(x), int(function.nnz_out(k)))) for k in range(function.n_out())]
    if len(x):
        buffer: Any
        buffer, run = function.map(len(x)).buffer()
        buffer.set_arg(0, memoryview(x))  # type: ignore[arg-type]
        for k, result in enumerate(results):
            buffer.set_res(k, memoryview(result))  # type: ignore[arg-type]
        run()
    return results


def _outcome(loops: Constraint, x: SamplesByCoordinate, rounds: int) -> Outcome:
    factors, offset = loops.robot.coupling_map
    gaps, condition = np.zeros((len(x), 1)), np.ones(len(x))
    if loops.passive and len(x):
        gaps, condition, _ = compute_closure_state(loops, x)
    closed = gaps.max(axis=1) <= CLOSURE_TOLERANCE
    determined = closed & (condition < 1.0 / RANK_TOLERANCE)
    advice = _advise(loops, x, gaps, closed, determined)
    q = x @ factors.T + offset
    return Outcome(x, q, closed, determined, gaps.max(axis=1), condition, rounds, advice)


def _advise(loops: Constraint, x: SamplesByCoordinate, gaps, closed, determined) -> str:  # type: ignore[no-untyped-def]
    """The first sample that failed, why it failed, and a remedy."""
    if determined.all():
        return "closed"
    k = int(np.flatnonzero(~determined)[0])
    names = loops.robot.actuated
    pose = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, x[k, loops.actuated], strict=True))
    count = f"{np.count_nonzero(~determined)} of {len(x)} samples; the first is sample {k} at {pose}"
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
