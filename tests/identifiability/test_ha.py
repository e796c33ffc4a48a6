"""Regrouping of the Lagrangian: the SCARA arm of Ha, Ko and Kwon as printed, torques, ranks, and what must fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ytheta
from tests.support import base_checks
from tests.support.formulation_cases import fork, robot_without_joints
from tests.support.ha_scara import SYMMETRIC
from tests.support.random_robots import robots
from ytheta.dynamics.motion import numeric_motion
from ytheta.errors import InputError, UnknownNameError, UnsetLengthError
from ytheta.files.lengths import Length, symbol
from ytheta.identifiability import ha
from ytheta.identifiability.exact import energy_maps
from ytheta.identifiability.exact import geometry as exact_geometry
from ytheta.identifiability.exact.energy_span import row_basis
from ytheta.identifiability.exact.row_span import RowSpan
from ytheta.identifiability.regrouping import Regrouping
from ytheta.native import compile_graph
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Joint, JointKind, Link
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.robot import Robot

q1, q2, q3, q4 = sympy.symbols("q1:5", real=True)
qd1, qd2, qd3, qd4 = sympy.symbols("qd1:5", real=True)
qdd1, qdd2, qdd3, qdd4 = sympy.symbols("qdd1:5", real=True)
a1, a2 = sympy.symbols("a1 a2")
m1, m2, m3, m4 = (sympy.Symbol(f"link{i}.m") for i in (1, 2, 3, 4))
I1, I2, I3, I4 = (sympy.Symbol(f"link{i}.Izz") for i in (1, 2, 3, 4))
mx1, mx2, my2 = (
    sympy.Symbol(name) for name in ("link1.mx", "link2.mx", "link2.my")
)  # m1 x1, m2 x2, m2 y2 of the paper
C2, S2 = sympy.cos(q2), sympy.sin(q2)
g = sympy.Rational(98, 10)

PRINTED_F = (  # (57)
    (qd1**2 / 2,),
    (qd2**2 / 2 + qd1 * qd2, qd1**2 * C2 + qd1 * qd2 * C2, -(qd1**2 * S2 + qd1 * qd2 * S2)),
    (qd3**2 / 2 + q3 * g,),
    (qd4**2 / 2 + qd1 * qd4 + qd2 * qd4,),
)
# fmt: off
PRINTED_X = (  # (58)
    (I1 + m1*a1**2 + 2*mx1*a1 + I2 + m2*a1**2 + m2*a2**2 + 2*mx2*a2 + I3
     + m3*a1**2 + m3*a2**2 + I4 + m4*a1**2 + m4*a2**2,),
    (I2 + m2*a2**2 + 2*mx2*a2 + I3 + m3*a2**2 + I4 + m4*a2**2,
     m2*a1*a2 + mx2*a1 + m3*a1*a2 + m4*a1*a2,
     my2*a1),
    (m3 + m4,),
    (I4,),
)
sgn = sympy.sign
PRINTED_U = [  # (59), (60)
    [qdd1, qd1, sgn(qd1),
     qdd2, -2*qd1*qd2*S2 - qd2**2*S2 + (2*qdd1 + qdd2)*C2, -2*qd1*qd2*C2 - qd2**2*C2 - (2*qdd1 + qdd2)*S2, 0, 0,
     0, 0, 0, qdd4, 0, 0],
    [0, 0, 0,
     qdd1 + qdd2, qdd1*C2 + qd1**2*S2, -qdd1*S2 + qd1**2*C2, qd2, sgn(qd2),
     0, 0, 0, qdd4, 0, 0],
    [0]*8 + [qdd3 - g, qd3, sgn(qd3), 0, 0, 0],
    [0]*11 + [qdd1 + qdd2 + qdd4, qd4, sgn(qd4)],
]
PRINTED_BOUNDARY = [  # (61): what is taken between t0 and t
    [qd1, q1, 0, qd2, (2*qd1 + qd2)*C2, -(2*qd1 + qd2)*S2, 0, 0, 0, 0, 0, qd4, 0, 0],
    [0, 0, 0, qd1 + qd2, qd1*C2, -qd1*S2, q2, 0, 0, 0, 0, qd4, 0, 0],
    [0]*8 + [qd3, q3, 0, 0, 0, 0],
    [0]*11 + [qd1 + qd2 + qd4, q4, 0],
]
PRINTED_INTEGRAND = [  # (61): what is integrated; -g (t - t0) is the integral of -g
    [0, 0, sgn(qd1)] + [0]*11,
    [0]*4 + [(qd1*qd2 + qd1**2)*S2, (qd1*qd2 + qd1**2)*C2, 0, sgn(qd2)] + [0]*6,
    [0]*8 + [-g, 0, sgn(qd3), 0, 0, 0],
    [0]*13 + [sgn(qd4)],
]
# fmt: on


def literally(found: Any, printed: Any) -> bool:
    """Equal as they stand, up to the order of sums and factors."""
    flat_found, flat_printed = (list(sympy.flatten(x)) for x in (found, printed))
    return len(flat_found) == len(flat_printed) and all(
        sympy.expand(a - b) == 0 for a, b in zip(flat_found, flat_printed, strict=True)
    )


@pytest.fixture(scope="module")
def scara() -> Regrouping:
    return ha.regroup(ytheta.load("ha-scara"), zero=SYMMETRIC)


def test_scara_has_six_of_25_terms_and_14_parameters(scara: Regrouping) -> None:
    assert scara.terms == (1, 7, 7, 10)  # (51)-(54)
    assert sum(scara.terms) == 25
    assert scara.counts == (1, 3, 1, 1)  # (55)
    assert sum(scara.counts) == 6
    assert scara.p == 14
    assert scara.starts == (0, 3, 8, 11, 14)


def test_scara_functions_and_combinations_as_printed(scara: Regrouping) -> None:
    assert literally(scara.F, PRINTED_F)
    assert literally(scara.X, PRINTED_X)
    wrong = (PRINTED_X[0], (PRINTED_X[1][0] - mx2 * a2, *PRINTED_X[1][1:]), *PRINTED_X[2:])  # 2 m2 x2 a2 once
    assert not literally(scara.X, wrong)
    assert [len(own) for own in scara.X] == [len(own) for own in PRINTED_X]


def test_scara_models_as_printed(scara: Regrouping) -> None:
    assert literally(scara.expressions("differential").tolist(), PRINTED_U)
    assert literally(scara.expressions("boundary").tolist(), PRINTED_BOUNDARY)
    assert literally(scara.expressions("integrand").tolist(), PRINTED_INTEGRAND)
    assert not literally(scara.expressions("boundary").tolist(), PRINTED_INTEGRAND)


def test_scara_values_are_those_of_table_1(scara: Regrouping) -> None:
    table = [5.0, 1.0, 1.0, 2.5, 1.0, 0.3, 0.7, 0.7, 3.0, 0.3, 0.3, 0.5, 0.3, 0.3]
    np.testing.assert_allclose(scara.values, table, rtol=1e-12)  # sums of a dozen products
    without = replace(ytheta.load("ha-scara"), lengths=(("a1", None), ("a2", 0.4)))
    with pytest.raises(UnsetLengthError, match="'a1'"):
        _ = ha.regroup(without, zero=SYMMETRIC).values


def test_scara_with_any_inertia() -> None:
    """Links 3 and 4 with centres off their axes: link 4 brings four more with unknown lengths, two with known ones."""
    general = ha.regroup(ytheta.load("ha-scara"))
    assert (general.terms, general.counts, general.p) == ((1, 7, 9, 32), (1, 3, 1, 5), 18)
    assert literally(general.X[3], [I4, *(a * sympy.Symbol(f"link4.{m}") for a in (a2, a1) for m in ("mx", "my"))])
    known = ha.regroup(ytheta.load("ha-scara").numeric)
    assert known.counts == (1, 3, 1, 3)
    assert len(ha.base_parameters(ytheta.load("ha-scara"))) == sum(known.counts)


# --- any robot ------------------------------------------------------------------------------------------------------


def unknown_lengths(robot: Robot) -> Robot:
    """A robot whose every length is a symbol with its value; the first stands in a sum with a number, too."""
    values: dict[str, float] = {}

    def unknown(frame: Frame) -> Frame:
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
        replace(j, placement=unknown(j.placement), seat=unknown(j.seat)) for j in robot.numeric.merged.joints
    )
    return replace(robot.numeric.merged, joints=joints, markers=(), lengths=tuple(values.items()))


CASES = {
    "ha-scara": lambda: ytheta.load("ha-scara"),
    "lu-two-link": lambda: ytheta.load("lu-two-link"),
    "stanford": lambda: ytheta.load("stanford"),
    "lu-puma4, lengths unknown": lambda: unknown_lengths(ytheta.load("lu-puma4")),
    "fork": fork,
}


def states(count: int, samples: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (3, samples, count))


def torque(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """From the Newton-Euler regressor of all standard parameters, with friction and rotor inertia."""
    Y = ytheta.regressor(robot, formulation="newton_euler", backend="interpreter")
    return np.asarray(Y(q, qd, qdd) @ robot.theta)


@pytest.mark.parametrize("name", CASES)
def test_model_gives_the_torque(name: str) -> None:
    """(22), rotor inertia and friction included, against Newton-Euler; (23)-(25): nothing below the diagonal."""
    robot = CASES[name]()
    grouped = ha.regroup(robot, rotor_inertia=True)
    q, qd, qdd = states(len(robot.movable), 20)
    U = compile_graph(grouped.graph("differential"), backend="interpreter")(q, qd, qdd)
    tau = torque(robot, q, qd, qdd)
    scale = np.abs(tau).max()
    assert np.abs(U @ grouped.values - tau).max() < 1e-11 * scale  # rotations of fork are rational within 1e-13
    elsewhere = torque(replace(robot, gravity=(0.0, 0.0, 1.0)), q, qd, qdd)
    assert np.abs(U @ grouped.values - elsewhere).max() > 1e-3 * scale
    for i in range(len(grouped.counts)):
        assert not U[:, i, : grouped.starts[i]].any()


@pytest.mark.parametrize("name", ["ha-scara", "lu-two-link", "lu-puma4, lengths unknown", "fork"])
def test_properties_of_the_regrouping(name: str) -> None:
    """(15), (16), (17) and (26); and that one term less would not do."""
    robot = CASES[name]()
    grouped = ha.regroup(robot)
    rows = [{(p, powers): float(x) for p, powers, x in c.terms} for own in grouped.combinations for c in own]
    places = sorted({place for row in rows for place in row})
    X = np.array([[row.get(place, 0.0) for place in places] for row in rows])
    assert np.linalg.matrix_rank(X / np.abs(X).max(axis=1, keepdims=True)) == sum(grouped.counts)  # (15)
    q, qd, qdd = states(len(robot.movable), 3 * len(rows))
    functions = [f for own in grouped.functions for f in own]
    F = np.array(
        [grouped.ring.evaluate(functions, numeric_motion(*one), float) for one in zip(q, qd, qdd, strict=True)]
    )
    F = F - F.mean(axis=0)  # a constant is no function of the motion
    sizes = np.linalg.svd(F / np.linalg.norm(F, axis=0), compute_uv=False)
    assert sizes[-1] > 1e-4  # (16)
    assert all(count >= 1 for count in grouped.counts)  # (17)
    U = compile_graph(grouped.graph("differential"), backend="interpreter")(q, qd, qdd).reshape(-1, grouped.p)
    assert np.linalg.svd(U / np.linalg.norm(U, axis=0), compute_uv=False)[-1] > 1e-5  # (26)


@pytest.mark.parametrize("name", ["ha-scara", "lu-two-link", "fork"])
def test_integral_form(name: str) -> None:
    """(36) along a smooth motion whose rates keep their signs, by Gauss quadrature; no accelerations."""
    robot = CASES[name]()
    grouped = ha.regroup(robot, rotor_inertia=True)
    k = np.arange(1.0, len(robot.movable) + 1.0)
    sense = (-1.0) ** k

    def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        wave = k + t[:, None] * (1.0 + 0.3 * k)
        w = 1.0 + 0.3 * k
        return (
            sense * (0.8 * w * t[:, None] + 0.5 * np.sin(wave)),
            sense * w * (0.8 + 0.5 * np.cos(wave)),
            (-sense * w**2 * 0.5 * np.sin(wave)),
        )

    nodes, weights = np.polynomial.legendre.leggauss(60)
    t, weights = 1.0 + nodes, weights  # from 0 to 2 s
    q, qd, qdd = motion(t)
    ends = motion(np.array([0.0, 2.0]))
    boundary, integrand = (compile_graph(grouped.graph(f), backend="interpreter") for f in ("boundary", "integrand"))
    first, last = boundary(ends[0], ends[1])
    integral = np.tensordot(weights, integrand(q, qd), axes=1)
    expected = weights @ torque(robot, q, qd, qdd)
    np.testing.assert_allclose((last - first + integral) @ grouped.values, expected, rtol=1e-9, atol=1e-9)
    assert not np.allclose((last - first) @ grouped.values, expected, rtol=1e-3)
    assert [i.name for i in grouped.graph("boundary").inputs] == ["q", "qd"]


def test_model_in_machine_code() -> None:
    robot = ytheta.load("lu-puma4")
    grouped = ha.regroup(robot)
    q, qd, qdd = states(4, 50)
    U = compile_graph(grouped.graph("differential"))(q, qd, qdd)
    np.testing.assert_allclose(U @ grouped.values, torque(robot, q, qd, qdd), rtol=1e-9, atol=1e-9)
    signs = np.sign(qd[0]).astype(object)
    one = grouped.columns("differential", numeric_motion(q[0], qd[0], qdd[0]), signs)
    np.testing.assert_allclose(one.astype(float), U[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["lu-two-link", "lu-puma4", "fork"])
def test_written_down_or_joint_by_joint(name: str) -> None:
    """The expanded Lagrangian and the recursion that never writes it down find the same combinations."""
    robot = (CASES[name]() if name in CASES else ytheta.load(name)).numeric
    for rotors in (False, True):
        grouped = ha.regroup(robot, rotor_inertia=rotors)
        base = ha.base_parameters(robot, rotor_inertia=rotors)
        X = np.zeros((sum(grouped.counts), len(robot.parameter_names)))
        for row, each in zip(X, (c for own in grouped.combinations for c in own), strict=True):
            for parameter, _, x in each.terms:
                row[robot.parameter_names.index(parameter)] = float(x)
        assert len(X) == len(base)
        np.testing.assert_allclose(X[:, base.places] @ base.K, X, rtol=1e-10, atol=1e-10)


# --- base parameters ------------------------------------------------------------------------------------------------

COUNTS = {
    "rx90": (36, 40), "puma560": (36, 40), "puma560-mdh": (36, 40), "stanford": (33, 37), "ur10": (36, 40),
    "lu-two-link": (6, 7), "lu-puma4": (22, 24), "ha-scara": (8, 11), "panda": (43, 48), "iiwa14": (43, 48),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_catalog(name: str) -> None:
    robot = ytheta.load(name)
    for rotors, count in zip((False, True), COUNTS[name], strict=True):
        base = ha.base_parameters(robot, rotor_inertia=rotors)
        assert (base.method, len(base)) == ("ha", count)
    Y = base_checks.regressors(robot, base.selected)
    assert base_checks.explains(Y, base, base.K)
    Y_b = Y[:, :, base.places].reshape(-1, count)
    assert np.linalg.matrix_rank(Y_b / np.linalg.norm(Y_b, axis=0)) == count


@pytest.mark.parametrize("name", ["lu-puma4", "stanford"])
def test_complete_and_minimal(name: str) -> None:
    robot = ytheta.load(name)
    assert base_checks.is_complete_and_minimal(robot, ha.base_parameters(robot))


def test_published_counts(shared_data: Path) -> None:
    for row in base_checks.published_counts(shared_data):
        assert len(ha.base_parameters(row.robot)) == row.rigid, row.name
        if row.rigid < 10:  # the others are in the catalog
            assert len(ha.base_parameters(row.robot, rotor_inertia=True)) == row.with_rotors, row.name


def test_torque_of_base_parameters() -> None:
    """Y theta = Y_b beta for the robot's own values."""
    robot = ytheta.load("rx90")
    base = ha.base_parameters(robot)
    theta = np.random.default_rng(3).normal(size=len(robot.parameter_names))
    theta[[name not in base.selected for name in robot.parameter_names]] = 0.0
    Y = base_checks.regressors(robot, base.selected)
    np.testing.assert_allclose(Y[:, :, base.places] @ (base.K @ theta), Y @ theta, rtol=1e-10, atol=1e-10)
    assert not np.allclose(Y[:, :, base.places] @ theta[base.places], Y @ theta, rtol=1e-3)


