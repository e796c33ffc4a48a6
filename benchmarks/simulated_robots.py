"""Simulated robots whose description is wrong, and logs of their motion with the errors of sensors.

The true robot differs from a robot of the catalog in every link, P_true = s A P A^T with its pseudo-inertia P, a random
matrix A near the identity, and s between 0.8 and 1.2, or more for a larger deviation: physically consistent like P.
It has friction and perhaps rotor inertias, a load or a gripper, which the description lacks. The description is the
robot of the catalog, or has placeholders instead of its inertias, or those of another material. Torques are those of
inverse dynamics along an analytical trajectory.
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
DEVIATION = 0.2  # of a description for which the changes of the next line hold; others are in proportion
MASS_CHANGE, SHAPE_CHANGE, CENTER_CHANGE = 0.2, 0.06, 0.1  # the last relative to the radius of gyration
MIN_MASS_SHARE, MIN_RADIUS = 0.01, 0.03  # floors of links in descriptions: mass relative to the total, and in metres
# Acceleration that the highest torque of a drive would give its rotor alone, in rad/s² at the joint, about the range of
# published robots (KR300 16 to 190, PUMA 560 80 to 155, TX40 360 to 2900); and its spread within a robot (logarithm).
ROTOR_ACCELERATIONS, ROTOR_SPREAD = (30.0, 1000.0), 0.7
PEAK_TORQUE_RATIO = 4.0  # highest torque of a drive relative to its usual one, if the description has no limit
DENSITY_FACTORS = (0.35, 3.0)  # of a description whose material is wrong, such as water instead of aluminium
RIPPLES = 5.0  # periods of torque ripple in a turn of the joint
LOAD_MASS_SHARE = 0.12  # of a load, relative to the total mass of the description
GRIPPER_MASS_SHARES, GRIPPER_DISTANCES = (0.02, 0.15), (0.05, 0.2)  # the second in m from the last frame
PLACEHOLDER_MASSES, PLACEHOLDER_MOMENTS = (0.1, 1.0, 1.0, 5.0), (1e-3, 1e-2, 1e-1, 1.0)  # kg, kg m²


class Description(Enum):
    """What the description of a simulated robot contains."""

    DESIGN = "design"  # the inertias of the catalog
    PLACEHOLDERS = "placeholders"
    WRONG_MATERIAL = "wrong material"  # those of the catalog times one factor


class Extra(Enum):
    """A body that the true robot has and its description lacks."""

    NOTHING = "nothing"
    LOAD = "load"  # at the last link, or a counterweight at the second one
    GRIPPER = "gripper"  # at the last link


class FrictionLaw(Enum):
    """Friction beyond viscous, Coulomb and offset."""

    PLAIN = "plain"
    SQUARE_ROOT = "square root"  # size · sign(v) sqrt(|v| / v_max)
    LOAD = "load"  # size · sign(v) |torque of links and rotors|
    RIPPLE = "ripple"  # size · sin(RIPPLES q): no model of ytheta has it


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
        elif self.law is FrictionLaw.RIPPLE:
            return tau + self.coefficients * np.sin(RIPPLES * motion.q)
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


def perturb_inertia(inertia: yt.Inertia, rng: np.random.Generator, deviation: float = DEVIATION) -> yt.Inertia:
    """Return an inertia that differs by about ``deviation`` and is physically consistent if the given one is."""
    radius = float(np.sqrt(np.trace(np.array(inertia.tensor_about_center)) / (2.0 * inertia.mass)))
    size = deviation / DEVIATION
    change = np.eye(4)
    change[:3, :3] += size * SHAPE_CHANGE * rng.normal(size=(3, 3))
    change[:3, 3] = size * CENTER_CHANGE * radius * rng.normal(size=3)
    scale = rng.uniform(1.0 - size * MASS_CHANGE, 1.0 + size * MASS_CHANGE)
    return yt.Inertia.from_pseudo(scale * change @ inertia.pseudo @ change.T)


def describe(robot: yt.Robot, description: Description, rng: np.random.Generator) -> yt.Robot:
    """Return the description of a robot of the catalog."""
    makers = {Description.PLACEHOLDERS: make_placeholders, Description.WRONG_MATERIAL: scale_masses}
    return makers[description](robot, rng) if description in makers else robot


def make_placeholders(robot: yt.Robot, rng: np.random.Generator) -> yt.Robot:
    """Return the robot with invented inertias: the same for every link, or round masses of about the right size.

    Their centres of mass are at the frames, or in the middle between the joints.
    """
    shared, moment = float(rng.choice(PLACEHOLDER_MASSES)), float(rng.choice(PLACEHOLDER_MOMENTS))
    same, at_frames = rng.random(2) < 0.5
    inertias = {}
    for link in robot.links[1:]:
        mass = shared if same else float(f"{link.inertia.mass * rng.uniform(0.3, 3.0):.1g}")
        x, y, z = np.zeros(3) if at_frames else 0.5 * find_next_joint(robot, link.name)
        own = moment if same else mass * 0.01
        tensor = ((own, 0.0, 0.0), (0.0, own, 0.0), (0.0, 0.0, own))
        inertias[link.name] = yt.Inertia.about_center(mass, (float(x), float(y), float(z)), tensor)
    return robot.with_inertias(inertias)


def scale_masses(robot: yt.Robot, rng: np.random.Generator) -> yt.Robot:
    """Return the robot with the inertias of another material: all links are too light or too heavy by one factor."""
    factor = float(np.exp(rng.uniform(*np.log(DENSITY_FACTORS))))
    return robot.with_inertias(
        {link.name: yt.Inertia(tuple((factor * link.inertia.vector).tolist())) for link in robot.links[1:]}
    )


def find_next_joint(robot: yt.Robot, link: str) -> Float[np.ndarray, "3"]:
    """Return the position of the joint that the link carries, in its frame; zero for the last link."""
    return np.array([joint.placement.matrix[:3, 3] for joint in robot.joints if joint.parent == link] or [np.zeros(3)])[
        0
    ]


def add_extra(robot: yt.Robot, extra: Extra, rng: np.random.Generator) -> yt.Robot:
    """Return the robot with a compact body that its description lacks."""
    if extra is Extra.NOTHING:
        return robot
    total = sum(link.inertia.mass for link in robot.links[1:])
    if extra is Extra.LOAD:
        mass, link = LOAD_MASS_SHARE * total, robot.links[-1] if rng.random() < 0.5 else robot.links[2]
        center = rng.uniform(-0.1, 0.1, 3)
    else:
        low, high = np.log(GRIPPER_MASS_SHARES)
        mass, link = float(np.exp(rng.uniform(low, high))) * total, robot.links[-1]
        direction = rng.normal(size=3)
        center = rng.uniform(*GRIPPER_DISTANCES) * direction / np.linalg.norm(direction)
    moment = mass * 0.05**2
    tensor = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment))
    x, y, z = center.tolist()
    return robot.with_inertias({link.name: link.inertia + yt.Inertia.about_center(mass, (x, y, z), tensor)})


def make_true_robot(
    description: yt.Robot,
    rng: np.random.Generator,
    *,
    extra: Extra = Extra.NOTHING,
    rotors: bool,
    law: FrictionLaw,
    deviation: float = DEVIATION,
) -> TrueRobot:
    """Return a robot that differs from the description; its friction is a few percent of its usual torques."""
    links = {link.name: perturb_inertia(link.inertia, rng, deviation) for link in description.links[1:]}
    robot = add_extra(description.with_inertias(links), extra, rng)
    usual = make_motion(description, rng, rich=True)
    torque = compute_rms(yt.inverse_dynamics(robot)(usual.q, usual.qd, usual.qdd))
    torque = np.maximum(torque, 0.005 * torque.max())
    speeds = abs(usual.qd).max(axis=0)
    count = len(torque)
    limits = np.array([joint.limits.effort for joint in robot.movable])
    limits = np.where(np.isfinite(limits), limits, PEAK_TORQUE_RATIO * torque)
    accelerations = np.exp(rng.uniform(*np.log(ROTOR_ACCELERATIONS)) + ROTOR_SPREAD * rng.normal(size=count))
    drives = {
        name: Drive(rotor_inertia=ia if rotors else 0.0, viscous=fv, coulomb=fc, offset=fo)
        for name, ia, fv, fc, fo in zip(
            robot.actuated,
            (limits / accelerations).tolist(),
            (torque / speeds * rng.uniform(0.05, 0.15, count)).tolist(),
            (torque * rng.uniform(0.03, 0.1, count)).tolist(),
            (torque * 0.02 * rng.normal(size=count)).tolist(),
            strict=True,
        )
    }
    coefficients = rng.uniform(0.05, 0.12, count) * (1.0 if law is FrictionLaw.LOAD else torque)
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
