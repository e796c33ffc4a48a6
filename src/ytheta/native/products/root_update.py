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
    equations, noise, residual = (np.ascontiguousarray(array, dtype=float) for array in (equations, noise, residual))
    if root.shape != (n, n) or equations.shape != (m, n) or noise.shape != (m,) or residual.shape != (m,):
        raise InputError(
            f"a root of shape {root.shape} cannot be updated by equations of shape {equations.shape} with "
            f"{len(noise)} variances and {m} residuals"
        )
    if root.dtype != np.float64 or not (root.flags.c_contiguous and root.flags.aligned and root.flags.writeable):
        raise InputError("the root must be a writable array of doubles in C order, because it is updated in place")
    x, scratch = np.zeros(n), np.empty(n)
    load_products_code().update_root(
        root.ctypes.data,
        n,
        equations.ctypes.data,
        noise.ctypes.data,
        residual.ctypes.data,
        m,
        x.ctypes.data,
        scratch.ctypes.data,
    )
    return x
