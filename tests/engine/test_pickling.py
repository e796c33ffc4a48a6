"""Pickling without cached values."""

from __future__ import annotations

import pickle

import numpy as np

from tests.support.engine_loops import run_puma_loop
from tests.support.simulate_cases import PUMA, sample_starts
from ytheta.control.controller import Reference
from ytheta.simulation.closed_loop import ClosedLoop


def test_cached_values_are_not_pickled(loop: ClosedLoop) -> None:
    """The loop has been used, so that it has cached kernels, which cannot be pickled."""
    q, qd = sample_starts(PUMA, 11)
    _ = loop.kernel, loop.controller.graph, PUMA.numeric
    copy = pickle.loads(pickle.dumps(loop))
    assert set(vars(copy)) == {
        "plant", "controller", "period", "substeps", "continuous", "varied", "varied_gains", "sensors"
    }  # fmt: skip
    assert copy.plant == PUMA
    original, copied = run_puma_loop(loop, "local", []), run_puma_loop(copy, "local", [])
    np.testing.assert_array_equal(original.final_q, copied.final_q)
    law = loop.controller
    law.step(law.init(q[0], qd[0]), 0.0, q[0], qd[0], Reference(q[0], qd[0], qd[0]))
    assert pickle.loads(pickle.dumps(law)).unknown_names == law.unknown_names
