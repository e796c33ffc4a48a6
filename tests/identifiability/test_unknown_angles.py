"""The regrouped Lagrangian with unknown lengths and twist angles: torques of Pinocchio, and no needless parameter."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

import ytheta as yt
from tests.support.pinocchio_peer import peer
from ytheta.errors import InputError, UnsetAngleError
from ytheta.files.symbols import Angle, symbol
from ytheta.identifiability import ha
from ytheta.identifiability.exact import trigonometric_ring
from ytheta.identifiability.exact.trigonometric_ring import TrigonometricRing
from ytheta.identifiability.regrouping import LagrangianCombination, Regrouping
from ytheta.native import compile_graph
from ytheta.papers.ha1989 import SYMMETRIC
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

X_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def make_arm(kinds: str, *, seed: int, standard: bool) -> Robot:
    """An arm of revolute (R) and prismatic (P) joints with all lengths and twists of its DH rows unknown.

    Letters in lower case have a constant theta (and, in modified rows, gamma), at general angles.
    """
    rng = np.random.default_rng(seed)
    links, joints, lengths, angles = [Link("base")], [], [], []
    for k, kind in enumerate(kinds, start=1):
        points = rng.uniform(-0.5, 0.5, (4, 3)).tolist()
        body = sum((Inertia.point_mass(float(rng.uniform(0.2, 2.0)), (x, y, z)) for x, y, z in points), Inertia())
        links.append(Link(f"link{k}", body))
        is_revolute = kind in "Rr"
        lengths += [f"a{k}", *([f"d{k}"] if is_revolute else [])]
        angles.append(f"alpha{k}")
        shift = Frame.shift(symbol(f"a{k}"), 0.0, symbol(f"d{k}") if is_revolute else 0.0)
        twist = Frame.turn(X_AXIS, Angle(f"alpha{k}"))
        theta, gamma = (Frame.turn(Z_AXIS, angle if kind in "rp" else 0.0) for angle in (0.4, -0.7))
        joints.append(
            Joint(
                f"joint{k}",
                JointKind.REVOLUTE if is_revolute else JointKind.PRISMATIC,
                links[-2].name,
                links[-1].name,
                placement=Frame() if standard else gamma @ twist @ shift @ theta,
                seat=theta @ shift @ twist if standard else Frame(),
            )
        )
    return Robot(
        kinds,
        tuple(links),
        tuple(joints),
        gravity=(0.3, -0.5, -9.7),
        lengths=tuple((name, None) for name in lengths),
        angles=tuple((name, None) for name in angles),
    )


ARMS = {
    "RRP": lambda: make_arm("RRP", seed=1, standard=True),
    "RPR, modified": lambda: make_arm("RPR", seed=2, standard=False),
    "prR, general thetas": lambda: make_arm("prR", seed=3, standard=True),
    "rRr, general thetas, modified": lambda: make_arm("rRr", seed=4, standard=False),
}


def draw_geometry(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot with random values of all lengths and angles."""
    lengths = {name: float(rng.uniform(-1.0, 1.0)) for name, _ in robot.lengths}
    return robot.with_lengths(**lengths).with_angles(**{n: float(rng.uniform(-3.0, 3.0)) for n, _ in robot.angles})


def draw_states(robot: Robot, samples: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-2.0, 2.0, (3, samples, len(robot.movable)))


def compute_U(regrouping: Regrouping, states: np.ndarray) -> np.ndarray:
    kernel = compile_graph(regrouping.make_graph("differential"), backend="interpreter")
    return np.asarray(kernel(*states))


def compute_values(regrouping: Regrouping, robot: Robot) -> np.ndarray:
    """X for the geometry of another robot."""
    return replace(regrouping, robot=robot).values


@pytest.fixture(scope="module", params=ARMS)
def regrouping(request: pytest.FixtureRequest) -> Regrouping:
    return yt.regroup_lagrangian(ARMS[request.param]())


def spoil_one_cosine(regrouping: Regrouping) -> Regrouping:
    """One power of one cosine is too large by one, in the first term that has a cosine and a factor of order one."""
    rows = [list(row) for row in regrouping.combinations]
    i, j, k = next(
        (i, j, k)
        for i, row in enumerate(rows)
        for j, combination in enumerate(row)
        for k, (_, powers, factor) in enumerate(combination.terms)
        if any(name.startswith("cos") for name, _ in powers) and abs(factor) > 0.1
    )
    terms = list(rows[i][j].terms)
    parameter, powers, factor = terms[k]
    wrong = tuple((name, power + 1 if name.startswith("cos") else power) for name, power in powers)
    terms[k] = (parameter, wrong, factor)
    rows[i][j] = LagrangianCombination(tuple(terms))
    return replace(regrouping, combinations=tuple(tuple(row) for row in rows))


