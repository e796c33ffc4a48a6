"""Walker's recursion: equal to Newton-Euler and Pinocchio, and to his equations as printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import ytheta
from tests.support.example_robots import urdf
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from tests.support.walker_tree import printed_torque
from ytheta.dynamics.formulations import newton_euler, spatial_tree
from ytheta.dynamics.formulations.spatial_tree import add_forces, regressor, traverse, walker_regressor
from ytheta.dynamics.mechanism import Motion, build_mechanism, casadi_motion, numeric_motion, sympy_motion
from ytheta.dynamics.vectors import array
from ytheta.native.graph import Input, trace
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.reading import catalog
from ytheta.robot.robot import Robot

ROUNDING_TOLERANCE = 1e-10  # both recursions accumulate rounding over ten links


def draw_state(joints: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Random q, qd, v, vd."""
    q, qd, v, vd = np.random.default_rng(seed).uniform(-1.5, 1.5, (4, joints))
    return q, qd, v, vd


def draw_motions(joints: int, seed: int = 0) -> list[Motion]:
    """An ordinary motion and one with a reference velocity."""
    q, qd, v, vd = draw_state(joints, seed)
    return [numeric_motion(q, qd, vd), numeric_motion(q, qd, vd, v)]


def close(a: np.ndarray, b: np.ndarray) -> bool:
    a, b = a.astype(float), b.astype(float)
    return bool(np.abs(a - b).max(initial=0.0) <= ROUNDING_TOLERANCE * (1.0 + np.abs(b).max(initial=0.0)))


@pytest.mark.parametrize("name", catalog.list_names())
def test_equals_newton_euler_on_the_catalog(name: str) -> None:
    mech = build_mechanism(ytheta.load(name))
    for motion in draw_motions(mech.joints):
        assert close(regressor(mech, motion), newton_euler.regressor(mech, motion))


@settings(max_examples=30)
@given(robots(loops=False, symbols=False), st.integers(0, 1000))
def test_equals_newton_euler_on_random_trees(robot: Robot, seed: int) -> None:
    mech = build_mechanism(robot)
    for motion in draw_motions(mech.joints, seed):
        assert close(regressor(mech, motion), newton_euler.regressor(mech, motion))


@pytest.mark.parametrize(
    "name", ["ur5_robot.urdf", "panda.urdf", "kinova.urdf", "double_pendulum.urdf", "hyq_no_sensors.urdf"]
)
def test_equals_newton_euler_and_pinocchio_on_real_robots(name: str) -> None:
    robot = ytheta.load(urdf(name))
    mech = build_mechanism(robot)
    for motion in draw_motions(mech.joints):
        assert close(regressor(mech, motion), newton_euler.regressor(mech, motion))
    q, qd, _, qdd = draw_state(mech.joints)
    assert close(regressor(mech, numeric_motion(q, qd, qdd)), peer(robot).regressor(q, qd, qdd))


@pytest.mark.parametrize("name", ["puma560", "walker"])
def test_forces_of_links_with_known_parameters_are_added(name: str) -> None:
    """The same recursion with the force of each link in place of its ten columns gives the torque."""
    mech = build_mechanism(ytheta.load(name))
    theta = np.random.default_rng(4).normal(size=(len(mech.bodies), 10))
    for motion in draw_motions(mech.joints):
        forces = traverse(mech, motion, lambda link, m: (m.inertial_columns @ theta[link])[:, None], add_forces)
        torque = np.array([force.row[0] for force in sorted(forces, key=lambda force: force.joint)])
        assert close(torque, walker_regressor(mech, motion) @ theta.ravel())
        assert not close(torque, walker_regressor(mech, motion) @ theta[::-1].ravel())


def test_loads_have_their_own_columns() -> None:
    bucket = Inertia.about_center(3.0, (0.1, 0.2, 0.3), ((0.2, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.4)))
    robot = ytheta.load("walker").with_load(bucket, name="bucket", on="link2", frame=Frame.from_rpy(0.1, 0.2, 0.3))
    mech = build_mechanism(robot)
    place = 10 * [body.name for body in mech.bodies].index("bucket")
    for motion in draw_motions(mech.joints):
        Y = regressor(mech, motion)
        assert close(Y, newton_euler.regressor(mech, motion))
        assert np.abs(Y[:2, place : place + 10].astype(float)).max() > 0.1


