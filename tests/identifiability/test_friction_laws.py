"""Base and model parameters of robots with root and load-dependent friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.friction_robots import add_friction_laws
from tests.support.loop_robots import make_looped_robot
from ytheta.errors import InputError
from ytheta.identifiability import ha
from ytheta.identifiability.base_parameters import Identifiability
from ytheta.native import compile_graph
from ytheta.robot.robot import Robot

ALL = ("viscous", "coulomb", "offset", "root", "load")


def draw_states(size: int, count: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, count, size))
    return q, qd, 3.0 * qdd


@pytest.mark.parametrize("name", ["ur10", "stanford"])
def test_both_laws_are_base_parameters_by_themselves(name: str) -> None:
    plain = ytheta.load(name)
    robot = add_friction_laws(plain)
    n = len(robot.actuated)
    base = ytheta.base_parameters(robot, friction=ALL)
    assert len(base) == len(ytheta.base_parameters(plain, method="qr")) + 5 * n
    for joint in robot.actuated:
        for symbol in ("fv", "fc", "fo", "fs", "fl"):
            assert base.identifiability[f"{joint}.{symbol}"] is Identifiability.ALONE
            assert f"{joint}.{symbol}" in base.names
    assert len(ytheta.base_parameters(robot, friction=("root",))) == len(ytheta.base_parameters(robot)) + n
    assert len(ytheta.base_parameters(plain, friction=("root", "load"))) == len(ytheta.base_parameters(plain))
    q, qd, qdd = draw_states(n)
    with_rotors = ytheta.base_parameters(robot, rotor_inertia=True, friction=ALL)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    Y = ytheta.regressor(robot, with_rotors)(q, qd, qdd)
    np.testing.assert_allclose(Y @ with_rotors.beta, tau, rtol=1e-8, atol=1e-8)
    twin = with_rotors.beta * np.where([name.endswith(".fl") for name in with_rotors.independent], 1.01, 1.0)
    assert abs(Y @ twin - tau).max() > 1e-3


def test_other_methods_find_the_same_link_parameters() -> None:
    robot = add_friction_laws(ytheta.load("lu-puma4"))
    counts = {method: len(ytheta.base_parameters(robot, method=method)) for method in ("lin", "ha", "qr")}
    assert set(counts.values()) == {len(ytheta.base_parameters(ytheta.load("lu-puma4")))}


def test_root_friction_of_loops_is_identifiable() -> None:
    robot = make_looped_robot("five-bar").with_drives(lambda _, d: replace(d, root=0.3))
    with_root, without = (
        ytheta.base_parameters(robot, friction=friction) for friction in (("viscous", "root"), ("viscous",))
    )
    assert len(with_root) == len(without) + len(robot.drives)


def test_base_parameters_of_other_laws_are_refused() -> None:
    robot = add_friction_laws(ytheta.load("ur10"))
    base = ytheta.base_parameters(robot, friction=ALL)
    for twin in (
        robot.with_drives(lambda _, d: replace(d, friction_speed=d.friction_speed + 0.1)),
        robot.with_drives(lambda _, d: replace(d, root=None)),
    ):
        with pytest.raises(InputError, match="use base_parameters of that robot"):
            ytheta.regressor(twin, base)
    heavier = robot.with_drives(lambda _, d: replace(d, root=0.1, load=0.01))
    assert ytheta.regressor(heavier, base).shape == (6, len(base))


def scara_with_roots() -> Robot:
    robot = add_friction_laws(ytheta.load("ha-scara"), load=False)
    first = robot.actuated[0]
    return robot.with_drives(lambda name, d: replace(d, root=None) if name == first else d)


def test_the_regrouped_lagrangian_has_root_friction_where_it_exists() -> None:
    robot = scara_with_roots()
    regrouping = ha.regroup_lagrangian(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset", "root"))
    names = [name for name in regrouping.names if name.endswith(".fs")]
    assert names == [f"{name}.fs" for name in robot.actuated[1:]]
    q, qd, qdd = draw_states(4)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    U = compile_graph(regrouping.make_graph("differential"), backend="interpreter")(q, qd, qdd)
    np.testing.assert_allclose(U @ regrouping.values, tau, rtol=1e-9, atol=1e-9)
    without = np.where([name.endswith(".fs") for name in regrouping.names], 0.0, regrouping.values)
    assert abs(U @ without - tau).max() > 1e-2
    assert len(regrouping.expressions) == len(regrouping.function_texts) == len(regrouping) == len(regrouping.names)
    assert [text for text, n in zip(regrouping.expressions, regrouping.names, strict=True) if n in names] == names


def test_the_integral_form_has_root_friction() -> None:
    """(36) with Gauss's rule: boundary and integrand together give the integral of the torque."""
    robot = scara_with_roots()
    regrouping = ha.regroup_lagrangian(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset", "root"))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    rates = np.array([0.9, 0.2, 1.3, -0.6])  # some are above friction_speed, none changes sign

    def move(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        t = t[:, None]
        return rates * (t + 0.1 * np.sin(t)), rates * (1.0 + 0.1 * np.cos(t)), -rates * 0.1 * np.sin(t)

    parts = [compile_graph(regrouping.make_graph(f), backend="interpreter") for f in ("boundary", "integrand")]
    q, qd, qdd = move(1.0 + nodes)
    (first, last), ends = parts[0](*move(np.array([0.0, 2.0]))[:2]), np.tensordot(weights, parts[1](q, qd), axes=1)
    expected = weights @ ytheta.inverse_dynamics(robot)(q, qd, qdd)
    np.testing.assert_allclose((last - first + ends) @ regrouping.values, expected, rtol=1e-8, atol=1e-8)
    texts = [str(row.tolist()) for row in regrouping.make_expressions("differential")]
    assert ["Min(0.7" in text for text in texts] == [False, True, False, False]
    assert ["Abs(" in text for text in texts] == [False, True, True, True]


def test_the_regrouped_lagrangian_refuses_load_friction() -> None:
    robot = add_friction_laws(ytheta.load("ha-scara"))
    with pytest.raises(InputError, match=r"is load-dependent, .*remove 'load'"):
        ha.regroup_lagrangian(robot)
    with pytest.raises(InputError, match="friction is load-dependent"):
        ha.regroup_lagrangian(ytheta.load("ha-scara"), friction=("load",))
    with pytest.raises(InputError, match="is load-dependent"):
        ytheta.model_parameters(robot, unknown_geometry=True)
