"""The short formulas (50)-(59) of Lu and Meng: against the general columns and Newton-Euler, each with a mutation."""

from __future__ import annotations

from typing import Literal

import casadi
import pytest

from tests.support.formulation_cases import close, fork, load, state
from ytheta.dynamics.formulations import lagrange, newton_euler, sixteen
from ytheta.dynamics.mechanism import Mechanism, Motion, build_mechanism, casadi_motion, numeric_motion
from ytheta.native import count_operations
from ytheta.native.graph import Input, trace
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot

Center = Literal["x", "z"]
CENTERS: tuple[Center, Center] = ("x", "z")


def find(name: str) -> Robot:
    return fork() if name == "fork" else load(name)


def list_motions(mech: Mechanism) -> list[Motion]:
    """A motion, and one with a reference velocity."""
    q, qd, qdd, v = state(mech.joints)
    return [numeric_motion(q, qd, qdd), numeric_motion(q, qd, qdd, v)]


def equals_general_columns(mech: Mechanism, motion: Motion, center: Center) -> bool:
    """Whether the six columns of every link are those of the sixteen, and of Newton-Euler's ten by (31)."""
    places = sixteen.find_columns(f"center-on-{center}")
    ten = newton_euler.regressor(mech, motion).astype(float)
    return all(
        close(six, lagrange.sixteen_columns(mech, motion, body.name)[:, places])
        and close(six, ten[:, 10 * i : 10 * (i + 1)] @ sixteen.L[:, places])
        for i, body in enumerate(mech.bodies)
        for six in [lagrange.principal_axes_columns(mech, motion, body.name, center=center)]
    )


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("name", ["fork", "lu-puma4"])
def test_short_formulas_equal_the_general_columns(name: str, center: Center) -> None:
    mech = build_mechanism(find(name))
    for motion in list_motions(mech):
        assert equals_general_columns(mech, motion, center)


@pytest.mark.parametrize("function", ["compute_y121", "compute_y321", "compute_e", "multiply_B"])
def test_every_formula_matters(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the opposite sign of one formula, the comparison fails; -(57) is the formula as printed."""
    original = getattr(lagrange, function)
    monkeypatch.setattr(lagrange, function, lambda *arguments: -original(*arguments))
    mech = build_mechanism(fork())
    for motion in list_motions(mech):
        assert not equals_general_columns(mech, motion, "x")


@pytest.mark.parametrize("center", CENTERS)
def test_momentum(center: Center, monkeypatch: pytest.MonkeyPatch) -> None:
    """W of (52), (53) and (29) with (54) against the general W (30)."""
    mech = build_mechanism(fork())
    places = sixteen.find_columns(f"center-on-{center}")
    rows = lagrange.make_rows(center)

    def equals_general_momentum(motion: Motion) -> bool:
        kin = lagrange.compute_kinematics(mech, motion)
        W = lagrange.compute_momentum_columns(kin, rows, range(len(mech.bodies)))
        general = lagrange.momentum(mech, motion).astype(float).reshape(mech.joints, -1, 10) @ sixteen.L[:, places]
        return close(W, general.reshape(W.shape))

    for motion in list_motions(mech):
        assert equals_general_momentum(motion)
        with monkeypatch.context() as patch:
            patch.setattr(lagrange, "compute_b", lambda *_: 0.0)
            assert not equals_general_momentum(motion)


@pytest.mark.parametrize(
    ("center", "axis", "tensor"),
    [("x", (0.4, 0.0, 0.0), (0.1, 0.2, 0.25)), ("z", (0.0, 0.0, -0.3), (0.3, 0.2, 0.15))],
)
def test_torque_of_a_special_link(
    center: Center, axis: tuple[float, float, float], tensor: tuple[float, float, float]
) -> None:
    """Y theta with theta of (51) is the torque of such a link by its ten parameters."""
    a, b, c = tensor
    inertia = Inertia.about_center(1.7, axis, ((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)))
    theta = sixteen.reduce_parameters(inertia, f"center-on-{center}")
    mech = build_mechanism(fork())
    for motion in list_motions(mech):
        Y = newton_euler.regressor(mech, motion).astype(float)
        for i, body in enumerate(mech.bodies):
            expected = Y[:, 10 * i : 10 * (i + 1)] @ inertia.vector
            right, wrong = (
                lagrange.principal_axes_columns(mech, motion, body.name, center=place).astype(float)
                for place in ((center, "z" if center == "x" else "x"))
            )
            assert close(right @ theta, expected)
            assert not close(wrong @ theta, expected)


def test_short_formulas_need_fewer_operations_than_the_sixteen_columns() -> None:
    """The paper: expressions "can be simplified considerably". Here the short ones save 15 to 18 percent."""
    mech = build_mechanism(load("lu-puma4"))
    symbols = [casadi.SX.sym(name, mech.joints) for name in ("q", "qd", "qdd")]
    motion, link = casadi_motion(*symbols), mech.bodies[-1].name
    inputs = [(Input(str(k), mech.joints), symbol) for k, symbol in enumerate(symbols)]
    short, general = (
        count_operations(trace("Y", inputs, Y))
        for Y in (
            lagrange.principal_axes_columns(mech, motion, link, center="x"),
            lagrange.sixteen_columns(mech, motion, link),
        )
    )
    assert short.multiplications < 0.9 * general.multiplications
    assert short.additions < 0.9 * general.additions
