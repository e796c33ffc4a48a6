"""Inverse dynamics in minimal parameters: equal to Newton-Euler and Pinocchio, in fewer operations than published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.driven_robots import coupled_robot, driven_robot, evaluate
from tests.support.formulation_cases import fork, load, robot_without_joints
from tests.support.lin_chains import (
    Bodies,
    agree,
    build_chain,
    expected_torque,
    minimal_torque,
    with_any_inertias,
    without_drives,
)
from tests.support.random_robots import inertias
from ytheta.dynamics import kernels
from ytheta.dynamics.formulations.equivalent_bodies import EquivalentBodies, find_equivalent_bodies, find_minimal_bodies
from ytheta.dynamics.formulations.minimal_newton_euler import PlanarRotation, RecursionResults, run_recursion
from ytheta.dynamics.graphs import inverse_dynamics_graph
from ytheta.dynamics.mechanism import casadi_motion
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.native.graph import Operations, count_operations
from ytheta.robot.frame import Frame, to_vector
from ytheta.robot.reading.catalog import list_names
from ytheta.robot.robot import Robot

TREES = tuple(name for name in list_names() if not load(name).loops)


@pytest.mark.parametrize("name", ["stanford", "puma560", "ha-scara"])
def test_equals_newton_euler(name: str) -> None:
    robot, tau = load(name), expected_torque(load(name))
    assert agree(minimal_torque(robot), tau)
    assert agree(minimal_torque(robot, bodies=find_minimal_bodies), tau)


KINDS = st.text("RP", min_size=1, max_size=6)


@settings(max_examples=12)
@given(
    KINDS,
    st.sets(st.integers(2, 6)),
    st.sampled_from([(0.0, 0.0, -9.81), (3.0, -2.0, 7.0), (0.0, 0.0, 0.0)]),
    st.data(),
)
def test_equals_newton_euler_on_chains_with_parallel_axes(
    kinds: str, parallel: set[int], gravity: tuple[float, ...], data: st.DataObject
) -> None:
    """The groups i < r, r <= i < s and i >= s of all lengths, with full and with sparse inertias."""
    robot = build_chain(kinds, parallel=tuple(parallel), gravity=gravity, seed=len(kinds))
    assert agree(minimal_torque(robot), expected_torque(robot))
    sparse = tuple(replace(link, inertia=data.draw(inertias())) for link in robot.links)
    assert agree(minimal_torque(replace(robot, links=sparse)), expected_torque(replace(robot, links=sparse)))


@pytest.mark.parametrize(
    "robot",
    [fork(), robot_without_joints(), driven_robot("ur10"), coupled_robot(), driven_robot("stanford")],
    ids=lambda r: r.name,
)
def test_graphs_with_drives_couplings_and_loads(robot: Robot) -> None:
    size = len(robot.actuated)
    x, xd, xdd = np.random.default_rng(4).uniform(-1.5, 1.5, (3, size))
    standard, minimal = (inverse_dynamics_graph(robot, formulation=f) for f in ("newton_euler", "minimal_newton_euler"))
    assert agree(evaluate(minimal, x, xd, xdd), evaluate(standard, x, xd, xdd))
    assert minimal.digest == inverse_dynamics_graph(robot).digest  # the default
    assert (minimal.inputs, minimal.shape) == (standard.inputs, standard.shape)


@pytest.mark.parametrize("name", ["stanford", "panda"])
def test_machine_code_equals_the_interpreter(name: str) -> None:
    robot = load(name)
    graph = inverse_dynamics_graph(robot, formulation="minimal_newton_euler")
    q, qd, qdd = np.random.default_rng(5).uniform(-2.0, 2.0, (3, 33, len(robot.movable)))
    compiled, reference = (compile_graph(graph, backend=b)(q, qd, qdd) for b in ("llvm", "interpreter"))
    np.testing.assert_allclose(compiled, reference, rtol=1e-12, atol=1e-12 * abs(reference).max())
    np.testing.assert_array_equal(compiled, kernels.inverse_dynamics(robot)(q, qd, qdd))


def test_rotating_base_and_gravity_together_changes_nothing() -> None:
    robot = load("ur10")
    mounting = Frame.from_rpy(0.3, -0.8, 1.7)
    gravity = to_vector(np.array(mounting.rotation) @ np.array(robot.gravity_in_base))
    assert agree(minimal_torque(replace(robot, mounting=mounting, gravity=gravity)), minimal_torque(robot))
    assert not agree(minimal_torque(replace(robot, mounting=mounting)), minimal_torque(robot))
    assert agree(minimal_torque(replace(robot, mounting=mounting)), expected_torque(replace(robot, mounting=mounting)))


def test_theta_as_an_input_loops_and_wrong_names() -> None:
    panda, walker = load("panda"), load("walker")
    plain = inverse_dynamics_graph(panda, theta_input=True, formulation="newton_euler")
    assert inverse_dynamics_graph(panda, theta_input=True).digest == plain.digest
    assert inverse_dynamics_graph(walker).digest == inverse_dynamics_graph(walker, formulation="newton_euler").digest
    with pytest.raises(InputError, match=r"minimal_newton_euler cannot be used: .* theta cannot be an input"):
        inverse_dynamics_graph(panda, theta_input=True, formulation="minimal_newton_euler")
    with pytest.raises(InputError, match=r"minimal_newton_euler cannot be used: .* has closed loops"):
        inverse_dynamics_graph(walker, formulation="minimal_newton_euler")
    with pytest.raises(InputError, match="did you mean 'newton_euler'"):
        inverse_dynamics_graph(panda, formulation="newton_oiler")


def test_twins_that_must_fail() -> None:
    robot = build_chain("RRPRR")

    def without(**changes: Any) -> Bodies:
        def bodies(robot: Robot) -> EquivalentBodies:
            arm = find_equivalent_bodies(robot)
            return replace(arm, axes=tuple(replace(axis, **changes) for axis in arm.axes))

        return bodies

    assert agree(minimal_torque(robot), expected_torque(robot))
    assert not agree(minimal_torque(robot, bodies=without(d=0.0)), expected_torque(robot))
    assert not agree(minimal_torque(robot, bodies=without(foot=np.zeros(3))), expected_torque(robot))
    assert not agree(minimal_torque(robot, bodies=without(alpha=0.3)), expected_torque(robot))
    assert not agree(minimal_torque(robot, bodies=without(base_acceleration=np.zeros(3))), expected_torque(robot))
    lighter = replace(find_equivalent_bodies(robot), foot_masses=(0.0,) * 5)
    assert not agree(minimal_torque(robot, bodies=lambda _: lighter), expected_torque(robot))


# --- operations ------------------------------------------------------------------------------------------------------


def count_formulation(robot: Robot, formulation: str = "minimal_newton_euler") -> Operations:
    return count_operations(inverse_dynamics_graph(robot, formulation=formulation))


def assert_at_most(robot: Robot, multiplications: int, additions: int) -> None:
    operations = count_formulation(robot)
    assert operations.multiplications <= multiplications, operations
    assert operations.additions <= additions, operations
    assert operations.divisions == operations.other == 0


@pytest.mark.parametrize(("n", "oblique"), [(2, False), (3, False), (6, False), (6, True)])
def test_general_chains_are_below_table_three(n: int, oblique: bool) -> None:
    """Table III, with all operations: the paper's counts leave out the 4 n multiplications of its rotation matrices.

    The lowest figures of the table are those of Gautier and Khalil; Lin's own are 89 n - 82 and 77 n - 71.
    """
    robot = build_chain("R" * n, gravity=(3.0, -2.0, -8.0) if oblique else (0.0, 0.0, -9.81))
    operations = count_formulation(robot)
    assert operations.multiplications <= 89 * n - 82, operations
    assert operations.additions <= 77 * n - 71, operations
    if n == 6:
        # Gautier and Khalil: 425, 369; Lin: 452, 391
        assert_at_most(robot, *((352, 287) if oblique else (348, 282)))


def test_arms_are_below_table_three() -> None:
    stanford, puma = load("stanford"), load("puma560")
    assert_at_most(with_any_inertias(stanford), 216, 202)  # Gautier and Khalil: 232, 218; Lin: 231, 219
    assert_at_most(without_drives(stanford), 123, 96)  # Gautier and Khalil: 142, 99; Lin: 139, 101
    assert_at_most(with_any_inertias(puma), 241, 222)  # published: 253, 238
    assert_at_most(with_any_inertias(load("puma560-mdh")), 241, 223)
    assert_at_most(without_drives(load("ur10")), 150, 113)
    assert_at_most(without_drives(load("panda")), 290, 269)


@pytest.mark.parametrize("name", TREES)
def test_never_needs_more_operations_than_newton_euler(name: str) -> None:
    minimal, standard = count_formulation(load(name)), count_formulation(load(name), "newton_euler")
    assert minimal.multiplications <= standard.multiplications
    assert minimal.additions <= standard.additions
    assert minimal.total <= standard.total


# --- Table II --------------------------------------------------------------------------------------------------------

MULTIPLICATIONS, ADDITIONS = (casadi.OP_MUL, casadi.OP_SQ), (casadi.OP_ADD, casadi.OP_SUB, casadi.OP_TWICE)
Counts = dict[str, tuple[int, int]]
# As printed. Psi is counted with Omega, and rho with mu bar. Of rows with two lines, the line for i = n is used.
PRINTED: dict[str, Counts] = {
    "i < r": {"a": (8, 5), "mu bar": (2, 0), "tau": (0, 1)},
    "r < i < s R": {
        "omega": (0, 1), "omegadot": (0, 1), "Omega": (1, 0), "a": (12, 8), "mu bar": (4, 2), "zeta bar": (3, 2),
        "mu": (8, 7), "zeta": (3, 4),
    },
    "r < i < s T": {
        "omega": (3, 0), "omegadot": (3, 0), "Omega": (6, 9), "h": (5, 4), "a": (14, 10), "mu bar": (7, 2),
        "zeta bar": (6, 3), "mu": (8, 7), "zeta": (4, 5), "tau": (0, 1),
    },
    "i > s R": {
        "omega": (8, 5), "omegadot": (10, 7), "Omega": (6, 12), "a": (17, 13), "mu bar": (6, 3), "zeta bar": (22, 19),
        "mu": (8, 7), "zeta": (12, 11),
    },
    "i > s T": {
        "omega": (8, 4), "omegadot": (8, 4), "Omega": (6, 12), "h": (5, 4), "a": (14, 10), "mu bar": (7, 3),
        "zeta bar": (9, 5), "mu": (8, 7), "zeta": (12, 11), "tau": (0, 1),
    },
}  # fmt: skip


def count_table_two(robot: Robot) -> list[Counts]:
    """For every body, the multiplications and additions of every variable that the torques depend on."""
    arm = find_equivalent_bodies(robot)
    r = run_recursion(arm, casadi_motion(*(casadi.SX.sym(name, len(arm.axes)) for name in ("q", "qd", "qdd"))))
    alive = collect_operations(list(r.tau))
    table: list[Counts] = [{} for _ in arm.axes]
    for body, name, values in list_variables(arm, r):
        new = {key: alive.pop(key) for key in collect_operations(values) if key in alive}
        m, a = table[body].get(name, (0, 0))
        m += sum(op in MULTIPLICATIONS for op in new.values())
        table[body][name] = m, a + sum(op in ADDITIONS for op in new.values())
    assert not alive
    return table


def list_variables(arm: EquivalentBodies, r: RecursionResults) -> Iterator[tuple[int, str, Sequence[Any]]]:
    for i, rotation in enumerate(r.rotations):
        yield i, "R", r.transforms[i].factored[:2]
        yield i, "omega", [rotation.w] if isinstance(rotation, PlanarRotation) else list(rotation.w)
        yield i, "omegadot", [rotation.wd] if isinstance(rotation, PlanarRotation) else list(rotation.wd)
        yield (
            i,
            "Omega",
            [rotation.ww] if isinstance(rotation, PlanarRotation) else [*rotation.squares, *rotation.O.ravel()],
        )
        yield i, "a", list(r.foot_accelerations[i])
        yield i, "h", list(r.offset_accelerations[i])
        yield i, "a", list(r.origin_accelerations[i])
    for i in reversed(range(len(r.rotations))):
        yield from ((i, "mu bar", list(r.own_forces[i])), (i, "zeta bar", list(r.own_moments[i])))
        yield from ((i, "mu", list(r.forces[i])), (i, "zeta", list(r.moments[i])))
        yield i, "tau", [r.tau[arm.axes[i].joint]]
        parent = arm.axes[i].parent
        if parent is not None:
            yield from ((parent, "mu", list(r.on_parent[i][0])), (parent, "zeta", list(r.on_parent[i][1])))


def collect_operations(values: Sequence[Any]) -> dict[int, int]:
    """All operations that some values depend on, keyed by the hash of their results."""
    operations: dict[int, int] = {}
    pending = [casadi.SX(value) for value in values]
    while pending:
        node = pending.pop()
        key = node.element_hash()
        if key not in operations and not node.is_leaf():
            operations[key] = node.op()
            pending += [node.dep(k) for k in range(node.n_dep())]
    return operations


def sum_counts(counts: Counts, *names: str) -> tuple[int, int]:
    chosen = [count for name, count in counts.items() if not names or name in names]
    return sum(m for m, _ in chosen), sum(a for _, a in chosen)


def test_table_two_variable_by_variable() -> None:
    """For a joint in the middle of a general chain, no variable needs more operations than printed.

    As in the paper, the factors of the rotation are left out: 2 multiplications here, 4 in the paper. The mass at the
    foot is counted with mu. Differences of squares are counted with zeta bar, in the paper with Psi.
    """
    counts = count_table_two(build_chain("RRRRRR", gravity=(1.0, 2.0, -9.0)))[3]
    assert counts.pop("R") == (2, 0)
    for names in (["omega"], ["omegadot"], ["Omega"], ["a", "h"], ["mu bar", "mu"], ["zeta bar"], ["zeta", "tau"]):
        (m, a), (printed_m, printed_a) = sum_counts(counts, *names), sum_counts(PRINTED["i > s R"], *names)
        assert m <= printed_m, (names, counts)
        assert a <= printed_a, (names, counts)
    assert sum_counts(counts) == (71, 61)
    assert sum_counts(PRINTED["i > s R"]) == (89, 77)


@pytest.mark.parametrize(
    ("kinds", "parallel", "place", "group", "extra"),
    [
        ("PPRR", (), 1, "i < r", (8, 7)),  # (66), which the table leaves out
        ("RRRR", (2,), 1, "r < i < s R", (3, 2)),  # the footnote, for joint s - 1
        ("RPRR", (), 1, "r < i < s T", (11, 6)),  # the footnote
        ("RRRRRR", (), 4, "i > s R", (0, 0)),
        # d_i is q_i plus a constant, 2 qd is counted, and the force of k_i is included: 4 additions. The paper adds
        # d_i W_i of (91) to the D of a preceding joint instead. The table leaves out these operations, up to five
        # multiplications and five additions.
        ("RRRPRR", (), 3, "i > s T", (0, 4)),
    ],
)
def test_table_two_joint_by_joint(
    kinds: str, parallel: tuple[int, ...], place: int, group: str, extra: tuple[int, int]
) -> None:
    """Sums over all variables of a joint, because masses moved outward shift operations from zeta bar to mu bar."""
    counts = count_table_two(build_chain(kinds, parallel=parallel, gravity=(1.0, 2.0, -9.0)))[place]
    assert counts.pop("R")[0] <= 2
    (m, a), (printed_m, printed_a) = sum_counts(counts), sum_counts(PRINTED[group])
    assert m <= printed_m + extra[0], counts
    assert a <= printed_a + extra[1], counts
