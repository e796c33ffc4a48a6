"""All kernels of robots, with and without loops, against the interpreter and against physics."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot, expected_torque
from tests.support.formulation_cases import fork, robot_without_joints
from tests.support.kernel_calls import KERNELS, call, draw_samples
from tests.support.states import close
from ytheta.dynamics.graphs import split_parameters
from ytheta.dynamics.kernels import ClosedKernel
from ytheta.errors import ClosureError, InputError
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot


def load_robot(name: str) -> Robot:
    return coupled_robot() if name == "coupled" else ytheta.load(name)


@pytest.mark.parametrize("name", ["ur10", "stanford", "coupled", "walker", "palletiser", "five-bar"])
@pytest.mark.parametrize("quantity", KERNELS)
def test_machine_code_equals_the_interpreter(quantity: str, name: str) -> None:
    robot = load_robot(name)
    arrays = draw_samples(robot, 37)
    native = call(KERNELS[quantity](robot), arrays)
    reference = call(KERNELS[quantity](robot, backend="interpreter"), arrays)
    assert native.shape == reference.shape
    assert close(native, reference, 1e-11)


@pytest.mark.parametrize("name", ["panda", "coupled", "walker", "palletiser", "five-bar"])
def test_kernels_are_consistent_with_each_other(name: str) -> None:
    robot = load_robot(name)
    q, qd, qdd = draw_samples(robot, 25, seed=1)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    Y = ytheta.regressor(robot)(q, qd, qdd)
    assert close(Y @ robot.theta, tau)
    M, bias = ytheta.mass_matrix(robot)(q), ytheta.bias(robot)(q, qd)
    assert close(M, M.transpose(0, 2, 1))
    assert close(np.einsum("sij,sj->si", M, qdd) + bias, tau)
    assert close(ytheta.forward_dynamics(robot)(q, qd, tau), qdd, 1e-8)
    assert close(ytheta.momentum(robot)(q, qd), np.einsum("sij,sj->si", M, qd))
    kinetic = ytheta.energy(robot)(q, qd)[:, 0]
    assert close(kinetic, np.einsum("si,sij,sj->s", qd, M, qd) / 2)
    frictionless = remove_friction(robot)
    C, g = ytheta.coriolis_matrix(frictionless)(q, qd), ytheta.gravity(frictionless)(q)
    assert close(np.einsum("sij,sj->si", C, qd) + g, ytheta.bias(frictionless)(q, qd))
    # Mdot - 2 C is skew-symmetric, with Mdot along qd by central differences.
    step = 1e-6
    rate = (ytheta.mass_matrix(frictionless)(q + step * qd) - ytheta.mass_matrix(frictionless)(q - step * qd)) / (
        2 * step
    )
    skew = rate - 2 * C
    assert abs(skew + skew.transpose(0, 2, 1)).max() < 1e-6 * max(1.0, abs(C).max())


def remove_friction(robot: Robot) -> Robot:
    def strip(drive: Drive) -> Drive:
        return replace(drive, viscous=0.0, coulomb=0.0, offset=0.0)

    return replace(
        robot,
        joints=tuple(replace(joint, drive=strip(joint.drive)) for joint in robot.joints),
        loops=tuple(replace(loop, joint=replace(loop.joint, drive=strip(loop.joint.drive))) for loop in robot.loops),
        motors=tuple(replace(motor, drive=strip(motor.drive)) for motor in robot.motors),
    )


@pytest.mark.parametrize(("name", "steps"), [("five-bar", 100), ("walker", 40)])
def test_a_frictionless_loop_conserves_energy(name: str, steps: int) -> None:
    """Simulated by Runge-Kutta of fourth order without torques. An energy with reversed gravity is not conserved."""
    robot = remove_friction(ytheta.load(name))
    forward, energy = ytheta.forward_dynamics(robot), ytheta.energy(robot)
    gx, gy, gz = robot.gravity
    reversed_gravity = ytheta.energy(replace(robot, gravity=(-gx, -gy, -gz)))
    q = np.array([[dict(robot.home)[joint] for joint in robot.actuated]])
    qd, zero, step = np.zeros_like(q), np.zeros_like(q), 2.5e-3
    start, wrong = energy(q, qd).sum(), reversed_gravity(q, qd).sum()
    for _ in range(steps):
        k1 = qd, forward(q, qd, zero)
        k2 = qd + step / 2 * k1[1], forward(q + step / 2 * k1[0], qd + step / 2 * k1[1], zero)
        k3 = qd + step / 2 * k2[1], forward(q + step / 2 * k2[0], qd + step / 2 * k2[1], zero)
        k4 = qd + step * k3[1], forward(q + step * k3[0], qd + step * k3[1], zero)
        q = q + step / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        qd = qd + step / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    kinetic = energy(q, qd)[0, 0]
    assert kinetic > 0.02 * abs(start)  # it has fallen far enough for a meaningful test
    assert energy(q, qd).sum() == pytest.approx(start, abs=1e-7 * kinetic)
    assert abs(reversed_gravity(q, qd).sum() - wrong) > 0.1 * kinetic


def test_columns_are_selected_by_name() -> None:
    robot = driven_robot("ur10")
    q, qd, qdd = draw_samples(robot, 5)
    known, unknown = split_parameters(robot, ["wrist_3_link.m", "elbow_joint.fv"])
    assert unknown == ["wrist_3_link.m", "elbow_joint.fv"]
    Yk, Yu = (ytheta.regressor(robot, parameters=names)(q, qd, qdd) for names in (known, unknown))
    theta = dict(zip(robot.parameter_names, robot.theta, strict=True))
    tau = Yk @ np.array([theta[name] for name in known]) + Yu @ np.array([theta[name] for name in unknown])
    assert close(tau[0], expected_torque(robot, q[0], qd[0], qdd[0]))
    with pytest.raises(InputError, match=r"has no parameter 'wrist_3_link\.mm'; did you mean"):
        ytheta.regressor(robot, parameters=["wrist_3_link.mm"])


@pytest.mark.parametrize("name", ["stanford", "walker"])
def test_two_velocities(name: str) -> None:
    robot = ytheta.load(name)
    q, qd, vd = draw_samples(robot, 7)
    v = draw_samples(robot, 7, seed=3)[1]
    two = ytheta.regressor(robot, reference=True)
    assert close(two(q, qd, qd, vd), ytheta.regressor(robot)(q, qd, vd))
    frictionless = remove_friction(robot)
    tau = ytheta.regressor(frictionless, reference=True)(q, qd, v, vd) @ frictionless.theta
    M, C, g = (
        ytheta.mass_matrix(frictionless)(q),
        ytheta.coriolis_matrix(frictionless)(q, qd),
        ytheta.gravity(frictionless)(q),
    )
    assert close(tau, np.einsum("sij,sj->si", M, vd) + np.einsum("sij,sj->si", C, v) + g)


def test_the_sample_that_cannot_close_is_named() -> None:
    robot = ytheta.load("walker")
    kernel = ytheta.gravity(robot)
    assert isinstance(kernel, ClosedKernel)
    reachable = draw_samples(robot, 3)[0]
    unreachable = reachable.copy()
    unreachable[1, 0] = 5.0
    assert kernel(reachable).shape == (3, 3)
    with pytest.raises(ClosureError, match="1 of 3 samples; the first is sample 1 at q5 = 5"):
        kernel(unreachable)


def test_one_sample_and_blocks_of_a_robot_with_loops() -> None:
    robot = ytheta.load("palletiser")
    q, qd, qdd = draw_samples(robot, 5)
    kernel = ytheta.inverse_dynamics(robot)
    tau = kernel(q, qd, qdd)
    assert close(kernel.one(q[2], qd[2], qdd[2]), tau[2])
    (block,) = kernel.blocks(q, qd, qdd)
    assert close(block.values.T, tau.reshape(5, -1)[:, kernel.places])
    assert kernel.about.backend == "llvm"
    assert repr(kernel) == "ClosedKernel('inverse dynamics': (q, qd, qdd) → (4,), llvm)"
    with pytest.raises(TypeError, match="machine code of this process"):
        pickle.dumps(kernel)


@pytest.mark.parametrize("name", ["ur10", "walker"])
def test_wrong_arrays_are_explained(name: str) -> None:
    robot = load_robot(name)
    kernel = ytheta.inverse_dynamics(robot)
    q, qd, qdd = draw_samples(robot, 4)
    not_finite = q.copy()
    not_finite[2, 1] = np.nan
    wrong = [(), (q, qd), (q[:, :-1], qd, qdd), (q[0], qd, qdd), (q, qd[:2], qdd), (not_finite, qd, qdd)]
    for arrays in (*wrong, (q * 1j, qd, qdd), ([["a"] * q.shape[1]] * 4, qd, qdd), ([[1.0], [1.0, 2.0]], qd, qdd)):
        with pytest.raises(InputError) as error:
            kernel(*arrays)
        assert len(str(error.value)) > 20
    with pytest.raises(InputError, match="sample 2"):
        kernel(not_finite, qd, qdd)
    with pytest.raises(InputError, match="sample 1"):
        kernel(q, np.where(np.arange(4)[:, None] == 1, np.inf, qd), qdd)


@pytest.mark.parametrize("order", list(itertools.permutations(("turn", "slide", "swing"))))
def test_branches_in_any_order_of_the_coordinates(order: tuple[str, ...]) -> None:
    robot = replace(fork(), actuated=order)
    q, qd, qdd = draw_samples(robot, 5)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    assert close(ytheta.forward_dynamics(robot)(q, qd, tau), qdd, 1e-8)
    places = [order.index(name) for name in ("turn", "slide", "swing")]
    plain = ytheta.inverse_dynamics(fork())(*(x[:, places] for x in (q, qd, qdd)))
    assert close(tau[:, places], plain)


def test_a_robot_without_joints_has_kernels() -> None:
    for make_kernel in KERNELS.values():
        kernel = make_kernel(robot_without_joints())
        arrays = [np.zeros((3, 0))] * len(kernel.graph.inputs)
        assert kernel(*arrays).shape[0] == 3


def test_forward_dynamics_needs_inertia() -> None:
    robot = ytheta.load("rx90")
    with pytest.raises(InputError, match="nothing that 'joint1' moves has inertia"):
        ytheta.forward_dynamics(robot)
    assert (ytheta.inverse_dynamics(robot)(*draw_samples(robot, 2)) == 0.0).all()


def test_a_pose_in_degrees_is_refused() -> None:
    robot = ytheta.load("five-bar")
    with pytest.raises(InputError, match="sample 0 is more than 100 rad or m from home"):
        ytheta.gravity(robot)([[171.0, 8.0]])


def test_parameters_must_be_a_list_of_names() -> None:
    robot = ytheta.load("ur10")
    with pytest.raises(InputError, match="is a single string; give a list of names"):
        ytheta.regressor(robot, parameters="shoulder_link.m")
    names = np.array(robot.parameter_names[:2])
    assert ytheta.regressor(robot, parameters=list(names)).graph.shape == (6, 2)


@pytest.mark.parametrize(("name", "multiplications", "additions"), [("ur10", 380, 295), ("panda", 726, 519)])
def test_operations_of_base_regressors(name: str, multiplications: int, additions: int) -> None:
    """Joint axes are transformed to the bodies; transforming columns to the joints took 610 and 791 multiplications."""
    robot = ytheta.load(name)
    operations = ytheta.regressor(robot, ytheta.base_parameters(robot)).about.operations
    assert operations.multiplications <= multiplications
    assert operations.additions <= additions
