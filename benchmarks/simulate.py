"""Closed loops in batches, compared with MuJoCo's ``mj_step`` of the same arm without a controller, on one core.

The controller is Slotine–Li and adapts all base parameters. MuJoCo integrates with RK4 and the same time step. Its
model has no contacts, limits or sensors, which would cost time. A further benchmark measures one step of a controller
that adapts all parameters of a chain of n links, called from Python. The peer is the same step, tau = Y theta - K s and
Yᵀ s, by Pinocchio's regressor and NumPy.
"""

from __future__ import annotations

import time
from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin

import ytheta
from benchmarks.clock import Row, measure_best
from ytheta.control.controller import Reference
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.engine.local import count_processors
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import RUNS_PER_BATCH, ClosedLoop
from ytheta.simulation.sensors import Sensor, Sensors

RUNS, SECONDS = 10_000, 2.0  # number and duration (s) of the runs of the arm with four joints
STEP = 1e-3
PEER_STEPS = 200
CALLS = 2000
NOISE = Sensors(q=Sensor(noise=1e-5), qd=Sensor(noise=1e-3), tau=Sensor(noise=0.1))
SENSORS = {"exact": None, "noise in q, qd, tau": NOISE}
JOINTS = (2, 4, 8, 12)
LINK = Inertia((1.0, 0.1, 0.02, 0.03, 0.2, 0.0, 0.2, 0.0, 0.0, 0.2))
QUARTER_TURN = Frame(translation=(0.3, 0.0, 0.0), rotation=((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))


def measure_rows() -> list[Row]:
    ur10 = ytheta.load("ur10")
    base = ytheta.base_parameters(ur10)
    peer = _measure_mujoco(ur10)
    damping = 100.0 * ytheta.mass_matrix(ur10).one(np.zeros(6)).diagonal()
    controller = SlotineLi(ur10, base, convergence=8.0, damping=damping, adaptation=0.5)
    varied = ClosedLoop(plant=ur10, controller=controller, varied=ur10.parameter_names)
    return [
        _measure_step("UR10 closed loop", ClosedLoop(plant=ur10, controller=controller), peer),
        _measure_step("UR10 closed loop, own parameters in each run", varied, peer),
        *(
            _measure_run(name, ClosedLoop(plant=ur10, controller=controller, sensors=s), peer)
            for name, s in SENSORS.items()
        ),
        *_measure_puma(),
        *(_measure_control(n) for n in JOINTS),
    ]


def _measure_step(name: str, loop: ClosedLoop, peer: float) -> Row:
    """Measure the time per run of one control period: controller, four stages of the plant, bookkeeping."""
    rng = np.random.default_rng(0)
    n = len(loop.plant.actuated)
    start = loop.init(rng.uniform(-1.0, 1.0, (RUNS_PER_BATCH, n)), np.zeros((RUNS_PER_BATCH, n)))
    kernel, state, reference = loop.kernel, loop.pack_states(start), np.zeros(3 * n)
    out, theta = np.empty_like(state), [start.theta] if loop.varied else []
    seconds = (
        measure_best(lambda: kernel(state, reference, *theta, out=out, threads=1), runs=15, calls=4) / RUNS_PER_BATCH
    )
    return Row(f"{name}, one run-step (RK4, Slotine–Li)", seconds, peer, "mj_step with RK4, no controller")


def _measure_run(name: str, loop: ClosedLoop, peer: float) -> Row:
    """Measure the time per run and step of a batch of whole runs on one core; every tenth instant is recorded."""
    n = len(loop.plant.actuated)
    at_rest = np.zeros((RUNS_PER_BATCH, n))
    start, steps = loop.init(at_rest, at_rest), round(SECONDS / 8 / STEP)

    def reference_motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = np.outer(t, np.ones(n))
        return 0.3 * (1.0 - np.cos(angle)), 0.3 * np.sin(angle), 0.3 * np.cos(angle)

    def run() -> None:
        loop.run(start, reference_motion, steps * STEP, threads=1, rng=np.random.default_rng(0))

    _ = loop.kernel
    seconds = measure_best(run, runs=5, clock=time.process_time) / (RUNS_PER_BATCH * steps)
    return Row(f"UR10 whole runs, {name}, one run-step", seconds, peer, "mj_step with RK4, no controller")


def _measure_control(n: int) -> Row:
    """Measure one step of a controller, called from Python."""
    links = [Link("base"), *(Link(f"link{k}", LINK) for k in range(n))]
    joints = [
        Joint(f"joint{k}", JointKind.REVOLUTE, links[k].name, links[k + 1].name, QUARTER_TURN, axis=(0.0, 0.0, 1.0))
        for k in range(n)
    ]
    law = SlotineLi(Robot("chain", tuple(links), tuple(joints)), convergence=4.0, damping=2.0, adaptation=1.0)
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, n))
    reference, state = Reference(qd, q, qdd), law.init(q, qd)
    seconds = measure_best(lambda: law.step(state, STEP, q, qd, reference), calls=CALLS, clock=time.process_time)
    model, theta = _make_pinocchio_chain(n), state.x
    data = model.createData()

    def peer() -> tuple[np.ndarray, np.ndarray]:
        error, error_rate = q - reference.q, qd - reference.qd
        s = error_rate + 4.0 * error
        Y = pin.computeJointTorqueRegressor(model, data, q, qd, reference.qdd - 4.0 * error_rate)
        return Y @ theta - 2.0 * s, theta - STEP * (Y.T @ s)

    peer_seconds = measure_best(peer, calls=CALLS, clock=time.process_time)
    name = f"Slotine–Li, one step from Python, {n} joints, {len(theta)} unknown parameters"
    return Row(name, seconds, peer_seconds, "computeJointTorqueRegressor and NumPy")