def test_torques_for_any_geometry(regrouping: Regrouping) -> None:
    """One U, which depends on motion only, and X for the geometry: the torques of Pinocchio. Twin: a wrong power."""
    robot, rng = regrouping.robot, np.random.default_rng(7)
    states = draw_states(robot, 8, rng)
    U, wrong = compute_U(regrouping, states), spoil_one_cosine(regrouping)
    for _ in range(10):
        actual = draw_geometry(robot, rng)
        oracle = peer(actual)
        tau = np.array([oracle.torque(*state) for state in zip(*states, strict=True)])
        scale = np.abs(tau).max()
        assert np.abs(U @ compute_values(regrouping, actual) - tau).max() < 1e-11 * scale  # rational angles: 2e-12
        assert np.abs(U @ compute_values(wrong, actual) - tau).max() > 1e-6 * scale


def test_no_model_parameter_can_be_left_out(regrouping: Regrouping) -> None:
    """(26) and (27): the columns of U and the X_ij are independent, over motions and over geometries and inertias."""
    robot, rng = regrouping.robot, np.random.default_rng(8)
    U = compute_U(regrouping, draw_states(robot, 2 * regrouping.p, rng)).reshape(-1, regrouping.p)
    assert np.linalg.svd(U / np.linalg.norm(U, axis=0), compute_uv=False)[-1] > 1e-3
    assert compute_rank(regrouping, rng) == sum(regrouping.counts)


def compute_rank(regrouping: Regrouping, rng: np.random.Generator) -> int:
    """The rank of all X_ij for random inertias and geometries."""
    samples = 3 * sum(regrouping.counts)
    symbols: dict[str, np.ndarray] = {name: rng.normal(size=samples) for name in regrouping.robot.parameter_names}
    symbols |= {name: rng.normal(size=samples) for name in regrouping.ring.lengths}
    for name in regrouping.ring.angles:
        angles = rng.uniform(-3.0, 3.0, samples)
        symbols |= {f"cos({name})": np.cos(angles), f"sin({name})": np.sin(angles)}

    def compute_term(parameter: str, powers: tuple[tuple[str, int], ...], factor: Fraction) -> np.ndarray:
        return float(factor) * symbols[parameter] * math.prod(symbols[name] ** power for name, power in powers)

    terms = [np.array([compute_term(*term) for term in x.terms]) for row in regrouping.combinations for x in row]
    X = np.array([each.sum(axis=0) / np.linalg.norm(each) for each in terms])
    return int(np.linalg.matrix_rank(X, tol=1e-6))


def test_squared_sines_of_unknown_angles_must_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """If sin² is kept, dependent combinations count as independent, and the number is not minimal."""
    robot = ARMS["RPR, modified"]()
    assert yt.regroup_lagrangian(robot).counts == (3, 7, 20)
    monkeypatch.setattr(TrigonometricRing, "normalize", lambda _, value: value)
    expanded = yt.regroup_lagrangian(robot)
    assert sum(expanded.counts) > 30
    assert compute_rank(expanded, np.random.default_rng(9)) == 30


def test_a_tilted_axis() -> None:
    """One joint whose axis is tilted by alpha: the height of a point is sin(alpha) (x sin(q) + y cos(q)) + constant."""
    joint = Joint("joint1", JointKind.REVOLUTE, "base", "link1", placement=Frame.turn(X_AXIS, Angle("alpha")))
    robot = Robot("tilted", (Link("base"), Link("link1")), (joint,), angles=(("alpha", None),))
    regrouping = yt.regroup_lagrangian(robot)
    q, qd, alpha = sympy.Symbol("q1", real=True), sympy.Symbol("qd1", real=True), sympy.Symbol("alpha")
    mx, my, Izz = (sympy.Symbol(f"link1.{name}") for name in ("mx", "my", "Izz"))
    found = dict(zip(regrouping.X[0], regrouping.F[0], strict=True))
    g = sympy.Rational(981, 100)
    expected = {Izz: qd**2 / 2, sympy.sin(alpha) * mx: -g * sympy.sin(q), sympy.sin(alpha) * my: -g * sympy.cos(q)}
    assert found == expected
    assert regrouping.combinations[0][0] == LagrangianCombination((("link1.Izz", (), Fraction(1)),))
    assert ("link1.my", (("sin(alpha)", 1),), Fraction(1)) in [x.terms[0] for x in regrouping.combinations[0]]


