"""The regrouped Lagrangian: the SCARA arm as printed in the paper, torques of other robots, and properties."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy

import ytheta
from tests.support.formulation_cases import fork
from tests.support.serial_arms import arm_with_slides
from ytheta.dynamics.kernels import momentum_regressor, remainder
from ytheta.dynamics.mechanism import numeric_motion
from ytheta.errors import InputError, UnsetLengthError
from ytheta.files.symbols import Length, symbol
from ytheta.identifiability import ha
from ytheta.identifiability.exact import energy
from ytheta.identifiability.regrouping import Regrouping
from ytheta.native import compile_graph
from ytheta.papers.ha1989 import SYMMETRIC, make_gravity, make_printed_model
from ytheta.robot.frame import Frame
from ytheta.robot.robot import Robot

PRINTED = make_printed_model()


def equal_as_printed(result: Any, printed: Any) -> bool:
    """Whether both are equal up to the order of sums and factors."""
    flat_result, flat_printed = (list(sympy.flatten(x)) for x in (result, printed))
    gravity = dict([make_gravity()])
    return len(flat_result) == len(flat_printed) and all(
        sympy.expand(a - sympy.sympify(b).subs(gravity)) == 0 for a, b in zip(flat_result, flat_printed, strict=True)
    )


@pytest.fixture(scope="module")
def scara() -> Regrouping:
    return ha.regroup_lagrangian(ytheta.load("ha-scara"), zero=SYMMETRIC)


def test_scara_has_six_of_25_terms_and_14_parameters(scara: Regrouping) -> None:
    assert scara.terms == (1, 7, 7, 10)  # (51)-(54)
    assert sum(scara.terms) == 25
    assert scara.counts == (1, 3, 1, 1)  # (55)
    assert sum(scara.counts) == 6
    assert scara.p == 14
    assert scara.starts == (0, 3, 8, 11, 14)


def test_blocks_of_joints_are_adjacent(scara: Regrouping) -> None:
    assert [b - a - 2 for a, b in pairwise(scara.starts)] == list(scara.counts)


def test_scara_functions_and_combinations_as_printed(scara: Regrouping) -> None:
    assert equal_as_printed(scara.F, PRINTED.F)
    assert equal_as_printed(scara.X, PRINTED.X)
    once = sympy.Symbol("link2.mx") * sympy.Symbol("a2")
    wrong = (PRINTED.X[0], (PRINTED.X[1][0] - once, *PRINTED.X[1][1:]), *PRINTED.X[2:])  # 2 m2 x2 a2 once
    assert not equal_as_printed(scara.X, wrong)
    assert [len(row) for row in scara.X] == [len(row) for row in PRINTED.X]


def test_scara_models_as_printed(scara: Regrouping) -> None:
    assert equal_as_printed(scara.make_expressions("differential").tolist(), PRINTED.U)
    assert equal_as_printed(scara.make_expressions("boundary").tolist(), PRINTED.boundary)
    assert equal_as_printed(scara.make_expressions("integrand").tolist(), PRINTED.integrand)
    assert not equal_as_printed(scara.make_expressions("boundary").tolist(), PRINTED.integrand)


def test_scara_values_are_those_of_table_1(scara: Regrouping) -> None:
    table = [5.0, 1.0, 1.0, 2.5, 1.0, 0.3, 0.7, 0.7, 3.0, 0.3, 0.3, 0.5, 0.3, 0.3]
    np.testing.assert_allclose(scara.values, table, rtol=1e-12)  # sums of a dozen products
    without = replace(ytheta.load("ha-scara"), lengths=(("a1", None), ("a2", 0.4)))
    with pytest.raises(UnsetLengthError, match="'a1'"):
        _ = ha.regroup_lagrangian(without, zero=SYMMETRIC).values


def test_scara_with_any_inertia() -> None:
    """The centres of links 3 and 4 are off their axes: link 4 adds four terms if lengths are unknown, else two."""
    general = ha.regroup_lagrangian(ytheta.load("ha-scara"))
    assert (general.terms, general.counts, general.p) == ((1, 7, 9, 32), (1, 3, 1, 5), 18)
    lengths = sympy.symbols("a2 a1")
    moments = [a * sympy.Symbol(f"link4.{m}") for a in lengths for m in ("mx", "my")]
    assert equal_as_printed(general.X[3], [sympy.Symbol("link4.Izz"), *moments])
    known = ha.regroup_lagrangian(ytheta.load("ha-scara").numeric)
    assert known.counts == (1, 3, 1, 3)
    assert len(ha.base_parameters(ytheta.load("ha-scara"))) == sum(known.counts)


def test_squared_sines_must_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """If sin² is kept, there are more terms, and other functions than those printed."""
    monkeypatch.setattr(energy, "multiply_powers", _multiply_without_replacing)
    expanded = ha.regroup_lagrangian(ytheta.load("ha-scara"), zero=SYMMETRIC)
    assert sum(expanded.terms) > 25
    assert not equal_as_printed(expanded.F, PRINTED.F)


def _multiply_without_replacing(first: energy.Powers, second: energy.Powers) -> dict[energy.Powers, int]:
    return {(first[0] + second[0], first[1] + second[1], first[2] + second[2]): 1}


def with_unknown_lengths(robot: Robot) -> Robot:
    """The robot with every length as a symbol that has its value; the first one in a sum with a number."""
    values: dict[str, float] = {}

    def replace_lengths(frame: Frame) -> Frame:
        entries: list[Any] = []
        for x in frame.matrix[:3, 3]:
            name = f"l{len(values) + 1}"
            if x == 0.0:
                entries.append(0.0)
                continue
            entries.append(symbol(name) if values else symbol(name) * 0.5 + 0.022094137)
            values[name] = float(x) if values else 2.0 * (float(x) - 0.022094137)
        return Frame((entries[0], entries[1], entries[2]), frame.rotation)

    joints = tuple(
        replace(j, placement=replace_lengths(j.placement), seat=replace_lengths(j.seat))
        for j in robot.numeric.merged.joints
    )
    return replace(robot.numeric.merged, joints=joints, markers=(), lengths=tuple(values.items()))


CASES = {
    "ha-scara": lambda: ytheta.load("ha-scara"),
    "lu-two-link": lambda: ytheta.load("lu-two-link"),
    "stanford": lambda: ytheta.load("stanford"),
    "lu-puma4, lengths unknown": lambda: with_unknown_lengths(ytheta.load("lu-puma4")),
    "fork": fork,
}


def states(count: int, samples: int, seed: int = 0) -> np.ndarray:
    """Random q, qd, qdd."""
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (3, samples, count))


def torque(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """The torque by the Newton-Euler regressor of all standard parameters, with friction and rotor inertia."""
    Y = ytheta.regressor(robot, formulation="newton_euler", backend="interpreter")
    return np.asarray(Y(q, qd, qdd) @ robot.theta)


@pytest.mark.parametrize("name", CASES)
def test_model_gives_the_torque(name: str) -> None:
    """(22), rotor inertia and friction included, against Newton-Euler; (23)-(25): zeros below the diagonal."""
    robot = CASES[name]()
    regrouping = ha.regroup_lagrangian(robot, rotor_inertia=True)
    q, qd, qdd = states(len(robot.movable), 20)
    U = compile_graph(regrouping.make_graph("differential"), backend="interpreter")(q, qd, qdd)
    tau = torque(robot, q, qd, qdd)
    scale = np.abs(tau).max()
    assert np.abs(U @ regrouping.values - tau).max() < 1e-11 * scale  # rotations of fork are rational within 1e-13
    wrong = torque(replace(robot, gravity=(0.0, 0.0, 1.0)), q, qd, qdd)
    assert np.abs(U @ regrouping.values - wrong).max() > 1e-3 * scale
    for i in range(len(regrouping.counts)):
        assert not U[:, i, : regrouping.starts[i]].any()


@pytest.mark.parametrize("name", ["ha-scara", "lu-two-link", "lu-puma4, lengths unknown", "fork"])
def test_properties_of_the_regrouping(name: str) -> None:
    """(15), (16), (17) and (26): all terms are independent, so that none can be left out."""
    robot = CASES[name]()
    regrouping = ha.regroup_lagrangian(robot)
    rows = [{(p, powers): float(x) for p, powers, x in c.terms} for row in regrouping.combinations for c in row]
    places = sorted({place for row in rows for place in row})
    X = np.array([[row.get(place, 0.0) for place in places] for row in rows])
    assert np.linalg.matrix_rank(X / np.abs(X).max(axis=1, keepdims=True)) == sum(regrouping.counts)  # (15)
    q, qd, qdd = states(len(robot.movable), 3 * len(rows))
    functions = [f for row in regrouping.functions for f in row]
    F = np.array(
        [regrouping.ring.evaluate(functions, numeric_motion(*one), float) for one in zip(q, qd, qdd, strict=True)]
    )
    F = F - F.mean(axis=0)  # constants have no effect
    sizes = np.linalg.svd(F / np.linalg.norm(F, axis=0), compute_uv=False)
    assert sizes[-1] > 1e-4  # (16)
    assert all(count >= 1 for count in regrouping.counts)  # (17)
    U = compile_graph(regrouping.make_graph("differential"), backend="interpreter")(q, qd, qdd).reshape(
        -1, regrouping.p
    )
    assert np.linalg.svd(U / np.linalg.norm(U, axis=0), compute_uv=False)[-1] > 1e-5  # (26)


@pytest.mark.parametrize("name", ["ha-scara", "lu-two-link", "fork"])
def test_integral_form(name: str) -> None:
    """(36) without accelerations, along a smooth motion whose rates keep their signs, by Gauss quadrature."""
    robot = CASES[name]()
    regrouping = ha.regroup_lagrangian(robot, rotor_inertia=True)
    k = np.arange(1.0, len(robot.movable) + 1.0)
    signs = (-1.0) ** k

    def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        wave = k + t[:, None] * (1.0 + 0.3 * k)
        w = 1.0 + 0.3 * k
        return (
            signs * (0.8 * w * t[:, None] + 0.5 * np.sin(wave)),
            signs * w * (0.8 + 0.5 * np.cos(wave)),
            (-signs * w**2 * 0.5 * np.sin(wave)),
        )

    nodes, weights = np.polynomial.legendre.leggauss(60)
    t, weights = 1.0 + nodes, weights  # from 0 to 2 s
    q, qd, qdd = motion(t)
    ends = motion(np.array([0.0, 2.0]))
    boundary, integrand = (
        compile_graph(regrouping.make_graph(f), backend="interpreter") for f in ("boundary", "integrand")
    )
    first, last = boundary(ends[0], ends[1])
    integral = np.tensordot(weights, integrand(q, qd), axes=1)
    expected = weights @ torque(robot, q, qd, qdd)
    np.testing.assert_allclose((last - first + integral) @ regrouping.values, expected, rtol=1e-9, atol=1e-9)
    assert not np.allclose((last - first) @ regrouping.values, expected, rtol=1e-3)
    assert [i.name for i in regrouping.make_graph("boundary").inputs] == ["q", "qd"]


def test_model_in_machine_code() -> None:
    robot = ytheta.load("lu-puma4")
    regrouping = ha.regroup_lagrangian(robot)
    q, qd, qdd = states(4, 50)
    U = compile_graph(regrouping.make_graph("differential"))(q, qd, qdd)
    np.testing.assert_allclose(U @ regrouping.values, torque(robot, q, qd, qdd), rtol=1e-9, atol=1e-9)
    signs = np.sign(qd[0]).astype(object)
    one = regrouping.evaluate_columns("differential", numeric_motion(q[0], qd[0], qdd[0]), signs)
    np.testing.assert_allclose(one.astype(float), U[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["lu-two-link", "lu-puma4", "fork"])
def test_the_expanded_lagrangian_and_the_recursion_agree(name: str) -> None:
    """Regrouping and the recursion without the expanded Lagrangian find the same combinations."""
    robot = (CASES[name]() if name in CASES else ytheta.load(name)).numeric
    for rotors in (False, True):
        regrouping = ha.regroup_lagrangian(robot, rotor_inertia=rotors)
        base = ha.base_parameters(robot, rotor_inertia=rotors)
        X = np.zeros((sum(regrouping.counts), len(robot.parameter_names)))
        for row, combination in zip(X, (c for level in regrouping.combinations for c in level), strict=True):
            for parameter, _, x in combination.terms:
                row[robot.parameter_names.index(parameter)] = float(x)
        assert len(X) == len(base)
        np.testing.assert_allclose(X[:, base.places] @ base.K, X, rtol=1e-10, atol=1e-10)


def test_lengths_may_have_any_name() -> None:
    """A length may even have a name that looks like a function of a joint."""
    scara = with_unknown_lengths(ytheta.load("ha-scara"))
    names = {"l1": "c1", "l2": "qd2"}

    def rename(frame: Frame) -> Frame:
        values = {old: symbol(new) for old, new in names.items()}
        x, y, z = (e.evaluate(values) if isinstance(e, Length) else e for e in frame.translation)
        return Frame((x, y, z), frame.rotation)

    joints = tuple(replace(joint, seat=rename(joint.seat)) for joint in scara.joints)
    renamed = replace(scara, joints=joints, lengths=tuple((names[old], value) for old, value in scara.lengths))
    assert ha.regroup_lagrangian(renamed).counts == ha.regroup_lagrangian(scara).counts
    np.testing.assert_array_equal(ha.regroup_lagrangian(renamed).values, ha.regroup_lagrangian(scara).values)


def test_regrouping_in_frames_that_hide_the_axes() -> None:
    """The sum of three angles is zero, but about 1e-12 after each angle is converted to a rational one."""
    with pytest.raises(InputError, match=r"terms would remain, although \d+ are enough; regroup ytheta.to_modified_dh"):
        ha.regroup_lagrangian(arm_with_slides(0.7, -0.3, -0.4))
    assert sum(ha.regroup_lagrangian(arm_with_slides(0.7, -0.7)).counts) == 7


def test_kernels_are_in_the_order_of_the_actuated_joints() -> None:
    """Parameters are numbered along the arm; motions and torques are those of the robot's other kernels."""
    robot = replace(ytheta.load("ha-scara"), actuated=("joint3", "joint1", "joint4", "joint2"))
    regrouping = ha.regroup_lagrangian(robot, friction=("viscous", "coulomb", "offset"))
    q, qd, qdd = states(4, 20)
    U = ytheta.regressor(robot, regrouping)(q, qd, qdd)
    expected = torque(robot, q, qd, qdd)
    np.testing.assert_allclose(U @ regrouping.values, expected, rtol=1e-10, atol=1e-10)
    assert not np.allclose(U[:, ::-1] @ regrouping.values, expected, rtol=1e-2)
    assert regrouping.names[:5] == ("joint1.X1", "joint1.fv", "joint1.fc", "joint1.fo", "joint2.X1")