def _make_pinocchio_chain(n: int) -> pin.Model:
    """Return the same chain as a Pinocchio model."""
    model, parent = pin.Model(), 0
    mass, mx, my, mz, xx, xy, yy, xz, yz, zz = LINK.parameters
    c = np.array([mx, my, mz]) / mass
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - mass * (c @ c * np.eye(3) - np.outer(c, c))
    placement = pin.SE3(np.array(QUARTER_TURN.rotation), np.array(QUARTER_TURN.translation))
    for k in range(n):
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, f"joint{k}")
        model.appendBodyToJoint(parent, pin.Inertia(mass, c, tensor), pin.SE3.Identity())
    return model


def _measure_puma() -> list[Row]:
    """Measure many whole runs with different loads and start offsets, on all cores."""
    robot = ytheta.load("lu-puma4")
    controller = SlotineLi(robot, convergence=10.0, damping=8.0, adaptation=1.0, learn=("load.m",))
    loop = ClosedLoop(plant=robot, controller=controller, period=STEP, varied=("load.m",))
    rng = np.random.default_rng(0)
    start = loop.init(
        0.1 * rng.normal(size=(RUNS, 4)), np.zeros((RUNS, 4)), parameters={"load.m": rng.uniform(0.2, 1.0, RUNS)}
    )

    def reference_motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = np.array([2.0, 2.5, 3.0, 3.5])
        angle = np.outer(t, w)
        return 0.5 * (1.0 - np.cos(angle)), 0.5 * w * np.sin(angle), 0.5 * w**2 * np.cos(angle)

    _ = loop.kernel
    whole = measure_best(lambda: loop.run(start, reference_motion, SECONDS, every=100), runs=2)
    peer = _measure_mujoco(_add_volume(robot))
    steps = RUNS * round(SECONDS / STEP)
    name = f"{RUNS} runs of {SECONDS:g} s at 1 kHz, four joints, {count_processors()} cores"
    return [Row(name, whole, peer * steps, "as many mj_steps on one core")]


def _add_volume(robot: Robot) -> Robot:
    """Replace point masses by small balls and merge loads, because MuJoCo rejects bodies without inertia."""
    merged = replace(robot, links=tuple(replace(link, load=False) for link in robot.links)).merged
    ball = (1e-6, 0.0, 0.0), (0.0, 1e-6, 0.0), (0.0, 0.0, 1e-6)
    links = merged.links[1:]
    return merged.with_inertias(
        {link.name: Inertia.about_center(link.inertia.mass, link.inertia.center, ball) for link in links}
    )


def _measure_mujoco(robot: Robot) -> float:
    """Return the seconds per step of MuJoCo's own loop, called from Python once for many steps."""
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot.merged))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)

    def steps() -> None:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=PEER_STEPS)

    return measure_best(steps, runs=15) / PEER_STEPS
