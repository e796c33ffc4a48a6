"""The numerical solver of loop closures: a damped Newton method and continuation, for many samples at once.

``solve_by_newton`` closes the loops of samples that are already near a solution (warm start). ``continue_to`` moves
closed samples to other actuated coordinates in short strides. Short strides keep a mechanism on its branch, the
continuous set of solutions to which its home configuration belongs. Branches cross at singular poses: a flat
parallelogram can open again as a parallelogram or as an antiparallelogram. There the velocities of the free coordinates
change suddenly, so that ``keep_direction`` detects a change of branch. The equations are arguments of both functions:
``robot.loops.equations`` evaluates them in NumPy, ``dynamics.loop_solver`` in compiled code.

A sample is a row of coordinates x. ``free`` lists the indices of the coordinates that the solver may change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ytheta.shapes import AnyBatchByCoordinate, AnyBatchByEquation, Bool, Float, PerSample, SamplesByCoordinate, Shaped

# Step (rad or m) below which Newton's method ends; the error is then about that step squared. Chosen on: reasoning.
STEP_TOLERANCE = 1e-8
# Largest Newton step, and largest change of free coordinates in one stride (rad or m). Chosen on: rule of thumb.
MAX_STEP_LENGTH = 0.5
# Largest number of Newton's iterations before a loop counts as open. Chosen on: rule of thumb.
MAX_ITERATIONS = 40
MIN_DECREASE_SHARE = 0.1  # actual divided by predicted decrease of the residual; below it, the step is halved
MIN_STEP_SHARE = 2.0**-6  # smallest fraction of a Newton step that is tried
# Largest change of actuated coordinates in one stride (rad or m). Chosen on: rule of thumb.
MAX_STRIDE = 0.1
# Smallest fraction of a stride; strides are halved if the loops open or leave their branch. Chosen on: rule of thumb.
MIN_STRIDE_SHARE = 2.0**-10
# Largest change of the velocity of a free coordinate during a stride, relative to the velocities. On a branch it is
# proportional to the length of the stride. Chosen on: parallelograms that become antiparallelograms, where it is
# between 1 and 2.
MAX_VELOCITY_CHANGE = 0.5
# Largest velocity of a free coordinate per unit velocity of a driving one, at the start; it is larger at a singular
# start. Chosen on: rule of thumb.
MAX_START_VELOCITY = 1e3
# Largest velocity of a free coordinate per unit velocity of a driving one that counts as zero. Chosen on: reasoning,
# smaller ones are rounding errors.
NO_EFFECT = 1e-9
DAMPING = 0.1  # dimensionless factor; see ``compute_least_squares_step``


class NewtonStep(NamedTuple):
    """The Newton step of every sample: ``x[free] - step`` closes the loops to first order.

    ``size`` is the norm of the residual. ``slope`` is the first-order prediction of its decrease by a full step.
    """

    size: PerSample
    step: Float[np.ndarray, "samples free"]
    slope: PerSample


Equations: TypeAlias = Callable[[AnyBatchByCoordinate], AnyBatchByEquation]
FindStep: TypeAlias = Callable[[SamplesByCoordinate], NewtonStep]
# Derivatives of the free coordinates with respect to the driving ones
FindTangents: TypeAlias = Callable[[SamplesByCoordinate], Float[np.ndarray, "samples free driving"]]
# Closes samples, given the closed poses from which they came; returns also whether each is closed and on its branch
Close: TypeAlias = Callable[
    [SamplesByCoordinate, SamplesByCoordinate], tuple[SamplesByCoordinate, Shaped[np.ndarray, " samples"]]
]


def solve_by_newton(
    find_step: FindStep, x: SamplesByCoordinate, free: Sequence[int], *, max_iterations: int = MAX_ITERATIONS
) -> tuple[SamplesByCoordinate, int]:
    """Close samples by Newton steps, which are halved until the residual decreases sufficiently.

    Return the coordinates and the number of iterations. A sample that does not converge keeps the coordinates with the
    smallest residual.
    """
    x = x.copy()
    active = np.arange(len(x))
    size, step, slope = find_step(x)
    share = np.ones(len(x))
    for k in range(max_iterations):
        length = np.abs(step).max(axis=1, initial=0.0)
        converged = length <= STEP_TOLERANCE
        x[np.ix_(active[converged], free)] -= step[converged]
        unfinished = ~converged & np.isfinite(length) & (share >= MIN_STEP_SHARE)
        active, length, share = active[unfinished], length[unfinished], share[unfinished]
        size, step, slope = size[unfinished], step[unfinished], slope[unfinished]
        if not len(active):
            return x, k
        trial = x[active]
        trial[:, free] -= step * (share * np.minimum(1.0, MAX_STEP_LENGTH / length))[:, None]
        ahead = find_step(trial)
        better = ahead.size < size - MIN_DECREASE_SHARE * share * slope
        x[active[better]] = trial[better]
        step = np.where(better[:, None], ahead.step, step)
        size, slope = np.where(better, ahead.size, size), np.where(better, ahead.slope, slope)
        share = np.where(better, np.minimum(1.0, 2.0 * share), 0.5 * share)
    return x, max_iterations


def continue_to(
    close: Close,
    find_tangents: FindTangents,
    x: SamplesByCoordinate,
    goal: SamplesByCoordinate,
    driving: Sequence[int],
    free: Sequence[int],
) -> tuple[SamplesByCoordinate, Shaped[np.ndarray, " samples"]]:
    """Move closed samples towards their goals in strides, which are shortened if the free coordinates change fast.

    ``driving`` lists the indices of the actuated coordinates that move loops. Coordinates that are neither driving nor
    free are set to their goals at the start. Return the last closed pose of each sample, and the fraction of the
    distance to the goal that the sample covered (1 at the goal). A start at a singular pose is left without a check of
    the direction, since all branches meet there.
    """
    start, x = x[:, driving], x.copy()
    at_once = [k for k in range(x.shape[1]) if k not in driving and k not in free]
    x[:, at_once] = goal[:, at_once]
    distance = goal[:, driving] - start
    longest = MAX_STRIDE / np.maximum(MAX_STRIDE, np.abs(distance).max(axis=1, initial=0.0))
    covered, share = np.zeros(len(x)), longest.copy()
    moving = np.arange(len(x))
    tangents = find_tangents(x)
    with np.errstate(invalid="ignore"):
        singular = np.array(~np.all(np.abs(tangents) < MAX_START_VELOCITY, axis=(1, 2)))
    while len(moving):
        reach = np.minimum(1.0, covered[moving] + share[moving])
        trial = x[moving]
        trial[:, driving] = np.where(
            reach[:, None] < 1.0, start[moving] + reach[:, None] * distance[moving], goal[moving][:, driving]
        )
        trial, closed = close(trial, x[moving])
        jump = np.abs(trial[:, free] - x[moving][:, free]).max(axis=1, initial=0.0)
        ahead = find_tangents(trial)
        smooth = singular[moving] | keep_direction(tangents[moving], ahead, distance[moving])
        accepted = closed & (jump <= MAX_STEP_LENGTH) & smooth
        x[moving[accepted]], covered[moving[accepted]] = trial[accepted], reach[accepted]
        tangents[moving[accepted]], singular[moving[accepted]] = ahead[accepted], False
        share[moving] = np.where(accepted, np.minimum(2.0 * share[moving], longest[moving]), 0.5 * share[moving])
        moving = moving[(covered[moving] < 1.0) & (share[moving] >= longest[moving] * MIN_STRIDE_SHARE)]
    return x, covered


def keep_direction(
    before: Float[np.ndarray, "samples free driving"],
    after: Float[np.ndarray, "samples free driving"],
    change: Float[np.ndarray, "samples driving"],
) -> Bool[np.ndarray, " samples"]:
    """Whether the free coordinates move with similar velocities before and after a change of the driving coordinates.

    ``before`` and ``after`` are the tangents at both poses. False if a tangent is infinite.
    """
    with np.errstate(invalid="ignore"):
        velocities = [np.einsum("sfd,sd->sf", tangents, change) for tangents in (before, after)]
        has_effect = np.abs(before) + np.abs(after) > NO_EFFECT
        scale = np.max([*np.abs(velocities), (has_effect * np.abs(change)[:, None]).max(axis=2, initial=0.0)], axis=0)
        smooth = np.abs(velocities[1] - velocities[0]) <= MAX_VELOCITY_CHANGE * scale
    return np.asarray((smooth | ~has_effect.any(axis=2)).all(axis=1) & np.isfinite(after).all(axis=(1, 2)))


def compute_least_squares_step(equations: Equations, x: SamplesByCoordinate, free: Sequence[int]) -> NewtonStep:
    """The damped Newton step (J^T J + mu 1)^-1 J^T c, also for equations that are redundant or have no solution.

    The damping mu is proportional to the norm of the residual c (Levenberg-Marquardt), so that mu vanishes as the loops
    close. If the loops cannot close, J is singular at the pose with the smallest gap, and only damped steps converge to
    this pose.
    """
    c, J = linearize(equations, x, free)
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    size = np.linalg.norm(c, axis=1)
    c_along_U = np.einsum("sek,se->sk", U, c)
    damped = s**2 + (DAMPING * size * np.maximum(s[:, 0], size))[:, None] + np.finfo(float).tiny
    step = np.einsum("skf,sk->sf", Vt, s / damped * c_along_U)
    scale = np.minimum(1.0, MAX_STEP_LENGTH / np.maximum(np.abs(step).max(axis=1), np.finfo(float).tiny))
    slope = scale * (s**2 / damped * c_along_U**2).sum(axis=1) / np.maximum(size, np.finfo(float).tiny)
    return NewtonStep(size, scale[:, None] * step, slope)


def linearize(
    equations: Equations, x: SamplesByCoordinate, indices: Sequence[int]
) -> tuple[Float[np.ndarray, "samples equations"], Float[np.ndarray, "samples equations indices"]]:
    """Values of the equations, and their derivatives with respect to the coordinates ``indices``.

    The derivatives are computed with complex steps, so that there is no cancellation and no truncation error.
    """
    step = 1e-30
    values = equations(x[:, None, :] + 1j * step * np.eye(x.shape[1])[list(indices)])
    return values.real[:, 0], values.imag.swapaxes(1, 2) / step