@pytest.mark.parametrize("fault", ["gravity flipped", "gravity as printed", "columns swapped"])
def test_faults_are_detected(fault: str) -> None:
    mech = build_mechanism(ytheta.load("puma560"))
    motion = draw_motions(mech.joints)[0]
    expected = newton_euler.regressor(mech, motion)
    faulty = replace(mech, gravity=-mech.gravity)
    Y = regressor(faulty if "flipped" in fault else mech, motion)
    if fault == "columns swapped":
        Y[:, [31, 32]] = Y[:, [32, 31]]
    if fault == "gravity as printed":  # (0, 0, -9.8, 0, 0, 0): no weight, but a rotating base
        Y = regressor(replace(mech, gravity=mech.gravity * 0), motion)
    assert not close(Y, expected)


def test_the_traced_graph_has_the_structure_of_newton_euler() -> None:
    import casadi

    mech = build_mechanism(ytheta.load("walker"))
    symbols = [casadi.SX.sym(name, mech.joints) for name in ("q", "qd", "qdd")]
    inputs = [(Input(name, mech.joints), s) for name, s in zip(("q", "qd", "qdd"), symbols, strict=True)]
    graph = trace("regressor", inputs, regressor(mech, casadi_motion(*symbols)))
    peer_graph = trace("regressor", inputs, newton_euler.regressor(mech, casadi_motion(*symbols)))
    q, qd, _, qdd = draw_state(mech.joints)
    flat = np.zeros(graph.size)
    flat[list(graph.places)] = np.array(graph.function(q, qd, qdd)).ravel()
    assert close(flat.reshape(graph.shape), regressor(mech, numeric_motion(q, qd, qdd)))
    assert graph.places == peer_graph.places


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar"])
def test_symbolic_equations_give_the_numeric_regressor(name: str) -> None:
    """Equations with SymPy symbols for the motion and for a length give the numeric regressor when evaluated."""
    mech = build_mechanism(ytheta.load(name))
    length = mech.bodies[1].p[0]
    first, second, *others = mech.bodies
    l1 = sympy.Symbol("l1")
    symbolic = replace(second, p=array([l1, *second.p[1:]]))
    symbols = sympy_motion(mech.joints, reference=True)
    Y = regressor(replace(mech, bodies=(first, symbolic, *others)), symbols)
    q, qd, v, vd = draw_state(mech.joints)
    values = {l1: length}
    for vector, numbers in ((symbols.q, q), (symbols.qd, qd), (symbols.v, v), (symbols.vd, vd)):
        values |= dict(zip(vector, numbers, strict=True))
    printed = np.vectorize(lambda entry: float(sympy.sympify(entry).subs(values)), otypes=[float])(Y)
    assert close(printed, newton_euler.regressor(mech, numeric_motion(q, qd, vd, v)))
    assert l1 in Y[0, 10].free_symbols


# --- Walker's own form -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["walker", "stanford", "puma560", "palletiser"])
def test_walkers_form_equals_his_printed_equations(name: str) -> None:
    mech = build_mechanism(ytheta.load(name))
    theta = np.random.default_rng(5).normal(size=10 * len(mech.bodies))
    ordinary, reference = draw_motions(mech.joints)
    for motion in (ordinary, reference):
        assert close(walker_regressor(mech, motion) @ theta, printed_torque(mech, motion, theta))
    assert not close(regressor(mech, reference) @ theta, printed_torque(mech, reference, theta))
    assert close(regressor(mech, ordinary) @ theta, printed_torque(mech, ordinary, theta))


@pytest.mark.parametrize("name", ["walker", "panda"])
def test_both_forms_give_the_same_adaptation(name: str) -> None:
    """(25) and the step before (27): (qd - v)^T Y is equal for every parameter; the torques are not."""
    mech = build_mechanism(ytheta.load(name))
    motion = draw_motions(mech.joints)[1]
    symmetric, walker = regressor(mech, motion).astype(float), walker_regressor(mech, motion).astype(float)
    assert close((motion.qd - motion.v) @ symmetric, (motion.qd - motion.v) @ walker)
    assert not close(motion.qd @ symmetric, motion.qd @ walker)


def test_accepts() -> None:
    walker = ytheta.load("walker")
    assert spatial_tree.explain_refusal(walker) is None
    assert spatial_tree.explain_refusal(ytheta.load("panda")) is None
    reason = spatial_tree.explain_refusal(replace(walker, actuated=()))
    assert reason is not None
    assert "no actuated coordinates" in reason