@settings(max_examples=6)
@given(robots(loops=False, symbols=False), st.booleans())
def test_random_trees(robot: Robot, rotors: bool) -> None:
    assume(ha.accepts(robot) is None)
    seen, unseen = ytheta.base_parameters(robot, method="qr", rotor_inertia=rotors).gap or (1.0, 0.0)
    assume(seen > 1e-4 and unseen < 1e-9)  # a tiny angle or length is no fair question to a rank
    base = ha.base_parameters(robot, rotor_inertia=rotors)
    assert len(base) == base_checks.rank(robot, base.selected)
    Y = base_checks.regressors(robot, base.selected)
    # What misses a quarter turn or zero by less than NOISE is taken as such: coefficients move by that over the least
    # that is seen.
    tolerance = 10.0 * exact_geometry.NOISE / seen
    assert base_checks.explains(Y, base, base.K, tolerance=tolerance)
    wrong = base.K + 1e-3 * (np.arange(base.K.shape[1]) == base.places[0])
    assert not base_checks.explains(Y, base, wrong, tolerance=tolerance)  # the twin


@pytest.mark.parametrize("name", ["ha-scara", "stanford", "ur10"])
def test_frames_do_not_count(name: str) -> None:
    """Turned mounting and link frames at odd angles hide every coincidence of the axes; the number stays."""
    robot = ytheta.load(name).numeric
    rng = np.random.default_rng(1)
    frames = {
        link.name: Frame.shift(*rng.uniform(-0.3, 0.3, 3).tolist()) @ Frame.from_rpy(*rng.uniform(-3, 3, 3).tolist())
        for link in robot.links
    }
    moved = change_link_frames(robot, frames)
    base = ha.base_parameters(moved)
    assert len(base) == COUNTS[name][0]
    assert base_checks.is_complete_and_minimal(moved, base)


