"""Simulated arms whose description is off by 20 %, with planted friction laws, rotors and loads, and their logs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from benchmarks.simulated_robots import (
    FrictionLaw,
    Motion,
    TrueRobot,
    load_description,
    make_motion,
    perturb_inertia,
    record,
)

import ytheta as yt
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

COLOUR_TIME = 0.02  # s, of the coloured part of the noise


@dataclass(frozen=True, eq=False)
class Case:
    """A description, the true robot that moved, and logs of two motions; ``exact`` are the torques of the second."""

    description: Robot
    truth: Robot
    fit: yt.Log
    validation: yt.Log
    motion: Motion
    exact: np.ndarray

    @property
    def values(self) -> dict[str, float]:
        """The true standard parameters by name."""
        return dict(zip(self.truth.parameter_names, self.truth.theta.tolist(), strict=True))

    def compute_model_error(self, robot: Robot) -> float:
        """Error of a robot's torques on the exact torques of the validation motion, in percent."""
        motion = self.motion
        tau = yt.inverse_dynamics(robot)(motion.q, motion.qd, motion.qdd)
        return float(100.0 * np.linalg.norm(tau - self.exact) / np.linalg.norm(self.exact))

    def compute_true_base(self, base: yt.BaseParameters) -> np.ndarray:
        """The true values of base parameters; parameters that the true robot does not have are zero."""
        values = self.values
        return base.K @ np.array([values.get(name, 0.0) for name in base.robot.parameter_names])


@cache
def simulate_case(
    name: str,
    seed: int = 0,
    *,
    rich: bool = True,
    seconds: float = 6.0,
    rotors: bool = False,
    root: bool = False,
    load_friction: bool = False,
    missing_load: str = "",
    noise: float = 1.0,
) -> Case:
    """Simulate an arm of the catalog; ``missing_load`` names a link that carries a load the description lacks.

    ``noise`` is a factor: 1 for white and coloured noise of 1 % each.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    description = load_description(name)
    truth = description.with_inertias({link.name: perturb_inertia(link.inertia, rng) for link in description.links[1:]})
    if missing_load:
        mass = 0.2 * sum(link.inertia.mass for link in description.links[1:])
        body = Inertia.about_center(
            mass, (0.08, -0.05, 0.1), tuple(tuple(row) for row in (0.003 * mass * np.eye(3)).tolist())
        )  # type: ignore[arg-type]
        truth = truth.with_inertias({missing_load: truth.link(missing_load).inertia + body})
    usual = make_motion(description, rng, rich=True)
    torque = np.sqrt(np.mean(yt.inverse_dynamics(truth)(usual.q, usual.qd, usual.qdd) ** 2, axis=0))
    torque = np.maximum(torque, 0.02 * torque.max())
    speeds = abs(usual.qd).max(axis=0)
    inertias = np.diagonal(yt.mass_matrix(truth)(usual.q), axis1=1, axis2=2).mean(axis=0)
    count = len(torque)
    drives = {
        joint: Drive(
            rotor_inertia=0.4 * inertias[k] * rotors,
            viscous=0.1 * torque[k] / speeds[k],
            coulomb=0.06 * torque[k],
            offset=float(0.02 * torque[k] * rng.normal()),
            root=0.12 * torque[k] / np.sqrt(speeds[k]) if root else None,
            load=0.12 if load_friction else None,
        )
        for k, joint in enumerate(truth.actuated)
    }
    assert count == len(drives)
    truth = truth.with_drives(lambda joint, drive: drives.get(joint, drive))
    motions = make_motion(description, rng, rich=rich, seconds=seconds), make_motion(description, rng, rich=True)
    simulated = TrueRobot(truth, FrictionLaw.PLAIN, np.zeros(count), speeds)
    logs = []
    for motion in motions:
        exact = simulated.compute_torque(motion)
        log = record(simulated, motion, rng, colour_time=COLOUR_TIME)
        assert log.tau is not None
        logs.append(replace(log, tau=exact + noise * (log.tau - exact)))
    return Case(description, truth, *logs, motions[1], simulated.compute_torque(motions[1]))
