"""The number of substeps: its formula, and stiff robots that need several substeps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.damped_robots import MASS, POSE, SECONDS, damped_five_bar, one_joint, track, vendor_robot
from tests.support.simulate_cases import PUMA, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.errors import InputError
from ytheta.robot.parts import Drive, Link
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.references import default_reference
from ytheta.simulation.substeps import MAX_SUBSTEPS, choose_substeps, with_smooth_friction
from ytheta.simulation.variation import ParameterChange, Variation


@pytest.mark.parametrize(("viscous", "period"), [(1.0, 1e-3), (50.0, 1e-3), (130.0, 1e-3), (60.0, 4e-3)])
def test_substeps_follow_the_formula_for_one_joint(viscous: float, period: float) -> None:
    expected = max(1, math.ceil(period * viscous / MASS))
    assert choose_substeps(one_joint(viscous=viscous), POSE, period) == expected
    with_rotor = one_joint(viscous=viscous, rotor_inertia=MASS / 4.0, gear_ratio=2.0)
    assert choose_substeps(with_rotor, POSE, period) == max(1, math.ceil(period * viscous / (2.0 * MASS)))
    thrice = max(1, math.ceil(3.0 * period * viscous / MASS))
    assert choose_substeps(one_joint(viscous=viscous), POSE, period, margin=3.0) == thrice


def test_coulomb_friction_counts_with_its_slope_at_rest() -> None:
    smooth = one_joint(coulomb=2.0, coulomb_speed=0.05, viscous=10.0)
    assert choose_substeps(smooth, POSE, 1e-3) == math.ceil(1e-3 * (10.0 + 2.0 / 0.05) / MASS - 1e-9)
    assert choose_substeps(smooth, POSE, 1e-3, coulomb=False) == 1
    assert choose_substeps(one_joint(coulomb=2.0), POSE, 1e-3) == 1  # a step has no slope
    steep = one_joint(coulomb=2.0, coulomb_speed=1e-4)
    assert choose_substeps(steep, POSE, 1e-3) == MAX_SUBSTEPS  # limited, not rejected


def test_robots_that_are_too_stiff_are_rejected_with_a_remedy() -> None:
    with pytest.raises(
        InputError, match=r"rate of 1\.5e\+05/s, which needs 150 integration steps .*; choose a higher rate"
    ):
        choose_substeps(one_joint(viscous=3000.0), POSE, 1e-3)
    assert choose_substeps(one_joint(viscous=3000.0), POSE, 1e-4) == 15
    massless = replace(one_joint(viscous=1.0), links=(Link("base"), Link("arm")))
    with pytest.raises(InputError, match="moves no mass"):
        choose_substeps(massless, POSE, 1e-3)
    with pytest.raises(InputError, match="control period is nan"):
        choose_substeps(one_joint(), POSE, math.nan)


def test_friction_of_all_drives_agrees_with_inverse_dynamics() -> None:
    """The part of tau that is odd in qd is F qd, also with loops."""
    robot = damped_five_bar(100.0)
    q = default_reference(robot, SECONDS)(np.linspace(0.0, SECONDS, 20))[0]
    tau, rest = yt.inverse_dynamics(robot), np.zeros_like(q)
    columns = [0.5 * (tau(q, rest + e, rest) - tau(q, rest - e, rest)) for e in np.eye(q.shape[1])]
    rates = np.linalg.eigvals(np.linalg.solve(yt.mass_matrix(robot)(q), np.stack(columns, axis=2))).real
    assert choose_substeps(robot, q, 1e-3) == math.ceil(1e-3 * rates.max())


@pytest.mark.parametrize(("name", "steps"), [("xarm7.urdf", 15), ("z1.urdf", 4)])
def test_strongly_damped_vendor_arms_track(name: str, steps: int) -> None:
    robot = vendor_robot(name)
    reference = default_reference(robot, SECONDS)
    poses = reference(np.linspace(0.0, SECONDS, 300))[0]
    assert abs(choose_substeps(robot, poses, 1e-3) - steps) <= 3
    if name == "z1.urdf":
        assert track(robot).finished.all()
        assert not track(robot, substeps=1).finished.all()  # the twin: gains are not the cause
    smooth = with_smooth_friction(robot)
    simulation = track(smooth)
    assert simulation.finished.all()
    assert simulation.tracking_rms[0] < 0.02
    assert simulation.findings == ()


def test_without_friction_a_period_is_one_step() -> None:
    law = ComputedTorque(PUMA, stiffness=200.0, damping=30.0)
    settings: dict[str, Any] = {
        "seconds": 0.3,
        "reference": swing(PUMA),
        "runs": 3,
        "variation": Variation(start_offset=0.02),
    }
    automatic, one, two = (yt.simulate(PUMA, law, **settings, substeps=n) for n in (None, 1, 2))
    np.testing.assert_array_equal(automatic.runs.q, one.runs.q)
    assert np.abs(automatic.runs.q - two.runs.q).max() > 0.0  # the twin


def test_variation_and_parameter_changes_are_allowed_for() -> None:
    """Runs diverge with the substeps that suffice for the robot as described."""
    damped = one_joint(viscous=19.0)
    law = ComputedTorque(one_joint(), stiffness=200.0, damping=30.0)  # its model has no friction
    assert choose_substeps(damped, POSE, 1e-3) == 1
    settings: dict[str, Any] = {"seconds": 0.5, "reference": swing(damped)}
    varied: dict[str, Any] = settings | {"runs": 50, "variation": Variation(spread=50.0)}
    assert yt.simulate(damped, law, **varied).finished.all()
    assert not yt.simulate(damped, law, **varied, substeps=1).finished.all()
    changing: dict[str, Any] = settings | {"parameter_changes": [ParameterChange(0.2, {"q1.fv": 100.0})]}
    assert yt.simulate(damped, law, **changing).finished.all()
    assert not yt.simulate(damped, law, **changing, substeps=1).finished.all()


def test_a_stiff_robot_with_a_loop_tracks() -> None:
    robot = damped_five_bar(100.0)
    simulation, single = track(robot), track(robot, substeps=1)
    assert simulation.finished.all()
    assert simulation.tracking_rms[0] < 0.02
    assert not single.finished.all()
    finer = track(robot, substeps=MAX_SUBSTEPS)
    np.testing.assert_allclose(simulation.runs.q, finer.runs.q, rtol=0.0, atol=1e-4)  # shorter steps change nothing
    poses = default_reference(robot, SECONDS)(np.linspace(0.0, SECONDS, 50))[0]
    without_cut_friction = replace(robot, loops=yt.load("five-bar").loops)
    assert choose_substeps(without_cut_friction, poses, 1e-3) < choose_substeps(robot, poses, 1e-3)


def test_mujoco_needs_substeps_too() -> None:
    pytest.importorskip("mujoco")
    stiff = track(one_joint(viscous=100.0), plant="mujoco")
    assert stiff.finished.all()
    assert not track(one_joint(viscous=100.0), plant="mujoco", substeps=1).finished.all()
    loop = track(yt.load("five-bar"), plant="mujoco", rate=250.0)  # closed by springs with a time constant of 1 ms
    assert loop.finished.all()
    assert not track(yt.load("five-bar"), plant="mujoco", rate=250.0, substeps=1).finished.all()


@pytest.mark.parametrize("substeps", [2, 3, 7])
def test_compiled_and_plain_substeps_agree(substeps: int) -> None:
    """They also agree for a run that diverges within a period."""
    robot = replace(PUMA, joints=tuple(replace(joint, drive=Drive(viscous=2.0)) for joint in PUMA.joints))
    q, qd, _ = swing(robot)(np.zeros(1))
    for damping, finishes in ((30.0, True), (9e3, False)):
        law = ComputedTorque(robot, stiffness=200.0, damping=damping)
        settings: dict[str, Any] = {"controller": law, "substeps": substeps}
        loop = ClosedLoop(plant=robot, **settings)
        fast = loop.run(loop.init(q + 0.1, qd), swing(robot), 0.2)
        slow = PlainLoop(plant=OwnPlant.of(robot), **settings).run(q[0] + 0.1, qd[0], swing(robot), 0.2)
        assert fast.finished.all() == slow.finished.all() == finishes
        if finishes:
            np.testing.assert_allclose(fast.final_q, slow.final_q, rtol=0.0, atol=1e-9)
        else:
            assert fast.diverged_at[0] == slow.diverged_at[0]
            states = fast.final_controller_state, fast.final_q, fast.rms
            assert all(np.isfinite(values).all() for values in states)