def test_lengths_may_have_any_name() -> None:
    """Such as those of the functions that stand beside them."""
    scara = unknown_lengths(ytheta.load("ha-scara"))
    names = {"l1": "c1", "l2": "qd2"}

    def renamed(frame: Frame) -> Frame:
        values = {old: symbol(new) for old, new in names.items()}
        x, y, z = (e.evaluate(values) if isinstance(e, Length) else e for e in frame.translation)
        return Frame((x, y, z), frame.rotation)

    joints = tuple(replace(joint, seat=renamed(joint.seat)) for joint in scara.joints)
    other = replace(scara, joints=joints, lengths=tuple((names[old], value) for old, value in scara.lengths))
    assert ha.regroup(other).counts == ha.regroup(scara).counts
    np.testing.assert_array_equal(ha.regroup(other).values, ha.regroup(scara).values)


def slides(*angles: float) -> Robot:
    """Between two axes that turn some that slide, each tilted against the one before."""
    kinds = [JointKind.REVOLUTE, *[JointKind.PRISMATIC] * (len(angles) - 1), JointKind.REVOLUTE]
    placements = [Frame(), *(Frame.shift(0.2, 0.1) @ Frame.turn((1.0, 0.0, 0.0), angle) for angle in angles)]
    joints = tuple(
        Joint(f"joint{k + 1}", kind, f"link{k}", f"link{k + 1}", placement=placement)
        for k, (kind, placement) in enumerate(zip(kinds, placements, strict=True))
    )
    return Robot("slides", tuple(Link(f"link{k}") for k in range(len(joints) + 1)), joints)


