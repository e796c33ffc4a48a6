"""Closed loops in batches, against MuJoCo's ``mj_step`` of the same arm without any controller, on one core.

Slotine–Li learns all base parameters. MuJoCo integrates with RK4 and the same step; contacts, limits and sensors cost
it nothing here, as the model has none.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

import ytheta
from benchmarks.clock import Row, best_of
from ytheta.control.slotine_li import SlotineLi
from ytheta.engine.local import usable_processors
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import BLOCK, ClosedLoop
from ytheta.simulation.mjcf import mjcf

RUNS, SECONDS = 10_000, 2.0  # of the arm with four joints
STEP = 1e-3
PEER_STEPS = 200


def rows() -> list[Row]:
    ur10 = ytheta.load("ur10")
    base = ytheta.base_parameters(ur10)
    peer = _mujoco(ur10)
    damping = 100.0 * ytheta.mass_matrix(ur10).one(np.zeros(6)).diagonal()
    learner = SlotineLi(ur10, base, convergence=8.0, damping=damping, adaptation=0.5)
    varied = ClosedLoop(plant=ur10, controller=learner, varied=ur10.parameter_names)
    return [
        _step_row("UR10 closed loop", ClosedLoop(plant=ur10, controller=learner), peer),
        _step_row("UR10 closed loop, own parameters in each run", varied, peer),
        *_puma_rows(),
    ]


def _step_row(name: str, loop: ClosedLoop, peer: float) -> Row:
    """One period of a block: controller, four stages of the plant, bookkeeping; per run."""
    rng = np.random.default_rng(0)
    n = len(loop.plant.actuated)
    start = loop.start(rng.uniform(-1.0, 1.0, (BLOCK, n)), np.zeros((BLOCK, n)))
    still = np.zeros((1, n))
    kernel, state, reference = loop.kernel, loop.states(start), np.concatenate([still, still, still], axis=1)[0]
    out, theta = np.empty_like(state), [start.theta] if loop.varied else []
    seconds = best_of(lambda: kernel(state, reference, *theta, out=out, threads=1), runs=15, calls=4) / BLOCK
    return Row(f"{name}, one run-step (RK4, Slotine–Li)", seconds, peer, "mj_step with RK4, no controller")


def _puma_rows() -> list[Row]:
    """Many whole runs, with different loads and initial errors, on all cores."""
    robot = ytheta.load("lu-puma4")
    controller = SlotineLi(robot, convergence=10.0, damping=8.0, adaptation=1.0, learn=("load.m",))
    loop = ClosedLoop(plant=robot, controller=controller, period=STEP, varied=("load.m",))
    rng = np.random.default_rng(0)
    start = loop.start(
        0.1 * rng.normal(size=(RUNS, 4)), np.zeros((RUNS, 4)), parameters={"load.m": rng.uniform(0.2, 1.0, RUNS)}
    )

    def course(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = np.array([2.0, 2.5, 3.0, 3.5])
        angle = np.outer(t, w)
        return 0.5 * (1.0 - np.cos(angle)), 0.5 * w * np.sin(angle), 0.5 * w**2 * np.cos(angle)

    _ = loop.kernel
    whole = best_of(lambda: loop.run(start, course, SECONDS, every=100), runs=2)
    peer = _mujoco(_with_volume(robot))
    steps = RUNS * round(SECONDS / STEP)
    name = f"{RUNS} runs of {SECONDS:g} s at 1 kHz, four joints, {usable_processors()} cores"
    return [Row(name, whole, peer * steps, "as many mj_steps on one core")]


def _with_volume(robot: Robot) -> Robot:
    """Point masses become small balls, loads part of their links: MuJoCo refuses bodies without inertia."""
    whole = replace(robot, links=tuple(replace(link, load=False) for link in robot.links)).merged
    ball = (1e-6, 0.0, 0.0), (0.0, 1e-6, 0.0), (0.0, 0.0, 1e-6)
    links = whole.links[1:]
    return whole.with_inertias(
        {link.name: Inertia.about_center(link.inertia.mass, link.inertia.center, ball) for link in links}
    )


def _mujoco(robot: Robot) -> float:
    """Seconds of a step of MuJoCo's own loop, called from Python once for many steps."""
    model = mujoco.MjModel.from_xml_string(mjcf(robot.merged))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)

    def steps() -> None:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=PEER_STEPS)

    return best_of(steps, runs=15) / PEER_STEPS
