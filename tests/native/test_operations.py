"""Operation counts."""

from __future__ import annotations

import casadi
import numpy as np

from ytheta.native import count_operations
from ytheta.native.graph import Input, trace


def test_operations_are_counted_as_the_papers_do() -> None:
    x = casadi.SX.sym("x", 3)
    entries = [x[0] * x[1] + x[2], x[0] ** 2, -x[1], x[1] + x[1], 1 / x[2], casadi.sin(x[0]) - casadi.sqrt(x[1])]
    counts = count_operations(trace("count", [(Input("x", 3), x)], np.array(entries, dtype=object)))
    assert (counts.multiplications, counts.additions, counts.divisions) == (2, 3, 1)
    assert (counts.negations, counts.trigonometric, counts.other, counts.total) == (1, 1, 1, 9)