def test_slides_at_odd_angles() -> None:
    """Slides between two parallel axes, gravity along them: they are parallel whatever the angles in between."""
    for angles, count in (((0.7, -0.7), 7), ((0.7, -0.3, -0.4), 10)):
        base = ha.base_parameters(slides(*angles))
        assert len(base) == base_checks.rank(slides(*angles), base.selected) == count
    assert len(ha.base_parameters(slides(0.7, -0.3, -0.5))) > 10


def test_regrouping_in_frames_that_hide_the_axes() -> None:
    """Three angles that add up to nothing leave 1e-12 when each is made rational."""
    with pytest.raises(InputError, match=r"terms would be left where \d+ are enough; regroup ytheta.to_modified_dh"):
        ha.regroup(slides(0.7, -0.3, -0.4))
    assert sum(ha.regroup(slides(0.7, -0.7)).counts) == 7


# --- what must fail ---------------------------------------------------------------------------------------------------


def planar(*, gravity: tuple[float, float, float], tilt: float = 0.0) -> Robot:
    place = Frame.shift(0.4) @ Frame.turn((1.0, 0.0, 0.0), tilt)
    joints = (
        Joint("joint1", JointKind.REVOLUTE, "base", "link1"),
        Joint("joint2", JointKind.REVOLUTE, "link1", "link2", placement=place),
    )
    return Robot("planar", tuple(map(Link, ("base", "link1", "link2"))), joints, gravity=gravity)


