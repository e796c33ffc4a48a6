"""The minimum of a smooth function of a few bounded variables, by a quasi-Newton method.

Method        x+ = P(x + a d),   B_ff d_f = -g_f,   with P the projection onto the bounds
Reference     D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM
              Journal on Control and Optimization 20 (1982) 221-246: steps and free variables; BFGS update of B
Notation      code      meaning
              g         gradient
              B         approximation of the second derivatives
              free, f   variables that are not at a bound beyond which the function falls
Differs from  SciPy's L-BFGS-B in: B is stored, since there are few variables; its import would take longer than the
              search, and 40 MB of memory
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ytheta.shapes import PerHyper

MAX_STEPS = 200
MAX_TRIALS = 30  # of lengths along one direction
LENGTH_FACTORS = (0.1, 0.5)  # by which the length of a step is reduced
MAX_GRADIENT = 1e-4  # of free variables at the minimum
MIN_RELATIVE_DECREASE = 1e-13  # of the function in a step, expected or real; less is lost to rounding
MIN_DECREASE_SHARE = 1e-4  # decrease of the function divided by that of its linear approximation
MIN_COSINE = 1e-8  # between step and change of the gradient, else B would become singular


def minimize_within_bounds(
    function: Callable[[PerHyper], tuple[float, PerHyper]], start: PerHyper, lower: PerHyper, upper: PerHyper
) -> tuple[float, PerHyper]:
    """Return the value and the place of a local minimum; ``function`` returns value and gradient."""
    x = np.clip(start, lower, upper)
    value, g = function(x)
    B = np.linalg.norm(g) * np.eye(len(x))  # the first step has length 1
    for step in range(MAX_STEPS):
        free = ~(((x <= lower) & (g > 0.0)) | ((x >= upper) & (g < 0.0)))
        if abs(g[free]).max(initial=0.0) <= MAX_GRADIENT:
            break
        d = np.zeros(len(x))
        d[free] = -np.linalg.solve(B[np.ix_(free, free)], g[free])
        min_decrease = MIN_RELATIVE_DECREASE * max(abs(value), 1.0)
        trial = _search_along(function, x, value, g, d, lower, upper) if -0.5 * (g @ d) > min_decrease else None
        if trial is None:
            break
        decrease, s, y = value - trial[1], trial[0] - x, trial[2] - g
        x, value, g = trial
        if decrease <= min_decrease:
            break
        if s @ y > MIN_COSINE * np.linalg.norm(s) * np.linalg.norm(y):
            if step == 0:
                B = (y @ y) / (s @ y) * np.eye(len(x))
            Bs = B @ s
            B += np.outer(y, y) / (s @ y) - np.outer(Bs, Bs) / (s @ Bs)
    return value, x


def _search_along(
    function: Callable[[PerHyper], tuple[float, PerHyper]],
    x: PerHyper,
    value: float,
    g: PerHyper,
    d: PerHyper,
    lower: PerHyper,
    upper: PerHyper,
) -> tuple[PerHyper, float, PerHyper] | None:
    """Return place, value and gradient at the first trial where the function is low enough; None if there is none.

    After a trial in vain, the next one is at the minimum of the parabola through what is known.
    """
    length = 1.0
    for _ in range(MAX_TRIALS):
        x_new = np.clip(x + length * d, lower, upper)
        value_new, g_new = function(x_new)
        expected = float(g @ (x_new - x))
        if value_new <= value + MIN_DECREASE_SHARE * expected:
            return x_new, value_new, g_new
        length *= float(np.clip(-0.5 * expected / (value_new - value - expected), *LENGTH_FACTORS))
    return None
