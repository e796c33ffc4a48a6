"""Base parameters by numerical rank: published counts, random motions, and robots that only this method accepts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support import example_robots
from tests.support.base_checks import enlarge, explains, is_complete_and_minimal, published_counts, rank, regressors
from tests.support.driven_robots import coupled_robot, driven_robot
from tests.support.formulation_cases import fork
from tests.support.vendor_urdfs import URDFS, gen3
from ytheta.errors import InputError
from ytheta.identifiability.numeric import (
    MIN_SINGULAR_VALUE,
    _compute_singular_vectors,
    base_parameters,
    count_independent,
)
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

LOOPED = {"five-bar": 11, "palletiser": 22, "walker": 19}


def qr(robot: Robot, *, rotor_inertia: bool = False, friction: tuple[str, ...] = ()) -> ytheta.BaseParameters:
    return ytheta.base_parameters(robot, method="qr", rotor_inertia=rotor_inertia, friction=friction)


def test_published_counts(shared_data: Path) -> None:
    counts = {
        row.name: (len(qr(row.robot)), len(qr(row.robot, rotor_inertia=True))) for row in published_counts(shared_data)
    }
    assert counts == {row.name: (row.rigid, row.with_rotors) for row in published_counts(shared_data)}
    assert len(counts) >= 10


@pytest.mark.parametrize("name", ["ur10", "stanford", "ha-scara", *LOOPED, *URDFS])
def test_the_set_is_complete_and_minimal(name: str) -> None:
    """The method uses states at rest; the check uses motions with velocities."""
    robot = ytheta.load(example_robots.urdf(name)) if name.endswith(".urdf") else ytheta.load(name)
    base = qr(robot, rotor_inertia=True)
    assert is_complete_and_minimal(robot, base)
    assert len(base) == rank(robot, base.selected)


def test_a_set_that_is_not_minimal_is_detected() -> None:
    """The twin of the check above: all parameters that have an effect, with K = 1, are complete but not minimal."""
    robot = ytheta.load("stanford")
    Y = regressors(robot, robot.parameter_names)
    effective = tuple(name for k, name in enumerate(robot.parameter_names) if np.abs(Y[:, :, k]).max() > 1e-9)
    K = np.eye(len(robot.parameter_names))[[robot.parameter_names.index(name) for name in effective]]
    base = ytheta.BaseParameters(robot, "none", effective, K.astype(object), effective)
    assert explains(regressors(robot, effective), base, base.K)
    assert not is_complete_and_minimal(robot, base)


def test_a_wrong_coefficient_is_detected() -> None:
    """Another twin of the check above: one coefficient of K differs by 1e-6."""
    robot = ytheta.load("ur10")
    base = qr(robot)
    K = base.K.copy()
    K[0, np.flatnonzero(K[0])[1]] *= 1.0 + 1e-6
    Y = regressors(robot, base.selected)
    assert explains(Y, base, base.K)
    assert not explains(Y, base, K)


@pytest.mark.parametrize("name", LOOPED)
def test_loops(name: str) -> None:
    base = qr(ytheta.load(name))
    assert len(base) == LOOPED[name]
    assert base.gap is not None
    assert base.gap[0] > 10 * MIN_SINGULAR_VALUE
    assert base.gap[1] < 1e-12


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([1.0, 1.2e-5, 9.8e-6, 1e-15], 3),  # small, but everything else is zero
        ([1.0, 1.2e-5, 9.8e-6, 1e-8, 1e-15], 2),  # the geometry is rounded
        ([1.0, 1e-2, 9.8e-6, 1e-15], 2),  # a clear gap above the limit
        ([1.0, 1.2e-5, 9.8e-7, 1e-15], 2),
        ([1.0, 1.2e-5, 9.8e-6], 3),
        ([1.0, 1.2e-5], 2),
        ([0.0, 0.0], 0),
        ([], 0),
    ],
)
def test_small_singular_values_count_if_all_others_are_zero(values: list[float], count: int) -> None:
    assert count_independent(np.array(values), has_many_digits=True) == count
    rounded = count_independent(np.array(values), has_many_digits=False)
    assert rounded == np.count_nonzero(np.array(values) > MIN_SINGULAR_VALUE)


# Within its limits, the angles of Walker's robot change little. So offset torques hardly differ from gravity torques.
@pytest.mark.parametrize(("friction", "apart"), [(("viscous",), 1e-7), (("offset",), 1e-9)])
def test_friction_in_loops(friction: tuple[str, ...], apart: float) -> None:
    """Near singular poses of the loops, passive joints rotate very fast; their rows must not dominate the others."""
    robot = ytheta.load("walker")
    base = qr(robot, rotor_inertia=True, friction=friction)
    assert len(base) == rank(robot, base.selected)
    assert is_complete_and_minimal(robot, base, apart=apart)
    assert base.gap is not None
    assert base.gap[1] < 1e-12


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("friction", [(), ("viscous", "coulomb", "offset")])
def test_the_size_of_a_robot_does_not_change_the_rank(friction: tuple[str, ...], factor: float) -> None:
    """In units of the robot, the equations of an arm of 1 km and of 1 mm are the same."""
    robot = ytheta.load("stanford").numeric
    base, other = (qr(each, rotor_inertia=True, friction=friction) for each in (robot, enlarge(robot, factor)))
    assert other.names == base.names
    assert base.gap is not None
    assert other.gap is not None
    assert other.gap[0] == pytest.approx(base.gap[0], rel=1e-6)
    assert other.gap[1] < 1e-12


def test_an_open_loop_has_more_base_parameters() -> None:
    """The twin of the counts of loops: the same five-bar without its loop."""
    robot = ytheta.load("five-bar")
    opened = replace(robot, loops=(), actuated=())
    assert len(qr(opened)) > LOOPED["five-bar"]


def test_couplings_motors_and_branches() -> None:
    for robot in (coupled_robot(), fork()):
        base = qr(robot, rotor_inertia=True)
        assert is_complete_and_minimal(robot, base)
        assert len(base) == rank(robot, base.selected)


def test_friction_is_identifiable_for_every_joint() -> None:
    robot = driven_robot("ur10")
    base = qr(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset"))
    assert len(base) == 40 + 3 * 6
    assert is_complete_and_minimal(robot, base)
    assert all(
        base.identifiability[f"{joint.name}.{p}"].value == "known alone"
        for joint in robot.movable
        for p in ("fv", "fc")
    )


def test_an_offset_can_merge_with_a_weight() -> None:
    """On a vertical prismatic joint, tau = (qdd + g) m + qdd Ia + fo: two base parameters, not three."""
    robot = _slide()
    assert len(qr(robot, rotor_inertia=True)) == 2
    assert len(qr(robot, rotor_inertia=True, friction=("offset",))) == 2
    assert len(qr(robot, friction=("viscous", "coulomb", "offset"))) == 4


def _slide() -> Robot:
    joint = Joint("lift", JointKind.PRISMATIC, "base", "cage", axis=(0.0, 0.0, 1.0))
    return Robot("slide", (Link("base"), Link("cage")), (joint,))


def test_gravity_and_mounting() -> None:
    """Gravity across the first axis, as on a wall, makes two more parameters of the first link identifiable."""
    upright = ytheta.load("ur10")
    assert len(qr(upright)) == 36
    on_the_wall = replace(upright, mounting=Frame.turn((0.0, 1.0, 0.0), np.pi / 2))
    assert len(qr(on_the_wall)) == 38
    assert len(qr(replace(upright, gravity=(9.81, 0.0, 0.0)))) == 38
    # Without gravity the first moments of the second link, whose origin does not move, have no effect.
    assert len(qr(replace(upright, gravity=(0.0, 0.0, 0.0)))) == 34


@pytest.mark.parametrize("snap", [1e-4, 0.0])
def test_rounded_angles_add_no_parameters(snap: float, tmp_path: Path) -> None:
    """A vendor's file with 1.5708 and 3.1416 gives the textbook count, whether the reader snaps angles or not."""
    file = tmp_path / "gen3.urdf"
    file.write_text(gen3())
    base = qr(ytheta.load(file, snap=snap))
    assert len(base) == 43
    assert base.gap is not None
    assert base.gap[1] < 1e-5
    if snap == 0.0:  # the twin: a plain rank counts the rounding as parameters
        assert rank(ytheta.load(file, snap=0.0), base.selected) > 43


