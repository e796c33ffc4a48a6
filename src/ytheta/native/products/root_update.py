"""The update of a root of a covariance by scalar equations, one after the other; see ``root_assembly``."""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.native.products.code import load_products_code
from ytheta.shapes import PerUnknown


def update_root(root: np.ndarray, equations: np.ndarray, noise: np.ndarray, residual: np.ndarray) -> PerUnknown:
    """Update ``root`` in place, and return the change of the estimate.

    The equations are ``residual`` = ``equations`` x + noise, where x has the covariance ``root`` ``root``ᵀ, and
    ``noise`` contains variances.
    """
    n, m = len(root), len(residual)
    if root.shape != (n, n) or equations.shape != (m, n) or noise.shape != (m,) or residual.shape != (m,):
        raise InputError(
            f"a root of shape {root.shape} cannot be updated by equations of shape {equations.shape} with "
            f"{len(noise)} variances and {m} residuals"
        )
    flags = root.flags
    if root.dtype != np.float64 or not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise InputError("the root must be a writable array of doubles in C order, because it is updated in place")
    # All other arrays are parts of one: NumPy takes longer to tell an address than the code to use the array.
    ends = (m * n, m * n + m, m * n + 2 * m, m * n + 2 * m + n)
    work = np.zeros(ends[-1] + n)
    work[: ends[0]].reshape(m, n)[:] = equations
    work[ends[0] : ends[1]] = noise
    work[ends[1] : ends[2]] = residual
    start = work.ctypes.data
    first, second, third, fourth = (start + 8 * end for end in ends)
    load_products_code().update_root(root.ctypes.data, n, start, first, second, m, third, fourth)
    return work[ends[2] : ends[3]]