@pytest.mark.parametrize("name", ["ha-scara", "fork"])
def test_momentum_and_remainder_add_up(name: str) -> None:
    """U = dW/dt + Yhat, by a central difference along a motion with constant acceleration."""
    robot = CASES[name]()
    regrouping = ha.regroup_lagrangian(robot, rotor_inertia=True)
    q, qd, qdd = states(len(robot.movable), 10)
    W, Yhat = momentum_regressor(robot, regrouping), remainder(robot, regrouping)
    h = 1e-5
    later, earlier = (W(q + t * qd + 0.5 * t * t * qdd, qd + t * qdd) for t in (h, -h))
    U = ytheta.regressor(robot, regrouping)(q, qd, qdd)
    np.testing.assert_allclose((later - earlier) / (2.0 * h) + Yhat(q, qd), U, rtol=1e-6, atol=1e-6)
    assert not np.allclose(Yhat(q, qd), U, rtol=1e-2)


def test_known_and_unknown_lengths() -> None:
    robot = replace(ytheta.load("ha-scara"), lengths=(("a1", 0.5), ("a2", None)))
    partly = ha.regroup_lagrangian(robot, lengths=("a2",))
    assert partly.ring.lengths == ("a2",)
    complete = robot.with_lengths(a2=0.4)
    q, qd, qdd = states(4, 20)
    U = ytheta.regressor(robot, partly)(q, qd, qdd)
    values = replace(partly, robot=complete).values
    np.testing.assert_allclose(U @ values, torque(complete, q, qd, qdd), rtol=1e-10, atol=1e-10)
    wrong = replace(partly, robot=robot.with_lengths(a2=0.41)).values
    assert not np.allclose(U @ wrong, torque(complete, q, qd, qdd), rtol=1e-4)
    with pytest.raises(InputError, match="the length 'a2' has no value; add it to the unknown lengths"):
        ha.regroup_lagrangian(robot, lengths=("a1",))
    with pytest.raises(InputError, match="no length 'a3'"):
        ha.regroup_lagrangian(robot, lengths=("a2", "a3"))


def test_options_of_a_regressor_that_do_not_apply() -> None:
    robot = ytheta.load("lu-two-link")
    regrouping = ha.regroup_lagrangian(robot, friction=None)
    assert (regrouping.p, regrouping.starts[-1]) == (sum(regrouping.counts), sum(regrouping.counts))
    with pytest.raises(InputError, match="has one formulation and no reference velocity; leave formulation out"):
        ytheta.regressor(robot, regrouping, formulation="lagrange")
    with pytest.raises(InputError, match="this regrouped Lagrangian belongs to robot 'lu-two-link'"):
        ytheta.regressor(ytheta.load("lu-puma4"), regrouping)
    with pytest.raises(InputError, match="there is no friction 'viscos'"):
        ha.regroup_lagrangian(robot, friction=("viscos",))