def with_named_angles(robot: Robot) -> Robot:
    """The robot with each rotation about x, of a DH row, as a symbolic angle that has its value."""
    values: dict[str, float] = {}

    def name_twist(frame: Frame) -> Frame:
        roll, pitch, yaw = frame.rpy
        if frame.rotation != Frame.turn(X_AXIS, roll).rotation or (pitch, yaw) != (0.0, 0.0):
            return frame
        values[f"alpha{len(values) + 1}"] = roll
        return Frame(frame.translation) @ Frame.turn(X_AXIS, Angle(f"alpha{len(values)}"))

    joints = tuple(replace(j, placement=name_twist(j.placement), seat=name_twist(j.seat)) for j in robot.joints)
    return replace(robot, joints=joints, angles=tuple(values.items()))


def test_known_angles_change_nothing() -> None:
    """Named angles of 0 and pi as numbers: SCARA, 25 terms → 6, p = 14. Unknown ones need more model parameters."""
    scara = yt.load("ha-scara")
    named = with_named_angles(scara)
    assert len(named.symbolic_angles) == 8
    assert named.numeric_in_angles == scara
    known = yt.regroup_lagrangian(named.numeric_in_angles, zero=SYMMETRIC)
    assert (known.terms, known.counts, known.p) == ((1, 7, 7, 10), (1, 3, 1, 1), 14)
    assert known.X == yt.regroup_lagrangian(scara, zero=SYMMETRIC).X
    arm = make_arm("RRR", seed=5, standard=True)
    assert yt.regroup_lagrangian(arm).counts == (3, 14, 64)
    assert len(yt.base_parameters(draw_geometry(arm, np.random.default_rng(0)), method="qr")) == 17
    two = with_named_angles(yt.load("lu-two-link"))
    unknown = yt.regroup_lagrangian(two)
    assert unknown.p > yt.regroup_lagrangian(yt.load("lu-two-link")).p
    states = draw_states(two, 5, np.random.default_rng(1))
    tau = np.array([peer(two).torque(*state) for state in zip(*states, strict=True)])
    np.testing.assert_allclose(compute_U(unknown, states) @ unknown.values, tau, rtol=0, atol=1e-11 * abs(tau).max())


def test_robots_with_named_angles_are_those_with_numbers() -> None:
    """Base parameters of every method, to the last digit, with the same independent parameters; torques; caches."""
    named = draw_geometry(make_arm("RR", seed=5, standard=True), np.random.default_rng(3))
    named = named.with_angles(alpha1=math.pi, alpha2=math.pi / 2)
    plain = named.numeric_in_angles
    assert plain.symbolic_angles == frozenset()
    for method in ("lin", "ha", "qr"):
        base, other = (yt.base_parameters(robot, method=method) for robot in (plain, named))
        assert other.expressions == base.expressions
        np.testing.assert_array_equal(other.K, base.K)
    states = draw_states(plain, 10, np.random.default_rng(2))
    tau, other_tau, tilted_tau = (
        yt.inverse_dynamics(robot, backend="interpreter")(*states)
        for robot in (plain, named, named.with_angles(alpha1=1.5))
    )
    np.testing.assert_array_equal(other_tau, tau)
    assert abs(tilted_tau - tau).max() > 1e-3
    base = yt.base_parameters(named)
    assert len(base) < len(yt.base_parameters(named.with_angles(alpha1=1.5)))
    base.check_robot(named.with_angles(alpha1=math.pi))
    with pytest.raises(InputError, match="lengths, gravity or mounting differ"):
        base.check_robot(named.with_angles(alpha1=1.5))


NEEDS_NUMBERS: dict[str, Any] = {
    "regressor": yt.regressor,
    "inverse_dynamics": yt.inverse_dynamics,
    "forward_dynamics": yt.forward_dynamics,
    "mass_matrix": yt.mass_matrix,
    "gravity": yt.gravity,
    "to_modified_dh": yt.to_modified_dh,
    "link_poses": lambda robot: yt.link_poses(robot, np.zeros(3)),
    "base_parameters": yt.base_parameters,
    "lin": lambda robot: yt.base_parameters(robot, method="lin"),
    "ha": lambda robot: yt.base_parameters(robot, method="ha"),
    "qr": lambda robot: yt.base_parameters(robot, method="qr"),
    "values": lambda robot: yt.regroup_lagrangian(robot).values,
}


@pytest.mark.parametrize("name", NEEDS_NUMBERS)
def test_an_unset_angle_is_named_where_numbers_are_needed(name: str) -> None:
    arm = ARMS["RRP"]()
    unset = arm.with_lengths(**{n: 0.3 for n, _ in arm.lengths}).with_angles(alpha1=0.1, alpha3=0.2)
    with pytest.raises(InputError, match=r"'alpha2'.*(still work|keeps it as a symbol)") as refusal:
        NEEDS_NUMBERS[name](unset)
    assert "\n" not in str(refusal.value)


