"""Every closed loop checks its reference against the limits of the robot."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.simulate_cases import make_slotine_li, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.errors import InputError
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.references import ReferenceTrajectory
from ytheta.simulation.runs import Runs


def test_references_beyond_limits_are_rejected_in_every_loop() -> None:
    robot = ytheta.load("walker")
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    loop, plain = ClosedLoop(plant=robot, controller=law), PlainLoop(plant=OwnPlant.of(robot), controller=law)
    (q,), qd = swing(robot)(np.zeros(1))[0], np.zeros(3)

    def run_compiled(reference: ReferenceTrajectory) -> Runs:
        return loop.run(loop.init(q[None], qd[None]), reference, 1.0)

    def run_plain(reference: ReferenceTrajectory) -> Runs:
        return plain.run(q, qd, reference, 1.0)

    for run in (run_compiled, run_plain):
        with pytest.raises(
            InputError, match=r"position of 'q5' is 0\.92\d* at t = .* outside its limits 0\.62 … 0\.92"
        ):
            run(swing(robot, size=0.4))
        assert run(swing(robot, size=0.05)).finished.all()  # the twin
    ur10 = ytheta.load("ur10")
    ur10_loop = ClosedLoop(plant=ur10, controller=make_slotine_li(ur10, ("forearm_link.m",)))
    fast = np.full((101, 6), 50.0)
    with pytest.raises(
        InputError, match=r"velocity of 'shoulder_pan_joint' is 50 at t = 0 s, outside its limits -2\.16"
    ):
        ur10_loop.run(ur10_loop.init(np.zeros((1, 6)), np.zeros((1, 6))), lambda _: (0.0 * fast, fast, 0.0 * fast), 0.1)
