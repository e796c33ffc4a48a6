"""``create_controller``: gains, unknown parameters, torque limits and adaptation laws from a name or settings."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from ytheta import control
from ytheta.control.settings import ADAPTATIONS, CONTROLLERS
from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.parameters import with_parameters
from ytheta.robot.robot import Robot
from ytheta.simulation.references import default_reference

MAX_REPR = 150  # characters


def sample(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return default_reference(robot, 5.0)(np.linspace(0.0, 5.0, 200))


def create(controller: Any, robot: Robot, **settings: Any) -> Any:
    return control.create_controller(controller, robot, motion=sample(robot), **settings)


def test_a_name_gives_the_suggested_gains_and_the_torque_limits() -> None:
    robot = yt.load("ur10")
    base = yt.base_parameters(robot)
    law = create("slotine-li", robot)
    suggested = control.suggest_gains("slotine-li", robot, base, motion=sample(robot))
    np.testing.assert_array_equal(law.damping, suggested["damping"])
    np.testing.assert_array_equal(law.adaptation.gain, suggested["adaptation"])
    assert law.unknown_names == base.independent
    np.testing.assert_array_equal(law.torque_limits, [limit.effort for limit in robot.actuated_limits])
    slow = create("slotine-li", robot, rate=100.0)
    assert slow.convergence < law.convergence
    unlimited = create(control.ControllerSettings(torque_limits=False), robot)
    assert unlimited.torque_limits is None


def test_settings_replace_what_would_be_chosen() -> None:
    robot = yt.load("lu-puma4")
    settings = control.ControllerSettings(
        gains={"damping": 7.0, "adaptation": 0.2}, learn=["link3.m"], friction=["viscous"], leakage=0.1, dead_zone=0.02
    )
    law = create(settings, robot)
    assert law.damping == 7.0
    assert law.unknown_names == ("link3.m", *(f"{name}.fv" for name in robot.moving))
    assert isinstance(law.adaptation, control.DeadZone)
    assert isinstance(law.adaptation.inner, control.Leakage)
    assert law.adaptation.inner.inner.gain == 0.2  # type: ignore[attr-defined]
    natural = create(control.ControllerSettings(adaptation="natural", gains={"adaptation": 3}), robot)
    assert natural.adaptation.gain == 3
    assert len(natural.unknown_names) % 10 == 0


def test_walker_learns_links_and_viscous_friction() -> None:
    robot = yt.load("five-bar")
    names = create("walker", robot).unknown_names
    assert {name.rpartition(".")[2] for name in names} >= {"m", "Izz", "fv"}
    assert not any(name.endswith((".fc", ".fo", ".Ia")) for name in names)
    coulomb = create(control.ControllerSettings("walker", friction=("coulomb",)), robot).unknown_names
    assert any(name.endswith(".fc") for name in coulomb)
    assert not any(name.endswith(".fv") for name in coulomb)


def test_feedback_of_walker_by_name() -> None:
    """Suggested gains, gains of one's own, and the names of the gains."""
    robot = yt.load("five-bar")
    assert isinstance(create("walker", robot).feedback, float)
    pd = create(control.ControllerSettings("walker", feedback="pd"), robot).feedback
    assert isinstance(pd, control.PDFeedback)
    text = str(create(control.ControllerSettings("walker", feedback="pd"), robot))
    assert f"feedback         {pd!r}" in text
    settings = control.ControllerSettings("walker", feedback="pid", gains={"stiffness": 50.0, "damping": 2.0})
    pid = create(settings, robot).feedback
    assert isinstance(pid, control.PIDFeedback)
    assert (pid.stiffness, pid.damping) == (50.0, 2.0)
    assert np.shape(pid.integral) == (2,)
    with pytest.raises(UnknownNameError, match="walker has no gain 'feedback'"):
        create(control.ControllerSettings("walker", feedback="pd", gains={"feedback": 2.0}), robot)
    with pytest.raises(UnknownNameError, match="walker has no gain 'damping'"):
        create(control.ControllerSettings("walker", gains={"damping": 2.0}), robot)
    with pytest.raises(InputError, match="a stiffness of at least convergence"):
        create(control.ControllerSettings("walker", feedback="pd", gains={"stiffness": 1e-3}), robot)