def test_the_same_basis_in_every_run() -> None:
    script = "import ytheta; b = ytheta.base_parameters(ytheta.load('panda'), method='qr'); print(b.K.tobytes().hex())"
    in_another_process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert qr(ytheta.load("panda")).K.tobytes().hex() == in_another_process


def test_robots_without_motion_are_refused() -> None:
    still = Robot("block", (Link("base"),))
    with pytest.raises(InputError, match="no moving joint"):
        qr(still)
    free = replace(ytheta.load("five-bar"), actuated=())
    with pytest.raises(InputError, match="choose them with 'actuated'"):
        qr(free)


def test_no_selected_parameters_give_no_base_parameters() -> None:
    assert len(base_parameters(ytheta.load("ur10"), selected=())) == 0


def test_singular_vectors_if_divide_and_conquer_does_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for Cassie of MuJoCo's Menagerie on some processors."""

    def fail(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    matrix = np.random.default_rng(0).normal(size=(7, 5)) @ np.diag([1.0, 1.0, 0.5, 1e-3, 0.0])
    expected_sizes, expected = _compute_singular_vectors(matrix)
    monkeypatch.setattr(np.linalg, "svd", fail)
    sizes, vectors = _compute_singular_vectors(matrix)
    np.testing.assert_allclose(sizes, expected_sizes, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(abs(np.sum(vectors * expected, axis=1)), 1.0, rtol=1e-9)  # equal but for signs
