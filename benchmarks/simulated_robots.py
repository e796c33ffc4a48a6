"""Simulated robots whose description is wrong, and logs of their motion with the errors of sensors.

The true robot differs from the description in every link, P_true = s A P A^T with the pseudo-inertia P of the
description, a random matrix A near the identity, and s between 0.8 and 1.2: physically consistent like the description.
It has friction and perhaps rotor inertias and a load, which the description lacks. Torques are those of inverse
dynamics along an analytical trajectory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cache

import numpy as np

import ytheta as yt
from ytheta.robot.parts import Drive, JointKind
from ytheta.shapes import Float, PerJoint, SamplesByJoint

RATE = 200.0  # Hz
ENCODER_STEP = 2.0 * np.pi / 2**17  # rad or m
WHITE_NOISE, COLOURED_NOISE = 0.01, 0.01  # standard deviations of the torque, relative to its RMS
RICH_SECONDS, POOR_SECONDS = 12.0, 6.0
MASS_CHANGE, SHAPE_CHANGE, CENTER_CHANGE = 0.2, 0.06, 0.1  # the last relative to the radius of gyration
MIN_MASS_SHARE, MIN_RADIUS = 0.01, 0.03  # floors of links in descriptions: mass relative to the total, and in metres
LOAD_MASS_SHARE = 0.12  # of a load, relative to the total mass of the description


class FrictionLaw(Enum):
    """Friction beyond viscous, Coulomb and offset."""

    PLAIN = "plain"
    SQUARE_ROOT = "square root"  # size · sign(v) sqrt(|v| / v_max)
    LOAD = "load"  # size · sign(v) |torque of links and rotors|


@dataclass(frozen=True)
class Motion:
    """Positions, velocities and accelerations along an analytical trajectory, RATE samples per second."""

    q: SamplesByJoint
    qd: SamplesByJoint
    qdd: SamplesByJoint

    @property
    def t(self) -> Float[np.ndarray, " samples"]:
        return np.arange(len(self.q)) / RATE


@dataclass(frozen=True)
class TrueRobot:
    """A robot with plain friction, and the coefficients of an additional friction law, one per joint."""

    robot: yt.Robot
    law: FrictionLaw
    coefficients: PerJoint
    highest_speeds: PerJoint

    def compute_torque(self, motion: Motion) -> SamplesByJoint:
        tau = yt.inverse_dynamics(self.robot)(motion.q, motion.qd, motion.qdd)
        if self.law is FrictionLaw.SQUARE_ROOT:
            size = np.sqrt(abs(motion.qd) / self.highest_speeds)
        elif self.law is FrictionLaw.LOAD:
            rigid = self.robot.with_drives(lambda _name, drive: Drive(rotor_inertia=drive.rotor_inertia))
            size = abs(yt.inverse_dynamics(rigid)(motion.q, motion.qd, motion.qdd))
        else:
            return tau
        return tau + self.coefficients * np.sign(motion.qd) * size


@cache
def load_description(name: str) -> yt.Robot:
    """Return a robot of the catalog without drives, and with inertias that are physically consistent.

    Published inertias may have no mass or violate the triangle inequality.
    """
    robot = yt.load(name).merged.with_drives(lambda _name, _drive: Drive())
    smallest = MIN_MASS_SHARE * sum(link.inertia.mass for link in robot.links[1:])
    return robot.with_inertias({link.name: repair_inertia(link.inertia, smallest) for link in robot.links[1:]})


def repair_inertia(inertia: yt.Inertia, smallest_mass: float) -> yt.Inertia:
    """Return an inertia with at least this mass, and at least the second moments of a body of MIN_RADIUS."""
    mass, center = max(inertia.mass, smallest_mass), np.array(inertia.center)
    tensor = np.array(inertia.tensor_about_center)
    moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    second = (axes * np.maximum(moments, mass * MIN_RADIUS**2)) @ axes.T
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = second + mass * np.outer(center, center)
    pseudo[:3, 3] = pseudo[3, :3] = mass * center
    pseudo[3, 3] = mass
    return yt.Inertia.from_pseudo(pseudo)


def perturb_inertia(inertia: yt.Inertia, rng: np.random.Generator) -> yt.Inertia:
    """Return an inertia that differs by about 20 % and is physically consistent if the given one is."""
    radius = float(np.sqrt(np.trace(np.array(inertia.tensor_about_center)) / (2.0 * inertia.mass)))
    change = np.eye(4)
    change[:3, :3] += SHAPE_CHANGE * rng.normal(size=(3, 3))
    change[:3, 3] = CENTER_CHANGE * radius * rng.normal(size=3)
    scale = rng.uniform(1.0 - MASS_CHANGE, 1.0 + MASS_CHANGE)
    return yt.Inertia.from_pseudo(scale * change @ inertia.pseudo @ change.T)


def add_load(robot: yt.Robot, rng: np.random.Generator) -> yt.Robot:
    """Return the robot with a compact load at the last link, or a counterweight at the second one."""
    mass = LOAD_MASS_SHARE * sum(link.inertia.mass for link in robot.links[1:])
    link = robot.links[-1] if rng.random() < 0.5 else robot.links[2]
    moment = mass * 0.05**2
    tensor = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment))
    x, y, z = rng.uniform(-0.1, 0.1, 3).tolist()
    load = yt.Inertia.about_center(mass, (x, y, z), tensor)
    return robot.with_inertias({link.name: link.inertia + load})


def make_true_robot(
    description: yt.Robot, rng: np.random.Generator, *, load: bool, rotors: bool, law: FrictionLaw
) -> TrueRobot:
    """Return a robot that differs from the description; its friction is a few percent of its usual torques."""
    links = {link.name: perturb_inertia(link.inertia, rng) for link in description.links[1:]}
    robot = description.with_inertias(links)
    robot = add_load(robot, rng) if load else robot
    usual = make_motion(description, rng, rich=True)
    torque = compute_rms(yt.inverse_dynamics(robot)(usual.q, usual.qd, usual.qdd))
    torque = np.maximum(torque, 0.005 * torque.max())
    speeds = abs(usual.qd).max(axis=0)
    inertias = np.diagonal(yt.mass_matrix(robot)(usual.q), axis1=1, axis2=2).mean(axis=0)
    count = len(torque)
    drives = {
        name: Drive(rotor_inertia=ia if rotors else 0.0, viscous=fv, coulomb=fc, offset=fo)
        for name, ia, fv, fc, fo in zip(
            robot.actuated,
            (inertias * rng.uniform(0.2, 0.6, count)).tolist(),
            (torque / speeds * rng.uniform(0.05, 0.15, count)).tolist(),
            (torque * rng.uniform(0.03, 0.1, count)).tolist(),
            (torque * 0.02 * rng.normal(size=count)).tolist(),
            strict=True,
        )
    }
    coefficients = rng.uniform(0.05, 0.12, count) * (torque if law is FrictionLaw.SQUARE_ROOT else 1.0)
    driven = robot.with_drives(lambda name, _drive: drives[name])
    return TrueRobot(driven, law, coefficients, speeds)


def change_friction(truth: TrueRobot, rng: np.random.Generator, share: float) -> TrueRobot:
    """Return the robot on another day: every friction term differs by ``share`` of its size at random.

    Offsets differ by ``share`` of the Coulomb friction.
    """

    def change(_name: str, drive: Drive) -> Drive:
        viscous, coulomb, offset = share * rng.normal(size=3)
        return replace(
            drive,
            viscous=drive.viscous * (1.0 + viscous),
            coulomb=drive.coulomb * (1.0 + coulomb),
            offset=drive.offset + drive.coulomb * offset,
        )

    changed = truth.robot.with_drives(change)
    return replace(truth, robot=changed, coefficients=truth.coefficients * (1.0 + share * rng.normal()))


def make_motion(robot: yt.Robot, rng: np.random.Generator, *, rich: bool, seconds: float | None = None) -> Motion:
    """Return a Fourier series. Poor motion is short and small, and about half of the joints hardly move."""
    joints = robot.movable
    ranges = [(joint.limits.lower, joint.limits.upper) for joint in joints]
    slides = np.array([joint.kind is JointKind.PRISMATIC for joint in joints])
    middle = np.array([0.5 * (a + b) if np.isfinite([a, b]).all() else 0.0 for a, b in ranges]) + 0.5 * slides
    unit = np.where(slides, 0.2, 1.0)  # slides move by less: metres instead of radians
    duration = seconds or (RICH_SECONDS if rich else POOR_SECONDS)
    amplitude = unit * (1.2 if rich else np.where(rng.random(len(joints)) < 0.5, 0.3, 0.03))
    middle = middle if rich else middle + 0.5 * unit * rng.uniform(-1.0, 1.0, len(joints))
    highest = 0.8 if rich else 0.5  # Hz
    w = 2.0 * np.pi / RICH_SECONDS * np.arange(1, round(RICH_SECONDS * highest) + 1)
    angle = np.outer(np.arange(round(duration * RATE)) / RATE, w)
    a, b = rng.normal(size=(2, len(w), len(joints))) / np.sqrt(np.arange(1, len(w) + 1))[:, None]
    sin, cos, w = np.sin(angle), np.cos(angle), w[:, None]
    q, qd, qdd = sin @ a + cos @ b, cos @ (w * a) - sin @ (w * b), -sin @ (w**2 * a) - cos @ (w**2 * b)
    center = 0.5 * (q.max(axis=0) + q.min(axis=0))
    size = amplitude / abs(q - center).max(axis=0)
    return Motion(middle + size * (q - center), size * qd, size * qdd)


def record(
    truth: TrueRobot,
    motion: Motion,
    rng: np.random.Generator,
    *,
    colour_time: float,
    usual_torque: PerJoint | None = None,
) -> yt.Log:
    """Return the log of a motion: encoder counts, and torques with white and coloured noise.

    ``colour_time`` is the time constant of the coloured noise in s. ``usual_torque`` is the torque of each joint of
    which the noise is a share; None for the RMS torque of the motion.
    """
    tau = truth.compute_torque(motion)
    white, drive = rng.normal(size=(2, *tau.shape))
    coloured = np.empty_like(drive)
    memory = float(np.exp(-1.0 / (RATE * colour_time)))
    coloured[0] = drive[0]
    for k in range(1, len(drive)):
        coloured[k] = memory * coloured[k - 1] + np.sqrt(1.0 - memory**2) * drive[k]
    scale = compute_rms(tau) if usual_torque is None else usual_torque
    noise = scale * (WHITE_NOISE * white + COLOURED_NOISE * coloured)
    q = ENCODER_STEP * np.round(motion.q / ENCODER_STEP)
    return yt.Log(truth.robot.actuated, motion.t, q, tau + noise, source="simulated")


def compute_rms(values: SamplesByJoint) -> PerJoint:
    return np.sqrt(np.mean(values**2, axis=0))


def collect_parameters(truth: TrueRobot) -> dict[str, float]:
    """Return the true standard parameters by name."""
    return dict(zip(truth.robot.parameter_names, truth.robot.theta.tolist(), strict=True))
