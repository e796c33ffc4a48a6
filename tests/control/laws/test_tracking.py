"""Unknown parameters: the tracking error vanishes, and without adaptation it does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import run, sines
from tests.support.lyapunov import arm, never_grows, truth
from tests.support.ur10_tracking import UR10_REFERENCE, ur10, ur10_damping
from ytheta.control.gains import Gain
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.robot import Robot


def laws_for(robot: Robot, learn: Sequence[str], lam: float, damping: Gain, gains: Sequence[float]) -> list[Law]:
    one, two, three, four = gains
    return [
        SlotineLi(robot, convergence=lam, damping=damping, adaptation=one, learn=learn),
        ModifiedSlotineLi(robot, convergence=lam, damping=damping, adaptation=two, learn=learn),
        QuasiComputedTorque(robot, convergence=lam, adaptation=three, learn=learn),
        Craig(robot, stiffness=lam**2, damping=2 * lam, filtering=lam, adaptation=four, learn=learn),
    ]


@pytest.mark.parametrize("place", range(4))
def test_unknown_masses_are_tracked_and_found_on_the_two_link_arm(place: int) -> None:
    """The error vanishes, and without adaptation it does not."""
    robot, learn, start = arm(), ("link2.m", "load.m"), [1.0, 0.5]
    course = sines([0.6, 0.8], [4.0, 6.0], [0.3, -0.4])
    laws, frozen = (laws_for(robot, learn, 10.0, 20.0, g) for g in ((5.0, 5.0, 1.0, 0.1), (1e-9,) * 4))
    done, stays = (run(law[place], course, plant=robot, seconds=6.0, estimate=start) for law in (laws, frozen))
    assert abs(done.error[-40:]).max() < 2e-3
    assert abs(stays.error[-40:]).max() > 5e-2
    np.testing.assert_allclose(done.x[-1], truth(done.law), rtol=0.01)


@pytest.mark.parametrize("place", range(4))
def test_unknown_masses_are_tracked_on_the_ur10(place: int) -> None:
    """The masses of the wrist from 60 % of what they are; V falls on the way."""
    robot = ur10()
    learn = tuple(name for name in robot.parameter_names if name.endswith(".m"))[3:]
    laws, frozen = (laws_for(robot, learn, 8.0, ur10_damping(), g) for g in ((5.0, 5.0, 3.0, 0.5), (1e-9,) * 4))
    done, stays = (
        run(law, UR10_REFERENCE, plant=robot, seconds=4.0, estimate=0.6 * truth(law), offset=0.05, rtol=1e-7)
        for law in (laws[place], frozen[place])
    )
    assert never_grows(done, allowed=1e-7)
    assert abs(done.error[-30:]).max() < 0.05 * abs(stays.error[-30:]).max()


def test_all_base_parameters_of_the_ur10_at_once() -> None:
    """36 unknown that begin at zero: V falls and the error is a small part of what it is without adaptation."""
    robot = ur10()
    base = base_parameters(robot)
    late = []
    for adaptation in (5.0, 1e-9):
        law = SlotineLi(robot, base, convergence=8.0, damping=ur10_damping(), adaptation=adaptation)
        done = run(law, UR10_REFERENCE, plant=robot, seconds=4.0, estimate=np.zeros(36), offset=0.0, rtol=1e-7)
        assert never_grows(done, allowed=1e-7)
        late.append(abs(done.error[-30:]).max())
    assert late[0] < 0.1 * late[1]


def test_a_closed_loop_of_links_is_tracked_with_unknown_masses() -> None:
    """The five-bar, through the graph of all coordinates: V never_grows, the error vanishes."""
    robot = ytheta.load("five-bar")
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    learn = tuple(name for name in robot.parameter_names if name.endswith(".m"))
    law = SlotineLi(robot, convergence=8.0, damping=2.0, adaptation=2.0, learn=learn)
    course = sines(0.2, [3.0, 4.0], [home[name] for name in robot.actuated])
    done = run(law, course, plant=robot, seconds=2.0, estimate=0.5 * truth(law), offset=0.05, points=101, rtol=1e-6)
    assert never_grows(done, allowed=1e-5)
    assert abs(done.error[-10:]).max() < 0.1 * abs(done.error).max()
