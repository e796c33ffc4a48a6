"""The logarithm of the distribution function of the standard normal, also where the function itself underflows.

Identity      log Φ(x) = log(½ erfc(-x / √2))
                       = -½ x² - log(-x √(2π)) + log(1 - x⁻² + 3 x⁻⁴ - 15 x⁻⁶ + 105 x⁻⁸ - …)    for x far below zero
Reference     M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions" (1964), (26.2.12)
Differs from  ``scipy.special.log_ndtr`` in: it is for a few numbers, which would not be worth the import of SciPy
"""

from __future__ import annotations

import math

MAX_SERIES_ARGUMENT = -30.0  # below it, the terms of the series that are left out are smaller than 1e-12


def compute_log_normal_cdf(x: float) -> float:
    """Return log Φ(x)."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    if x > MAX_SERIES_ARGUMENT:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    y = x**-2.0
    series = math.log1p(y * (-1.0 + y * (3.0 + y * (-15.0 + y * 105.0))))
    return -0.5 * x * x - math.log(-x * math.sqrt(2.0 * math.pi)) + series
