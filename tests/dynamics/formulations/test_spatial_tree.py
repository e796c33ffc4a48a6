"""Walker's tree and his recursion: the numbers of the paper, Newton-Euler, Pinocchio, and his equations as printed."""

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
from tests.support.walker_tree import as_printed, cross_matrix, walker_inertia
from ytheta.dynamics.formulations import newton_euler, spatial, spatial_tree
from ytheta.dynamics.formulations.spatial_tree import NodeKind, binary_tree, regressor, walker_reference
from ytheta.dynamics.mechanism import exact_array, mechanism
from ytheta.dynamics.motion import Motion, casadi_motion, numeric_motion, sympy_motion
from ytheta.dynamics.vectors import array
from ytheta.native.graph import Input, trace
from ytheta.robot import catalog
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot

ROUNDING = 1e-10  # both recursions carry doubles through ten links


def state(joints: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """q, qd, v, vd."""
    q, qd, v, vd = np.random.default_rng(seed).uniform(-1.5, 1.5, (4, joints))
    return q, qd, v, vd


def motions(joints: int, seed: int = 0) -> list[Motion]:
    """An ordinary motion and one with a reference velocity."""
    q, qd, v, vd = state(joints, seed)
    return [numeric_motion(q, qd, vd), numeric_motion(q, qd, vd, v)]


def close(a: np.ndarray, b: np.ndarray) -> bool:
    a, b = a.astype(float), b.astype(float)
    return bool(np.abs(a - b).max(initial=0.0) <= ROUNDING * (1.0 + np.abs(b).max(initial=0.0)))


# --- the tree -------------------------------------------------------------------------------------------------------


def test_the_tree_of_the_paper() -> None:
    tree = binary_tree(ytheta.load("walker"))
    kinds = [node.kind for node in tree.nodes]
    assert [kinds.count(kind) for kind in NodeKind] == [1, 7, 2, 4]
    assert len(tree.nodes) - 1 == 13
    assert set(tree.path(4)) == {4, 10, 11}  # sec. 3
    assert set(tree.descendants(1)) == {1, 2, 3, 12, 13}
    sides = {node.number: (node.connector, node.successor) for node in tree.nodes}
    assert sides[0] == (10, 1)
    assert [sides[k] for k in (1, 2, 3)] == [(13, 2), (12, 3), (None, None)]
    assert [sides[k] for k in (10, 11, 12, 13)] == [(11, 6), (None, 4), (None, None), (None, None)]
    assert [sides[k] for k in (4, 5, 6, 7)] == [(None, 5), (None, 8), (None, 7), (None, 9)]  # (8), (9)
    assert [tree.nodes[k].joint for k in (8, 9, 12, 13)] == ["q8", "q9", "q9", "q8"]


def test_another_cut_is_another_tree() -> None:
    walker = ytheta.load("walker")
    tree = binary_tree(replace(walker, loops=tuple(reversed(walker.loops))))
    assert set(tree.descendants(1)) == {1, 2, 3, 12, 13}
    assert tree.nodes[8].predecessor == 7


@given(robots(symbols=False))
def test_every_tree_is_binary(robot: Robot) -> None:
    robot = robot.merged
    tree = binary_tree(robot)
    assert [node.number for node in tree.nodes] == list(range(len(tree.nodes)))
    assert sorted(tree.descendants(0)) == list(range(len(tree.nodes)))
    for node in tree.nodes[1:]:
        above = tree.nodes[node.predecessor or 0]
        assert (above.connector if node.kind is NodeKind.CONNECTOR else above.successor) == node.number
        if node.kind in (NodeKind.CONNECTOR, NodeKind.TERMINATING):
            assert node.kind is not NodeKind.TERMINATING or node.successor is None
    for k, joint in enumerate(robot.joints, start=1):
        links = [n for n in tree.path(k) if tree.nodes[n].kind is NodeKind.SUCCESSOR]
        assert [robot.joints[n - 1].name for n in reversed(links)] == [j.name for j in robot.path(joint.child)]


# --- the algebra ----------------------------------------------------------------------------------------------------


def transform(seed: int = 0) -> spatial.Transform:
    R, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return spatial.Transform(exact_array((R * np.sign(np.linalg.det(R))).tolist()), exact_array([0.3, -0.7, 1.1]))


def test_the_spatial_transpose_inverts() -> None:
    X = transform()
    one = spatial.spatial_transpose(X.matrix) @ X.matrix
    assert close(one, np.eye(6))
    assert not close(X.matrix.T @ X.matrix, np.eye(6))
    columns = np.random.default_rng(1).normal(size=(6, 4)).astype(object)
    assert close(X.up(columns), X.matrix @ columns)
    assert close(X.down(columns[:, 0]), spatial.spatial_transpose(X.matrix) @ columns[:, 0])


def test_power_is_the_same_in_every_frame() -> None:
    X = transform()
    v, f = np.random.default_rng(2).normal(size=(2, 6)).astype(object)
    power = spatial.spatial_transpose(v[:, None]) @ f
    moved = spatial.spatial_transpose(X.up(v[:, None])) @ X.up(f[:, None])[:, 0]
    assert close(moved, power)


def test_columns_are_the_papers_matrices() -> None:
    rng = np.random.default_rng(3)
    v, u, theta = rng.normal(size=6), rng.normal(size=6), rng.normal(size=10)
    inertia = walker_inertia(theta)
    assert close(spatial.momentum_columns(v.astype(object)) @ theta, inertia @ v)
    both = (cross_matrix(v) @ inertia @ u + cross_matrix(u) @ inertia @ v) / 2
    assert close(spatial.gyroscopic_columns(v.astype(object), u.astype(object)) @ theta, both)
    same = v.astype(object)
    assert close(spatial.gyroscopic_columns(same, same) @ theta, cross_matrix(v) @ inertia @ v)


# --- the regressor --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.list_names())
def test_equals_newton_euler_on_the_catalog(name: str) -> None:
    mech = mechanism(ytheta.load(name))
    for motion in motions(mech.joints):
        assert close(regressor(mech, motion), newton_euler.regressor(mech, motion))


@settings(max_examples=30)
@given(robots(loops=False, symbols=False), st.integers(0, 1000))
def test_equals_newton_euler_on_random_trees(robot: Robot, seed: int) -> None:
    mech = mechanism(robot)
    for motion in motions(mech.joints, seed):
        assert close(regressor(mech, motion), newton_euler.regressor(mech, motion))


@pytest.mark.parametrize(
    "name", ["ur5_robot.urdf", "panda.urdf", "kinova.urdf", "double_pendulum.urdf", "hyq_no_sensors.urdf"]
)
def test_equals_newton_euler_and_pinocchio_on_real_robots(name: str) -> None:
    robot = ytheta.load(urdf(name))
    mech = mechanism(robot)
    for motion in motions(mech.joints):
        assert close(regressor(mech, motion), newton_euler.regressor(mech, motion))
    q, qd, _, qdd = state(mech.joints)
    assert close(regressor(mech, numeric_motion(q, qd, qdd)), peer(robot).regressor(q, qd, qdd))


def test_loads_have_columns_of_their_own() -> None:
    bucket = Inertia.about_center(3.0, (0.1, 0.2, 0.3), ((0.2, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.4)))
    robot = ytheta.load("walker").with_load(bucket, name="bucket", on="link2", frame=Frame.from_rpy(0.1, 0.2, 0.3))
    mech = mechanism(robot)
    place = 10 * [body.name for body in mech.bodies].index("bucket")
    for motion in motions(mech.joints):
        Y = regressor(mech, motion)
        assert close(Y, newton_euler.regressor(mech, motion))
        assert np.abs(Y[:2, place : place + 10].astype(float)).max() > 0.1


@pytest.mark.parametrize("wrong", ["gravity flipped", "gravity turning", "columns swapped"])
def test_faults_are_seen(wrong: str) -> None:
    mech = mechanism(ytheta.load("puma560"))
    motion = motions(mech.joints)[0]
    expected = newton_euler.regressor(mech, motion)
    faulty = replace(mech, gravity=-mech.gravity)
    Y = regressor(faulty if "flipped" in wrong else mech, motion)
    if wrong == "columns swapped":
        Y[:, [31, 32]] = Y[:, [32, 31]]
    if wrong == "gravity turning":  # (0, 0, -9.8, 0, 0, 0), as the print has it: no weight, but a turning base
        Y = regressor(replace(mech, gravity=mech.gravity * 0), motion)
    assert not close(Y, expected)


def test_traces_the_same_structure() -> None:
    import casadi

    mech = mechanism(ytheta.load("walker"))
    symbols = [casadi.SX.sym(name, mech.joints) for name in ("q", "qd", "qdd")]
    inputs = [(Input(name, mech.joints), s) for name, s in zip(("q", "qd", "qdd"), symbols, strict=True)]
    graph = trace("regressor", inputs, regressor(mech, casadi_motion(*symbols)))
    peer_graph = trace("regressor", inputs, newton_euler.regressor(mech, casadi_motion(*symbols)))
    q, qd, _, qdd = state(mech.joints)
    flat = np.zeros(graph.size)
    flat[list(graph.places)] = np.array(graph.function(q, qd, qdd)).ravel()
    assert close(flat.reshape(graph.shape), regressor(mech, numeric_motion(q, qd, qdd)))
    assert graph.places == peer_graph.places


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar"])
def test_prints_equations(name: str) -> None:
    """SymPy symbols for the motion and for a length; the equations hold the numbers of the computed ones."""
    mech = mechanism(ytheta.load(name))
    length = mech.bodies[1].p[0]
    first, second, *others = mech.bodies
    l1 = sympy.Symbol("l1")
    moved = replace(second, p=array([l1, *second.p[1:]]))
    symbols = sympy_motion(mech.joints, reference=True)
    Y = regressor(replace(mech, bodies=(first, moved, *others)), symbols)
    q, qd, v, vd = state(mech.joints)
    values = {l1: length}
    for vector, numbers in ((symbols.q, q), (symbols.qd, qd), (symbols.v, v), (symbols.vd, vd)):
        values |= dict(zip(vector, numbers, strict=True))
    printed = np.vectorize(lambda entry: float(sympy.sympify(entry).subs(values)), otypes=[float])(Y)
    assert close(printed, newton_euler.regressor(mech, numeric_motion(q, qd, vd, v)))
    assert l1 in Y[0, 10].free_symbols


# --- Walker's own form ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["walker", "stanford", "puma560", "palletiser"])
def test_walkers_form_as_printed(name: str) -> None:
    mech = mechanism(ytheta.load(name))
    theta = np.random.default_rng(5).normal(size=10 * len(mech.bodies))
    ordinary, reference = motions(mech.joints)
    for motion in (ordinary, reference):
        assert close(walker_reference(mech, motion) @ theta, as_printed(mech, motion, theta))
    assert not close(regressor(mech, reference) @ theta, as_printed(mech, reference, theta))
    assert close(regressor(mech, ordinary) @ theta, as_printed(mech, ordinary, theta))


@pytest.mark.parametrize("name", ["walker", "panda"])
def test_both_forms_adapt_alike(name: str) -> None:
    """(25) and the step before (27): along qd - v they are equal, parameter by parameter; the torques are not."""
    mech = mechanism(ytheta.load(name))
    motion = motions(mech.joints)[1]
    one, other = regressor(mech, motion).astype(float), walker_reference(mech, motion).astype(float)
    assert close((motion.qd - motion.v) @ one, (motion.qd - motion.v) @ other)
    assert not close(motion.qd @ one, motion.qd @ other)


def test_what_is_accepted() -> None:
    walker = ytheta.load("walker")
    assert spatial_tree.accepts(walker) is None
    assert spatial_tree.accepts(ytheta.load("panda")) is None
    reason = spatial_tree.accepts(replace(walker, actuated=()))
    assert reason is not None
    assert "no actuated coordinates" in reason
