"""Runs that diverge stop with finite states, are reported, and do not affect other runs."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.simulate_cases import LEARN, PUMA, make_slotine_li, sample_starts, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.mujoco_plant import MujocoPlant
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop


def test_a_diverged_run_is_reported_and_does_not_affect_others() -> None:
    controller = SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=2.0, learn=LEARN)
    q, qd = sample_starts(PUMA, 6, spread=0.0)
    qd[3] = 400.0  # rad/s, too fast for steps of 1 ms
    loop = ClosedLoop(plant=PUMA, controller=controller, period=1e-3)
    runs = loop.run(loop.init(q, qd), swing(PUMA), 1.0)
    assert [bool(x) for x in runs.finished] == [True, True, True, False, True, True]
    assert "run 3 diverged at t = " in runs.advice
    assert "smaller gains or a higher rate" in runs.advice
    assert 0.0 < runs.diverged_at[3] <= 1.0
    for array in ("q", "qd", "tau", "controller_state", "rms", "final_q", "final_controller_state"):
        assert np.isfinite(getattr(runs, array)).all(), array
    alone = loop.run(loop.init(q[:1], qd[:1]), swing(PUMA), 1.0)
    np.testing.assert_array_equal(alone.final_q[0], runs.final_q[0])  # other runs are not affected
    with pytest.raises(InputError, match="run 3 diverged"):
        runs.log(3)
    coarse = ClosedLoop(plant=PUMA, controller=controller, period=0.2)
    all_diverged = coarse.run(coarse.init(q, qd), swing(PUMA), 60.0, every=1)
    assert "6 of 6 runs diverged" in all_diverged.advice
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=controller, period=0.2)
    plain_run = plain.run(q[0], qd[0], swing(PUMA), 60.0)
    assert plain_run.diverged_at[0] == pytest.approx(all_diverged.diverged_at[0])


def test_a_run_without_a_torque_diverges_alone() -> None:
    """Craig's law has no torque if the estimated mass matrix is not positive definite."""
    law = Craig(PUMA, stiffness=100.0, damping=20.0, filtering=1.0, adaptation=1.0, learn=("load.m",))
    q, qd = sample_starts(PUMA, 3)
    loop = ClosedLoop(plant=PUMA, controller=law)
    runs = loop.run(loop.init(q, qd, estimate=np.array([[0.5], [-50.0], [0.5]])), swing(PUMA), 0.05)
    assert runs.advice.startswith("run 1 diverged at t = 0.001 s: craig: at t = 0 the estimated mass matrix is not")
    np.testing.assert_array_equal(runs.final_q[1], q[1])
    assert runs.finished.sum() == 2


@pytest.mark.parametrize("period", [0.05, 1.0])
def test_a_period_that_is_too_long_diverges_in_every_loop(period: float) -> None:
    """No closed loop returns NaN, with held or continuous torques, on any plant."""
    q, qd = sample_starts(PUMA, 1)
    walker = ytheta.load("walker")
    law = make_slotine_li(PUMA, LEARN)
    walker_law = ComputedTorque(walker, stiffness=100.0, damping=20.0)
    small = swing(walker, size=0.05)
    results = []
    for continuous in (False, True):
        loop = ClosedLoop(plant=PUMA, controller=law, period=period, continuous=continuous)
        results.append(loop.run(loop.init(q, qd), swing(PUMA), 20.0, every=1))
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=law, period=period)
    results.append(plain.run(q[0], qd[0], swing(PUMA), 20.0, every=1))
    mujoco_loop = PlainLoop(plant=MujocoPlant(walker), controller=walker_law, period=period)
    results.append(mujoco_loop.run(small(np.zeros(1))[0][0], np.zeros(3), small, 20.0, every=1))
    for result in results:
        assert not result.finished.any()
        assert "diverged at t = " in result.advice
        assert "smaller gains or a higher rate" in result.advice
        for array in ("q", "qd", "tau", "controller_state", "rms", "final_q", "final_qd", "final_controller_state"):
            assert np.isfinite(getattr(result, array)).all(), array
