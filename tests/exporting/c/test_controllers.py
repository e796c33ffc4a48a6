"""Steps of controllers in C against ``Law.step`` in Python, for every control law and several adaptation laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.c_code import Library, load_library
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.adaptation.reset import Reset
from ytheta.control.controller import Reference
from ytheta.control.laws.law import Law
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.settings import CONTROLLERS
from ytheta.errors import InputError
from ytheta.exporting.c.controllers import ControllerCode, make_controllers
from ytheta.exporting.c.definitions import DOUBLE, Style
from ytheta.robot.robot import Robot

DT = 0.001  # s


@pytest.fixture(scope="module")
def robot() -> Robot:
    return yt.load("lu-two-link")


@pytest.fixture(scope="module")
def controllers(robot: Robot) -> tuple[ControllerCode, ...]:
    """Every control law, composite and natural adaptation, and one that resets its estimates."""
    settings = [yt.control.ControllerSettings("slotine-li", adaptation=name) for name in ("composite", "natural")]
    base = yt.base_parameters(robot)
    narrow = Reset(Gradient(50.0), base.beta - 1e-3, base.beta + 1e-3, 1e-6)
    reset = SlotineLi(robot, base, convergence=5.0, damping=20.0, adaptation=narrow)
    options = yt.COptions(controllers=(*CONTROLLERS, *settings, reset))
    return make_controllers(options, robot, Style("arm", DOUBLE))


@pytest.fixture(scope="module")
def library(robot: Robot, controllers: tuple[ControllerCode, ...], tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("controllers") / "arm"
    laws = tuple(controller.law for controller in controllers)
    yt.export(robot, to="c", path=path, options=yt.COptions(name="arm", functions=("gravity",), controllers=laws))
    return load_library(path, "arm")


def draw_motion(law: Law, k: int) -> tuple[list[np.ndarray], Reference]:
    rng = np.random.default_rng(k)
    n = len(law.robot.actuated)
    q, qd, qdd = rng.uniform(-1, 1, (3, n))
    return [q, qd, qdd], Reference(q + 0.01 * rng.normal(size=n), qd + 0.02 * rng.normal(size=n), rng.normal(size=n))


def step_in_c(
    library: Library, code: ControllerCode, state: np.ndarray, motion: list[np.ndarray], r: Reference
) -> tuple[int, np.ndarray]:
    tau = np.full(code.n, 7.0)
    measured = motion if code.law.needs_acceleration else motion[:2]
    status = library.call(f"{code.label}_step", state, DT, *measured, r.q, r.qd, r.qdd, tau)
    return status, tau


def create_state(library: Library, code: ControllerCode) -> tuple[np.ndarray, np.ndarray]:
    """Return the state and a view of its x."""
    state = np.zeros(len(code.start) + 1)  # an int follows x
    library.call(f"{code.label}_init", state)
    return state, state[:-1]


def test_every_step_is_that_of_python(library: Library, controllers: tuple[ControllerCode, ...]) -> None:
    assert {code.law.name for code in controllers} == set(CONTROLLERS)
    for code in controllers:
        law, n = code.law, code.n
        state = law.init(np.zeros(n), np.zeros(n))
        c_state, x = create_state(library, code)
        np.testing.assert_array_equal(x, state.x)
        for k in range(5):
            motion, reference = draw_motion(law, k)
            expected, state = law.step(state, (k + 1) * DT, motion[0], motion[1], reference, qdd=motion[2])
            status, tau = step_in_c(library, code, c_state, motion, reference)
            assert status == 0
            np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-12 * abs(expected).max(), err_msg=code.label)
            np.testing.assert_allclose(x, state.x, rtol=0, atol=1e-12 * abs(state.x).max(initial=0.0))
        if len(x):
            assert not np.array_equal(x, code.start)


def test_labels_are_unique(controllers: tuple[ControllerCode, ...]) -> None:
    labels = [code.label for code in controllers]
    assert len(set(labels)) == len(labels)
    assert "slotine_li_2" in labels


def test_estimates_are_reset(controllers: tuple[ControllerCode, ...]) -> None:
    assert controllers[-1].reset is not None
    assert "reset" in controllers[-1].format_definitions()
    assert controllers[0].reset is None


def test_numbers_that_are_not_finite_change_nothing(library: Library, controllers: tuple[ControllerCode, ...]) -> None:
    for code in controllers:
        state, x = create_state(library, code)
        motion, reference = draw_motion(code.law, 0)
        motion[0][0] = np.nan
        before = x.copy()
        status, tau = step_in_c(library, code, state, motion, reference)
        assert status == 1
        np.testing.assert_array_equal(tau, np.full(code.n, 7.0))
        np.testing.assert_array_equal(x, before)


def test_a_controller_of_another_robot_is_refused(controllers: tuple[ControllerCode, ...], tmp_path: Path) -> None:
    options = yt.COptions(controllers=(controllers[0].law,))
    with pytest.raises(InputError, match="create it for this robot"):
        yt.export("ur10", to="c", path=tmp_path / "arm", options=options)