def test_only_a_law_without_adaptation_uses_the_model() -> None:
    robot = yt.load("lu-two-link")
    heavier = with_parameters(robot, {"link1.m": 9.0})
    assert create("computed-torque", robot, model=heavier).robot is heavier
    assert create("slotine-li", robot, model=heavier).robot is robot


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": "slotin"}, "did you mean 'slotine-li'"),
        ({"gains": {"dampin": 1.0}}, "slotine-li has no gain 'dampin'; did you mean 'damping'"),
        ({"friction": ["viscos"]}, "no friction 'viscos'; did you mean 'viscous'"),
        ({"adaptation": "nature"}, "did you mean 'natural'"),
        ({"name": "walker", "feedback": "pdi"}, "there is no feedback 'pdi'; did you mean 'pd'"),
        ({"feedback": "pd"}, "feedback is a setting of walker, and the controller is slotine-li"),
        ({"adaptation": "natural", "gains": {"adaptation": [1.0, 2.0]}}, "one number for all parameters"),
        ({"name": "pd-gravity", "learn": ["*.m"]}, "learn is for adaptive controllers"),
        ({"name": "pd-gravity", "dead_zone": 0.1}, "dead_zone is for adaptive controllers"),
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        create(control.ControllerSettings(**settings), yt.load("lu-two-link"))


def test_settings_refuse_unknown_names_when_they_are_created() -> None:
    with pytest.raises(UnknownNameError, match="there is no feedback 'foo'; choose from: inertial, pd, pid"):
        control.ControllerSettings("walker", feedback="foo")
    with pytest.raises(UnknownNameError, match="there is no adaptation 'foo'; choose from: composite, gradient"):
        control.ControllerSettings(adaptation="foo")


def test_a_string_is_not_a_list_of_names() -> None:
    with pytest.raises(InputError, match=r"learn is a list of names, such as \('link3.m',\)"):
        control.ControllerSettings(learn="link3.m")
    with pytest.raises(UnknownNameError, match="no controller 'pid'"):
        create("pid", yt.load("lu-two-link"))


@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize("robot", ["panda", "walker"])
def test_the_repr_of_a_controller_is_one_short_line(name: str, robot: str) -> None:
    law = create(name, yt.load(robot))
    assert repr(law).startswith(f"{type(law).__name__}({robot}, ")
    assert len(repr(law)) <= MAX_REPR
    assert "\n" not in repr(law)


@pytest.mark.parametrize("name", ADAPTATIONS)
def test_the_repr_of_an_adaptation_law_is_one_short_line(name: str) -> None:
    settings = control.ControllerSettings(adaptation=name, leakage=0.1, dead_zone=0.01)
    law = create(settings, yt.load("ur10")).adaptation
    assert repr(law).startswith("DeadZone(inner=Leakage(inner=")
    assert len(repr(law)) <= MAX_REPR


def test_every_attribute_of_controllers_and_adaptation_laws_is_documented() -> None:
    documented = 0
    for name in dir(control):
        kind = getattr(control, name)
        if isinstance(kind, type) and is_dataclass(kind):
            words = (kind.__doc__ or "").replace(",", " ").replace("`", " ").split()
            assert [field.name for field in fields(kind) if field.name not in words] == [], name
            documented += len(fields(kind))
    assert documented > 40


def test_the_package_lists_its_names_without_importing_them() -> None:
    listed = dir(control)
    assert {"SlotineLi", "Natural", "ControllerSettings", "create_controller", "suggest_gains"} <= set(listed)
    code = (
        "import sys; import ytheta.control.settings, ytheta.control.settings; dir(ytheta.control); "
        "print('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_torque_limits_may_be_given_as_numbers() -> None:
    robot = yt.load("ur10")
    motion = yt.default_reference(robot, 1.0)(np.linspace(0.0, 1.0, 50))

    def find_limits(limits: Any) -> list[float] | None:
        settings = control.ControllerSettings("computed-torque", torque_limits=limits)
        law = control.create_controller(settings, robot, motion=motion)
        return None if law.max_torque is None else law.max_torque.tolist()

    assert find_limits(5.0) == [5.0] * 6
    assert find_limits([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert find_limits(True) == [limits.effort for limits in robot.actuated_limits]
    assert find_limits(False) is None
