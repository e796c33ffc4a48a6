"""The minimum of a smooth function of a few bounded variables, by Newton's method.

Method        x+ = P(x + a d),   d_f = -|H_ff|⁻¹ g_f,   with P the projection onto the bounds
Reference     D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM
              Journal on Control and Optimization 20 (1982) 221-246: steps and free variables
Notation      code      meaning
              g, H      gradient and second derivatives
              |H|       H with the absolute values of its eigenvalues, so that saddle points are left
              free, f   variables that are not at a bound beyond which the function falls
Differs from  the paper in: |H| instead of a positive definite H, and steps of bounded length
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ytheta.shapes import PerHyper, SquareMatrix

Function = Callable[[PerHyper], tuple[float, PerHyper, SquareMatrix]]
Place = tuple[PerHyper, float, PerHyper, SquareMatrix]

MAX_STEPS = 200
MAX_TRIALS = 30  # of lengths along one direction
LENGTH_FACTORS = (0.1, 0.5)  # by which the length of a step is reduced
MAX_CHANGE = 2.0  # of a variable in a step: further away, second derivatives say little
MAX_GRADIENT = 1e-4  # of free variables at the minimum
MIN_RELATIVE_CURVATURE = 1e-9  # relative to the largest; less is lost to rounding
MIN_RELATIVE_DECREASE = 1e-13  # of the function in a step, expected or real; less is lost to rounding
MIN_RELATIVE_DISTANCE = (
    1e-9  # from a bound, relative to the range; nearer variables are put on it, else they block steps
)
MIN_DECREASE_SHARE = 1e-4  # decrease of the function divided by that of its linear approximation


def minimize_within_bounds(
    function: Function, start: PerHyper, lower: PerHyper, upper: PerHyper
) -> tuple[float, PerHyper]:
    """Return value and place of a local minimum; ``function`` returns value, gradient and second derivatives."""
    x = _project(start, lower, upper)
    value, g, H = function(x)
    for _ in range(MAX_STEPS):
        free = ~(((x <= lower) & (g > 0.0)) | ((x >= upper) & (g < 0.0)))
        if abs(g[free]).max(initial=0.0) <= MAX_GRADIENT:
            break
        d = np.zeros(len(x))
        d[free] = _compute_newton_step(g[free], H[np.ix_(free, free)])
        min_decrease = MIN_RELATIVE_DECREASE * max(abs(value), 1.0)
        trial = _search_along(function, x, value, g, d, lower, upper) if -0.5 * (g @ d) > min_decrease else None
        if trial is None:
            break
        decrease = value - trial[1]
        x, value, g, H = trial
        if decrease <= min_decrease:
            break
    return value, x


def _compute_newton_step(g: PerHyper, H: SquareMatrix) -> PerHyper:
    """Return -|H|⁻¹ g, or a shorter step in the same direction."""
    curvatures, vectors = np.linalg.eigh(H)
    sizes = abs(curvatures)
    floor = max(MIN_RELATIVE_CURVATURE * sizes.max(), np.finfo(float).tiny)
    d = -vectors @ ((vectors.T @ g) / np.maximum(sizes, floor))
    return np.asarray(d * min(1.0, MAX_CHANGE / abs(d).max()))


def _search_along(
    function: Function, x: PerHyper, value: float, g: PerHyper, d: PerHyper, lower: PerHyper, upper: PerHyper
) -> Place | None:
    """Return the first trial where the function is low enough, with its derivatives; None if there is none.

    After a trial in vain, the next one is at the minimum of the parabola through what is known.
    """
    length = 1.0
    for _ in range(MAX_TRIALS):
        x_new = _project(x + length * d, lower, upper)
        expected = float(g @ (x_new - x))
        if expected >= 0.0:  # the projection onto the bounds turned the step round
            length *= LENGTH_FACTORS[1]
            continue
        value_new, g_new, H_new = function(x_new)
        if value_new <= value + MIN_DECREASE_SHARE * expected:
            return x_new, value_new, g_new, H_new
        length *= float(np.clip(-0.5 * expected / (value_new - value - expected), *LENGTH_FACTORS))
    return None


def _project(x: PerHyper, lower: PerHyper, upper: PerHyper) -> PerHyper:
    """Return the nearest place within the bounds; variables next to a bound are put on it."""
    distance = MIN_RELATIVE_DISTANCE * (upper - lower)
    x = np.where(x - lower <= distance, lower, x)
    return np.where(upper - x <= distance, upper, x)
