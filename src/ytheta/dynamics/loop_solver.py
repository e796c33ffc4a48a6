"""Solution of the closure equations, x = U(Q), for many samples at once.

Reference     [walker1988] sec. 2.3, (4)
Accepts       every robot; without loops x is Q

If U has a closed form (parallelograms), this form is evaluated. Otherwise ``robot.loops.solver`` closes the loops with
compiled equations. If the loops of a sample cannot close, the outcome contains advice, and no error is raised, because
a log may contain such samples.

Samples without a warm start are grouped into cells of the space of Q. One sample of each cell, its leader, is solved by
continuation from home. The other samples start from the solution of their leader, extrapolated with E. If continuation
along a straight line from home does not reach a sample, the solutions of the previous and of the next sample are tried
as starting points. A mechanism that stays on its branch never crosses a singularity, so the determinant of each
diagonal block of Jp keeps its sign. A changed sign shows that a sample is not on the branch of home. Branches of the
same sign can meet in a singular pose, such as those of a parallelogram and of an antiparallelogram. Velocities that
change suddenly show that a sample has passed from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.constraint import LoopConstraint
from ytheta.errors import ClosureError, InputError
from ytheta.robot.loops.closure import MAX_STRIDES
from ytheta.robot.loops.equations import RANK_TOLERANCE
from ytheta.robot.loops.solver import MAX_STRIDE, NewtonStep, continue_to, keep_direction, solve_by_newton
from ytheta.shapes import Float, SamplesByCoordinate, Shaped

if TYPE_CHECKING:
    import casadi

# Edge of a cell in radians or metres; all samples of a cell start from the same solution. Chosen on: rule of thumb.
CELL_SIZE = 0.05
# Largest distance of an actuated coordinate from home, radians or metres. Chosen on: the largest number of strides from
# home, times their largest length.
MAX_DISTANCE = MAX_STRIDES * MAX_STRIDE


@dataclass(frozen=True, eq=False)
class LoopSolution:
    """Coordinates with closed loops for samples of Q, and advice if some loops do not close.

    x            all coordinates; if a loop of a sample cannot close, the best approximation
    q            joint positions
    closed       whether all loops of a sample are closed
    determined   whether all loops are closed and E exists, that is, ``condition`` is below a bound
    gap          largest gap of the loops of a sample, metres and radians
    condition    condition number of Jp
    iterations   iterations of Newton's method for all samples together, without those of the continuation
    advice       how many samples failed, the first of them, the reason and a remedy; "closed" if no sample failed
    """

    x: Float[np.ndarray, "samples coordinates"]
    q: Float[np.ndarray, "samples joints"]
    closed: Shaped[np.ndarray, " samples"]
    determined: Shaped[np.ndarray, " samples"]
    gap: Float[np.ndarray, " samples"]
    condition: Float[np.ndarray, " samples"]
    iterations: int
    advice: str

    def or_raise(self) -> LoopSolution:
        """Return this outcome, or raise ClosureError with its advice."""
        if not self.determined.all():
            raise ClosureError(self.advice)
        return self


def solve(
    loops: LoopConstraint, Q: Float[np.ndarray, "samples actuated"], start: SamplesByCoordinate | None = None
) -> LoopSolution:
    """Solve x = U(Q) for every sample.

    ``start`` is a warm start: coordinates near the solution. Without ``start``, the search starts from home.
    """
    if Q.shape[1] != len(loops.actuated):
        raise InputError(f"robot {loops.robot.name!r} has {len(loops.actuated)} actuated coordinates, not {Q.shape[1]}")
    if loops.affine is not None:
        return _make_outcome(loops, Q @ loops.affine.E.T + loops.affine.offset, 0)
    far = np.flatnonzero(np.abs(Q - loops.home[list(loops.actuated)]).max(axis=1, initial=0.0) > MAX_DISTANCE)
    if len(far):
        raise InputError(
            f"robot {loops.robot.name!r}: sample {far[0]} is more than {MAX_DISTANCE:g} rad or m from home, too far "
            "for the closure of the loops; check that positions are in radians and metres"
        )
    x = np.tile(loops.home, (len(Q), 1)) if start is None else start.copy()
    x[:, loops.actuated] = Q
    iterations = 0
    if loops.passive and len(Q):
        x, iterations = _close(loops, x) if start is not None else _close_from_home(loops, x)
    return _make_outcome(loops, x, iterations)


def compute_closure_state(loops: LoopConstraint, x: SamplesByCoordinate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaps of all loops, condition number of Jp, and whether the determinant of each block of Jp is positive."""
    gaps, condition, Jp = _evaluate(loops.closure_state, x)
    Jp = Jp.reshape(len(x), len(loops.passive), len(loops.passive)).transpose(0, 2, 1)
    positive = [np.linalg.det(Jp[:, rows][:, :, columns]) > 0.0 for rows, columns in loops.blocks]
    return gaps, condition[:, 0], np.stack(positive, axis=1)


