"""Closing many samples at once: a damped Newton method on all of them, and ways to start it on the right branch.

Samples are gathered in cells of the space of Q. One sample of each cell is led from home to its place in short strides,
the way that keeps a mechanism on its branch; the others start from it along E. What could not be reached on the
straight way is tried from its neighbours in the order of the samples. A mechanism that keeps to its branch never
crosses a singularity, so the determinant of each block of Jp keeps its sign; where it does not, the branch was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.loops.constraint import Constraint
from ytheta.robot.loops.closure import CLOSURE_TOLERANCE, STRIDE
from ytheta.shapes import SamplesByCoordinate, Shaped

if TYPE_CHECKING:
    import casadi


CELL = 0.05  # radians or metres: samples nearer than this start from the same solution
SETTLED = 1e-8  # a Newton step this small leaves an error of its square
LONGEST = 0.5  # radians or metres: no step of Newton's method, and no change in one stride, is longer
ROUNDS = 40
SHORTEST_STEP = 2.0**-6  # share of a Newton step that is halved because it does not help
SHORTEST_STRIDE = 2.0**-10  # share of a stride that is halved because the branch was lost


def from_home(loops: Constraint, x: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Close samples whose passive coordinates are unknown; how many rounds of Newton's method it took at most."""
    driving, passive = list(loops.driving), list(loops.passive)
    _, leaders, cell = np.unique(np.floor(x[:, driving] / CELL), axis=0, return_index=True, return_inverse=True)
    stops, rounds = _led(loops, np.tile(loops.home, (len(leaders), 1)), x[leaders])
    start = stops[cell.ravel()]
    E = _evaluate(loops.tangent, stops)[0].reshape(len(stops), len(loops.actuated), -1)
    E = E[:, [loops.actuated.index(place) for place in driving]][:, :, passive][cell.ravel()]
    way = x[:, driving] - start[:, driving]
    near = np.abs(way).max(axis=1) <= 2 * CELL
    with np.errstate(invalid="ignore"):  # E is infinite at a singular pose
        ahead = np.einsum("sa,sap->sp", way, E)
    x[:, passive] = start[:, passive] + np.where(near[:, None] & np.isfinite(ahead), ahead, 0.0)
    x, more = newton(loops, x)
    there = _arrived(loops, x)
    missed = np.flatnonzero(~there & near)
    reached, _ = _led(loops, start[missed], x[missed])
    found = (reached[:, driving] == x[missed][:, driving]).all(axis=1)
    x[missed[found]] = reached[found]
    there[missed[found]] = True
    x = _from_neighbours(loops, x, there)
    gaps, _, _ = verdict(loops, x)
    elsewhere = ~there & (gaps.max(axis=1) <= CLOSED)  # closed on another branch, which is no answer
    x[np.ix_(elsewhere, passive)] = start[elsewhere][:, passive]
    return x, max(rounds, more)


def _led(loops: Constraint, x: SamplesByCoordinate, goal: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Lead closed samples towards goals in strides, shorter ones where the loops move fast; where each one came to."""
    driving, passive = list(loops.driving), list(loops.passive)
    begin, x, rounds = x[:, driving], x.copy(), 0
    others = [place for place in loops.actuated if place not in driving]
    x[:, others] = goal[:, others]
    way = goal[:, driving] - begin
    longest = STRIDE / np.maximum(STRIDE, np.abs(way).max(axis=1, initial=0.0))
    done, share = np.zeros(len(x)), longest.copy()
    walking = np.arange(len(x))
    while len(walking):
        reach = np.minimum(1.0, done[walking] + share[walking])
        trial = x[walking]
        trial[:, driving] = np.where(
            reach[:, None] < 1.0, begin[walking] + reach[:, None] * way[walking], goal[walking][:, driving]
        )
        trial, needed = newton(loops, trial)
        rounds = max(rounds, needed)
        jump = np.abs(trial[:, passive] - x[walking][:, passive]).max(axis=1)
        good = _arrived(loops, trial) & (jump <= LONGEST)
        x[walking[good]], done[walking[good]] = trial[good], reach[good]
        share[walking] = np.where(good, np.minimum(2.0 * share[walking], longest[walking]), 0.5 * share[walking])
        walking = walking[(done[walking] < 1.0) & (share[walking] >= longest[walking] * SHORTEST_STRIDE)]
    return x, rounds


def _from_neighbours(
    loops: Constraint, x: SamplesByCoordinate, there: Shaped[np.ndarray, "samples"]
) -> SamplesByCoordinate:
    """Try samples that have not arrived from those before and after them that have, as long as that helps."""
    driving, passive = list(loops.driving), list(loops.passive)
    near = np.abs(np.diff(x[:, driving], axis=0)).max(axis=1, initial=0.0) <= STRIDE
    while True:
        after = np.flatnonzero(near & there[:-1] & ~there[1:]) + 1
        before = np.flatnonzero(near & ~there[:-1] & there[1:])
        target, source = np.concatenate([after, before]), np.concatenate([after - 1, before + 1])
        trial = x[target]
        trial[:, passive] = x[source][:, passive]
        trial, _ = newton(loops, trial)
        good = _arrived(loops, trial)
        if not good.any():
            return x
        x[target[good]] = trial[good]
        there[target[good]] = True


def newton(loops: Constraint, x: SamplesByCoordinate) -> tuple[SamplesByCoordinate, int]:
    """Close samples by their passive coordinates: Newton steps, halved until they help; how many rounds it took."""
    passive = list(loops.passive)
    x = x.copy()
    left = np.arange(len(x))
    c, step = _evaluate(loops.newton, x)
    size, share = np.linalg.norm(c, axis=1), np.ones(len(x))
    for k in range(ROUNDS):
        length = np.abs(step).max(axis=1)
        settled = length <= SETTLED
        x[np.ix_(left[settled], passive)] -= step[settled]
        going = ~settled & np.isfinite(length) & (share >= SHORTEST_STEP)
        left, step, size, share, length = left[going], step[going], size[going], share[going], length[going]
        if not len(left):
            return x, k
        trial = x[left]
        trial[:, passive] -= step * (share * np.minimum(1.0, LONGEST / length))[:, None]
        c, following = _evaluate(loops.newton, trial)
        now = np.linalg.norm(c, axis=1)
        better = now < (1.0 - 0.1 * share) * size
        x[left[better]] = trial[better]
        step = np.where(better[:, None], following, step)
        size, share = np.where(better, now, size), np.where(better, np.minimum(1.0, 2.0 * share), 0.5 * share)
    return x, ROUNDS


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


def verdict(loops: Constraint, x: SamplesByCoordinate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaps of the loops, condition of Jp, and on which side of its singularities each block of Jp is."""
    gaps, condition, Jp = _evaluate(loops.verdict, x)
    Jp = Jp.reshape(len(x), len(loops.passive), len(loops.passive)).transpose(0, 2, 1)
    sides = [np.linalg.det(Jp[:, rows][:, :, columns]) > 0.0 for rows, columns in loops.blocks]
    return gaps, condition[:, 0], np.stack(sides, axis=1)


def _arrived(loops: Constraint, x: SamplesByCoordinate) -> Shaped[np.ndarray, "samples"]:
    """Closed, and on the branch of home: no way from there leads to the other side of a singularity."""
    gaps, _, sides = verdict(loops, x)
    _, _, home = verdict(loops, loops.home[None])
    return (gaps.max(axis=1) <= CLOSED) & (sides == home).all(axis=1)
