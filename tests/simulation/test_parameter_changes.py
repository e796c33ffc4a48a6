"""Parameters that change during a run: grasped loads, order of changes, invalid changes."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.simulate_cases import LEARN, PUMA, make_slotine_li, sample_starts, simulate_puma, swing
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.mujoco_plant import MujocoPlant
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.variation import ParameterChange, apply_changes, grasp, group_by_instant

PERIOD = 1e-3


def test_changes_are_grouped_by_instant() -> None:
    load = Inertia.point_mass(2.0, (0.0, 0.0, 0.5))
    names = ["link.m", *(f"load.{p}" for p in ("m", "mz", "mx", "my", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))]
    changes = group_by_instant(
        [ParameterChange(0.0105, {"link.m": 3.0}), grasp(load, 0.01, name="load").change], PERIOD, names, 100
    )
    assert sorted(changes) == [10, 11]
    theta = np.zeros((2, len(names)))
    apply_changes(theta, changes[10])
    np.testing.assert_array_equal(theta[:, :3], [[0.0, 2.0, 1.0]] * 2)
    apply_changes(theta, changes[11])
    np.testing.assert_array_equal(theta[:, 0], 3.0)


def test_changes_are_applied_in_order_of_time() -> None:
    changes = [ParameterChange(0.0108, {"load.m": 2.0}), ParameterChange(0.0102, {"load.m": 0.5})]
    law = make_slotine_li(PUMA, LEARN)
    q, qd, _ = swing(PUMA)(np.zeros(1))
    loop = ClosedLoop(plant=PUMA, controller=law, varied=("load.m",))
    fast = loop.run(loop.init(q, qd), swing(PUMA), 0.05, parameter_changes=changes, every=1)
    slow = PlainLoop(plant=OwnPlant.of(PUMA), controller=law).run(
        q[0], qd[0], swing(PUMA), 0.05, parameter_changes=changes, every=1
    )
    np.testing.assert_allclose(slow.q, fast.q, atol=1e-12)
    with pytest.raises(
        InputError, match=r"a parameter change is set for t = 0.05 s, but the simulation ends at 0.05 s"
    ):
        simulate_puma(seconds=0.05, parameter_changes=[ParameterChange(0.05, {"load.m": 7.0})])


def test_a_load_is_grasped() -> None:
    robot = ytheta.load("ur10").with_load(Inertia())
    varied = tuple(name for name in robot.parameter_names if name.startswith("load."))
    damping = 100.0 * ytheta.mass_matrix(robot).one(np.zeros(6)).diagonal()  # the wrist is light
    controller = SlotineLi(robot, convergence=8.0, damping=damping, adaptation=0.5, learn=("load.m",))
    loop = ClosedLoop(plant=robot, controller=controller, varied=varied)
    q, qd = sample_starts(robot, 2, spread=0.0)
    reference = swing(robot, size=0.2)
    load = Inertia.point_mass(3.0, (0.0, 0.0, 0.1))
    grasped = loop.run(
        loop.init(q, qd), reference, 0.4, parameter_changes=[grasp(load, 0.1, name="load").change], every=1
    )
    empty = loop.run(loop.init(q, qd), reference, 0.4, every=1)
    assert grasped.finished.all()
    difference = np.abs(grasped.q - empty.q).max(axis=(0, 2))
    assert (difference[:101] == 0.0).all()  # the change acts after the state at 0.1 s
    assert difference[102] > 0.0
    assert grasped.final_estimate[0, 0] > empty.final_estimate[0, 0] + 0.1
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=controller)
    slow = plain.run(q[0], qd[0], reference, 0.4, parameter_changes=[grasp(load, 0.1, name="load").change], every=1)
    np.testing.assert_allclose(grasped.q[0], slow.q[0], rtol=0.0, atol=1e-9)
    mujoco_loop = PlainLoop(plant=MujocoPlant(robot), controller=controller)
    mujoco = mujoco_loop.run(
        q[0], qd[0], reference, 0.15, parameter_changes=[grasp(load, 0.1, name="load").change], every=1
    )
    np.testing.assert_allclose(grasped.q[0, :150], mujoco.q[0], rtol=0.0, atol=1e-8)
    not_varied = ClosedLoop(plant=robot, controller=controller)
    with pytest.raises(InputError, match=r"'load.m' changes at .* add it to"):
        not_varied.run(
            not_varied.init(q, qd), reference, 0.2, parameter_changes=[ParameterChange(0.1, {"load.m": 1.0})]
        )


def test_invalid_changes_are_rejected() -> None:
    with pytest.raises(InputError, match="give a number of seconds, 0 or later"):
        ParameterChange(-1.0, {})
    with pytest.raises(InputError, match=r"'link.m' is nan"):
        ParameterChange(1.0, {"link.m": float("nan")})
    with pytest.raises(InputError, match="add it to ``varied``"):
        group_by_instant([ParameterChange(1.0, {"link.m": 1.0})], PERIOD, ["other.m"], 2000)