def compute_tangents(
    loops: LoopConstraint, x: SamplesByCoordinate
) -> Float[np.ndarray, "samples coordinates actuated"]:
    """E = dx/dQ at closed coordinates x."""
    by_columns = _evaluate(loops.tangent, x)[0].reshape(len(x), len(loops.actuated), x.shape[1])
    return by_columns.transpose(0, 2, 1)


def _compute_passive_tangents(
    loops: LoopConstraint, x: SamplesByCoordinate
) -> Float[np.ndarray, "samples passive driving"]:
    """The derivatives of the passive coordinates with respect to the actuated ones that move loops."""
    driving = [loops.actuated.index(k) for k in loops.driving]
    return compute_tangents(loops, x)[:, list(loops.passive)][:, :, driving]


def _close(loops: LoopConstraint, x: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Close samples by Newton's method, starting from x. Return the coordinates and the number of iterations."""

    def find_step(samples: SamplesByCoordinate) -> NewtonStep:
        # Compiled elimination of the independent equations is many times faster than least squares in NumPy.
        c, step = _evaluate(loops.residual_and_step, samples)
        size = np.linalg.norm(c, axis=1)
        return NewtonStep(size, step, slope=size)

    return solve_by_newton(find_step, x, loops.passive)


def _close_on_branch(
    loops: LoopConstraint, x: SamplesByCoordinate
) -> tuple[SamplesByCoordinate, Shaped[np.ndarray, " samples"]]:
    """Close samples. Return the coordinates, and whether each sample is closed and on the branch of home."""
    x, _ = _close(loops, x)
    return x, _are_on_branch(loops, x)


def _are_on_branch(loops: LoopConstraint, x: SamplesByCoordinate) -> Shaped[np.ndarray, " samples"]:
    """Whether each sample is closed and on the same side of all singularities as home."""
    gaps, _, positive = compute_closure_state(loops, x)
    _, _, positive_at_home = compute_closure_state(loops, loops.home[None])
    return (gaps.max(axis=1) <= loops.robot.closure_tolerance) & (positive == positive_at_home).all(axis=1)


def _close_from_home(loops: LoopConstraint, x: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Close samples whose passive coordinates are unknown.

    Return the coordinates, and the number of iterations of Newton's method from the extrapolated solutions.
    """
    driving, passive = list(loops.driving), list(loops.passive)
    _, leaders, cell = np.unique(np.floor(x[:, driving] / CELL_SIZE), axis=0, return_index=True, return_inverse=True)
    cell = cell.ravel()
    reached, _ = _continue_on_branch(loops, np.tile(loops.home, (len(leaders), 1)), x[leaders])
    start = reached[cell]
    distance = x[:, driving] - start[:, driving]
    near = np.abs(distance).max(axis=1) <= 2 * CELL_SIZE
    E = _compute_passive_tangents(loops, reached)[cell]
    with np.errstate(invalid="ignore"):  # E is infinite at a singular pose
        change = np.einsum("sa,spa->sp", distance, E)
    x[:, passive] = start[:, passive] + np.where(near[:, None] & np.isfinite(change), change, 0.0)
    x, iterations = _close(loops, x)
    arrived = _are_on_branch(loops, x) & keep_direction(E, _compute_passive_tangents(loops, x), distance)
    missed = np.flatnonzero(~arrived & near)
    retried, covered = _continue_on_branch(loops, start[missed], x[missed])
    x[missed[covered == 1.0]] = retried[covered == 1.0]
    arrived[missed[covered == 1.0]] = True
    x = _close_from_neighbours(loops, x, arrived)
    gaps, _, _ = compute_closure_state(loops, x)
    closed = gaps.max(axis=1) <= loops.robot.closure_tolerance
    other_branch = ~arrived & closed  # closed, but not on the branch of home
    x[np.ix_(other_branch, passive)] = start[other_branch][:, passive]
    return x, iterations


def _continue_on_branch(
    loops: LoopConstraint, x: SamplesByCoordinate, goal: SamplesByCoordinate
) -> tuple[SamplesByCoordinate, Shaped[np.ndarray, " samples"]]:
    return continue_to(
        lambda trial, _: _close_on_branch(loops, trial),
        lambda trial: _compute_passive_tangents(loops, trial),
        x,
        goal,
        loops.driving,
        loops.passive,
    )


def _close_from_neighbours(
    loops: LoopConstraint, x: SamplesByCoordinate, arrived: Shaped[np.ndarray, " samples"]
) -> SamplesByCoordinate:
    """Close further samples on the branch of home, starting from the solution of the previous or of the next sample.

    ``arrived`` tells which samples are closed on this branch. The step is repeated as long as further samples arrive.
    """
    driving, passive = list(loops.driving), list(loops.passive)
    near = np.abs(np.diff(x[:, driving], axis=0)).max(axis=1, initial=0.0) <= MAX_STRIDE
    while True:
        after = np.flatnonzero(near & arrived[:-1] & ~arrived[1:]) + 1
        before = np.flatnonzero(near & ~arrived[:-1] & arrived[1:])
        target, source = np.concatenate([after, before]), np.concatenate([after - 1, before + 1])
        trial = x[target]
        trial[:, passive] = x[source][:, passive]
        trial, closed = _close_on_branch(loops, trial)
        E, E_trial = (_compute_passive_tangents(loops, each) for each in (x[source], trial))
        closed &= keep_direction(E, E_trial, (trial - x[source])[:, driving])
        if not closed.any():
            return x
        x[target[closed]] = trial[closed]
        arrived[target[closed]] = True


def _evaluate(function: casadi.Function, x: SamplesByCoordinate) -> list[np.ndarray]:
    """Outputs of a CasADi function of one dense vector, for many samples: one row for each sample."""
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


def _make_outcome(loops: LoopConstraint, x: SamplesByCoordinate, iterations: int) -> LoopSolution:
    factors, offset = loops.robot.coupling_map
    gaps, condition = np.zeros((len(x), 1)), np.ones(len(x))
    if loops.passive and len(x):
        gaps, condition, _ = compute_closure_state(loops, x)
    closed = gaps.max(axis=1) <= loops.robot.closure_tolerance
    determined = closed & (condition < 1.0 / RANK_TOLERANCE)
    advice = _make_advice(loops, x, gaps, closed, determined)
    q = x @ factors.T + offset
    return LoopSolution(x, q, closed, determined, gaps.max(axis=1), condition, iterations, advice)


def _make_advice(loops: LoopConstraint, x: SamplesByCoordinate, gaps, closed, determined) -> str:  # type: ignore[no-untyped-def]
    """The number of samples that failed, the first of them, the reason, and a remedy."""
    if determined.all():
        return "closed"
    k = int(np.flatnonzero(~determined)[0])
    names = loops.robot.actuated
    pose = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, x[k, loops.actuated], strict=True))
    count = f"{np.count_nonzero(~determined)} of {len(x)} samples; the first is sample {k} at {pose}"
    if not closed[k]:
        worst = int(np.argmax(gaps[k]))
        return (
            f"robot {loops.robot.name!r} cannot reach the pose of {count}: the sides of the cut joint of loop "
            f"{loops.cuts[worst].joint.name!r} stay {gaps[k, worst]:.3g} (metres or radians) apart; use poses that the "
            "robot can reach, or correct its lengths or its [home] configuration"
        )
    passive = ", ".join(loops.robot.passive)
    return (
        f"robot {loops.robot.name!r} is singular in {count}, where the actuated coordinates do not determine "
        f"{passive}; avoid such poses"
    )