def test_gravity_counts() -> None:
    assert len(ha.base_parameters(planar(gravity=(0.0, -9.81, 0.0)))) == 6
    assert len(ha.base_parameters(planar(gravity=(0.0, 0.0, -9.81)))) == 4
    assert len(ha.base_parameters(planar(gravity=(0.0, 0.0, 0.0)))) == 4
    assert ha.regroup(planar(gravity=(0.0, 0.0, 0.0))).counts == (1, 3)


def test_circle_must_be_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """With sin² kept beside 1 and cos² there are more terms, and other functions than those printed."""
    monkeypatch.setattr(energy_maps, "normal_form", _not_reduced)
    written_out = ha.regroup(ytheta.load("ha-scara"), zero=SYMMETRIC)
    assert sum(written_out.terms) > 25
    assert not literally(written_out.F, PRINTED_F)


def _not_reduced(one: energy_maps.Powers, other: energy_maps.Powers) -> dict[energy_maps.Powers, int]:
    return {(one[0] + other[0], one[1] + other[1], one[2] + other[2]): 1}


def test_axes_that_are_nearly_parallel() -> None:
    """Within 1e-9 rad they are; beyond, exact arithmetic tells them apart where no experiment would."""
    tilted = {tilt: len(ha.base_parameters(planar(gravity=(0.0, 0.0, -9.81), tilt=tilt))) for tilt in (1e-10, 1e-8)}
    assert tilted == {1e-10: 4, 1e-8: 8}