def test_what_works_without_the_angle() -> None:
    robot = make_arm("RR", seed=6, standard=False)
    with pytest.raises(UnsetAngleError):
        _ = robot.numeric_in_angles
    assert repr(yt.regroup_lagrangian(robot)) == "Regrouping(21 model parameters of 'RR', 20 terms before)"
    inspection = yt.inspect(robot)
    assert inspection.base_count is None
    assert "the angles 'alpha1', 'alpha2' have no values; give them some with --angle" in " ".join(
        str(inspection).split()
    )


def test_which_angles_are_unknown() -> None:
    """All symbolic ones, those that are named, or those without a value; known ones are numbers in U and X."""
    arm = draw_geometry(make_arm("RRP", seed=1, standard=True), np.random.default_rng(4))
    states = draw_states(arm, 6, np.random.default_rng(5))
    tau = np.array([peer(arm).torque(*state) for state in zip(*states, strict=True)])
    for angles, lengths in ((["alpha2"], []), (["alpha1", "alpha3"], ["a1", "d2"]), ([], ["a2"])):
        some = yt.regroup_lagrangian(arm, angles=angles, lengths=lengths)
        assert some.ring.constants == (*lengths, *(f"{f}({name})" for name in angles for f in ("cos", "sin")))
        np.testing.assert_allclose(compute_U(some, states) @ some.values, tau, rtol=0, atol=1e-11 * abs(tau).max())
    unset = replace(arm, angles=tuple((name, None if name == "alpha2" else value) for name, value in arm.angles))
    assert yt.regroup_lagrangian(unset, lengths=["a1"]).ring.constants == ("a1", "cos(alpha2)", "sin(alpha2)")
    with pytest.raises(InputError, match="the angle 'alpha2' has no value; add it to the unknown angles"):
        yt.regroup_lagrangian(unset, angles=["alpha1"])
    with pytest.raises(InputError, match="has no angle 'a1'; choose from: alpha1"):
        yt.regroup_lagrangian(unset, angles=["a1"])
    model = yt.model_parameters(unset, method="ha")
    assert isinstance(model, Regrouping)
    assert model.ring.constants == ("cos(alpha2)", "sin(alpha2)")
    everything = yt.model_parameters(arm, unknown_geometry=True)
    assert isinstance(everything, Regrouping)
    assert everything.ring.angles == ("alpha1", "alpha2", "alpha3")
    assert not everything.beta[:10].any()


def test_printed_combinations() -> None:
    joints = (
        Joint(
            "joint1",
            JointKind.REVOLUTE,
            "base",
            "link1",
            seat=Frame.shift(symbol("a1")) @ Frame.turn(X_AXIS, Angle("alpha1")),
        ),
        Joint("joint2", JointKind.REVOLUTE, "link1", "link2"),
    )
    links = (Link("base"), Link("link1"), Link("link2"))
    robot = Robot("tilted", links, joints, lengths=(("a1", None),), angles=(("alpha1", None),))
    regrouping = yt.regroup_lagrangian(robot, friction=())
    assert "a1·cos(alpha1)·link2.mx + sin(alpha1)·link2.Iyz" in regrouping.expressions
    assert ("link2.mx", 1) in regrouping.leading_terms  # a1 is a length, cos(alpha1) has no unit
    assert max(power for _, power in regrouping.leading_terms) == 2
    assert "unknown: a1, alpha1" in " ".join(str(regrouping).split())
    assert regrouping.to_dict()["unknown_angles"] == ["alpha1"]
    assert regrouping.to_dict()["parameters"][0]["value"] is None


def test_too_many_model_parameters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every unknown twist multiplies their number; the message says so before time and memory run out."""
    arm = make_arm("RRR", seed=1, standard=True)
    parameters = sum(yt.regroup_lagrangian(arm).counts)
    monkeypatch.setattr(ha, "MAX_MODEL_PARAMETERS", parameters)
    yt.regroup_lagrangian(arm)
    monkeypatch.setattr(ha, "MAX_MODEL_PARAMETERS", parameters - 1)
    unknown = "a1, a2, a3, d1, d2, d3, alpha1, alpha2, alpha3 are unknown; give values to some of the angles"
    with pytest.raises(InputError, match=f"'RRR' has more than {parameters - 1} model parameters if {unknown}"):
        yt.regroup_lagrangian(arm)
    monkeypatch.setattr(trigonometric_ring, "MAX_TERMS", 500)
    with pytest.raises(InputError, match=f"Lagrangian of robot 'RRR' has more than 500 terms if {unknown}"):
        yt.regroup_lagrangian(arm)
    known = draw_geometry(arm, np.random.default_rng(1))
    assert sum(yt.regroup_lagrangian(known, lengths=(), angles=()).counts) < parameters  # bounds are for unknown ones
