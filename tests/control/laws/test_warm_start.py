"""Loops are closed from the coordinates of the previous step: the same torques, and a fallback to home."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.control_samples import home_position
from ytheta.control.controller import Reference
from ytheta.control.laws.law import WarmStartKernel
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics.constraint import build_constraint
from ytheta.errors import ClosureError, InputError


@pytest.mark.parametrize("name", ["five-bar", "walker", "palletiser"])
def test_a_warm_start_gives_the_same_torque(name: str) -> None:
    """The torque is the same as if the loops were closed from home; if the warm start is far off, home is used."""
    robot = ytheta.load(name)
    rng, start = np.random.default_rng(0), home_position(robot)
    n = len(start)
    law = SlotineLi(robot, convergence=5.0, damping=10.0, adaptation=0.1, learn=("*.m",))
    at_rest, state = Reference(start, np.zeros(n), np.zeros(n)), law.init(start, np.zeros(n))
    for k in range(40):
        q, qd = start + 0.05 * np.sin(0.1 * k * np.arange(1, n + 1)), rng.normal(size=n)
        tau, after = law.step(state, 1e-3 * k, q, qd, at_rest)
        from_home, _ = law.step(replace(state, warm_start=None), 1e-3 * k, q, qd, at_rest)
        np.testing.assert_allclose(tau, from_home, rtol=1e-9, atol=1e-9 * abs(from_home).max())
        state = after
    assert state.warm_start is not None
    kernel = WarmStartKernel(build_constraint(robot), law.graph)._kernel
    far_off = state.warm_start.copy()
    far_off[[k for k in range(len(far_off)) if k not in build_constraint(robot).actuated]] += 2.0
    inputs = (qd, at_rest.q, at_rest.qd, at_rest.qdd, state.x)
    starts = (state.warm_start, far_off)
    tau, recovered = (law.step(replace(state, warm_start=start), 1.0, q, qd, at_rest)[0] for start in starts)
    np.testing.assert_allclose(recovered, tau, rtol=1e-9, atol=1e-9 * abs(tau).max())
    if build_constraint(robot).affine is None:
        assert not kernel.one(q, far_off, *inputs)[-1] <= 1.0  # the twin: the warm start alone is rejected


def test_a_step_raises_if_the_loops_cannot_close() -> None:
    robot = ytheta.load("five-bar")
    law = SlotineLi(robot, convergence=5.0, damping=10.0, adaptation=0.1, learn=())
    q, zeros = home_position(robot), np.zeros(2)
    _, state = law.step(law.init(q, zeros), 0.0, q, zeros, Reference(q, zeros, zeros))
    apart = q + np.array([-1.6, 1.6])
    with pytest.raises(ClosureError):
        law.step(state, 0.1, apart, zeros, Reference(q, zeros, zeros))
    with pytest.raises(InputError, match="input 'q' is nan"):
        law.step(state, 0.1, np.full(2, np.nan), zeros, Reference(q, zeros, zeros))
    with pytest.raises(InputError, match="input 'q' is nan"):
        law.step(replace(state, warm_start=None), 0.1, np.full(2, np.nan), zeros, Reference(q, zeros, zeros))