def test_who_is_accepted() -> None:
    assert ha.accepts(ytheta.load("rx90")) is None
    walker = ytheta.load("walker")
    for door in (ha.regroup, ha.base_parameters):
        with pytest.raises(InputError, match=r"'walker' has closed loops.*method qr takes it"):
            door(walker)
    geared = replace(fork(), couplings=(Coupling("swing", (("turn", 0.5),)),), actuated=())
    assert "joint 'swing' coupled" in str(ha.accepts(geared))
    assert "no moving joint" in str(ha.accepts(robot_without_joints()))
    unset = replace(ytheta.load("ha-scara"), lengths=(("a1", None), ("a2", 0.4)))
    assert "'a1'; set it with robot.with_lengths, or use method lin" in str(ha.accepts(unset))
    assert sum(ha.regroup(unset).counts) == 10
    with pytest.raises(UnknownNameError, match=r"no parameter 'link1.mxx'; did you mean 'link1.mx'"):
        ha.regroup(ytheta.load("rx90"), zero=["link1.mxx"])


# --- exact arithmetic -------------------------------------------------------------------------------------------------


@given(st.floats(-3.2, 3.2), st.floats(-3.2, 3.2), st.floats(-3.2, 3.2))
def test_rational_rotations(roll: float, pitch: float, yaw: float) -> None:
    rough = np.array(Frame.from_rpy(roll, pitch, yaw).rotation)
    R = exact_geometry.rotation(rough)
    assert (np.eye(3, dtype=int) == R.T @ R).all()
    np.testing.assert_allclose(R.astype(float), rough, atol=4e-9)  # within NOISE of a quarter turn it is one
    u = exact_geometry.direction(rough[:, 0])
    assert sum(x * x for x in u) == 1


def test_quarter_turns_are_exact_and_others_near() -> None:
    assert exact_geometry.circle_point(np.cos(np.pi / 2), np.sin(np.pi / 2)) == (0, 1)
    c, s = exact_geometry.circle_point(np.cos(2.5), np.sin(2.5))
    assert c * c + s * s == 1
    np.testing.assert_allclose([float(c), float(s)], [np.cos(2.5), np.sin(2.5)], atol=1e-13)
    assert exact_geometry.fraction(0.4318) == Fraction(2159, 5000)
    assert exact_geometry.fraction(0.1 + 0.2) == Fraction(3, 10)


def test_bases_of_rows() -> None:
    half = Fraction(1, 2)
    rows = np.array([[1, 2, 3], [2, 4, 6], [half, 1, 2]], dtype=object)
    assert row_basis(rows).tolist() == [[1, 2, 0], [0, 0, 1]]
    assert row_basis(rows[:0]).shape == (0, 3)
    span = RowSpan()
    a, b = ((((0, ()), Fraction(1)), ((1, ()), Fraction(2))), (((1, ()), Fraction(3)),))
    assert span.add(a)
    assert span.add(b)
    assert not span.add((((0, ()), Fraction(1)),))
    assert span.solve((((0, ()), Fraction(1)),)) == {0: 1, 1: Fraction(-2, 3)}
    with pytest.raises(ArithmeticError, match="not in the span"):
        span.solve((((2, ()), Fraction(1)),))


def test_blocks_follow_each_other(scara: Regrouping) -> None:
    assert [b - a - 2 for a, b in pairwise(scara.starts)] == list(scara.counts)
