"""Checks of base parameters that hold for every method."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

import ytheta
from ytheta.dynamics.kernels import AnyKernel
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


def enlarge(robot: Robot, factor: float) -> Robot:
    """Return a robot whose lengths are multiplied by a factor."""

    def scale(frame: Frame) -> Frame:
        x, y, z = (factor * entry for entry in frame.translation)
        return replace(frame, translation=(x, y, z))

    joints = tuple(replace(j, placement=scale(j.placement), seat=scale(j.seat)) for j in robot.joints)
    sliding = robot.prismatic_joints
    home = tuple((name, factor * value if name in sliding else value) for name, value in robot.home)
    return replace(robot, joints=joints, home=home)


def regressors(robot: Robot, names: tuple[str, ...], count: int = 60) -> np.ndarray:
    """Regressors of random motions with velocities; all columns except those of ``names`` are zero."""
    Y = _regressor(robot)(*_motions(robot, count))
    Y[:, :, [name not in names for name in robot.parameter_names]] = 0.0
    return Y


@lru_cache(maxsize=32)
def _regressor(robot: Robot) -> AnyKernel:
    """Cached, since the checks of one robot need it several times."""
    return ytheta.regressor(robot, backend="interpreter")


def rank(robot: Robot, names: tuple[str, ...]) -> int:
    """The number of independent columns on random motions, by a plain SVD."""
    W = regressors(robot, names, 200).reshape(-1, len(robot.parameter_names))
    sizes = np.linalg.norm(W, axis=0)
    nonzero = sizes > 1e-12 * sizes.max()
    values = np.linalg.svd(W[:, nonzero] / sizes[nonzero], compute_uv=False)
    return int(np.count_nonzero(values > 1e-9 * values[0]))


def _motions(robot: Robot, count: int) -> np.ndarray:
    """Random motions; those of robots with loops are within the limits, where the loops close."""
    size = len(robot.actuated)
    low, high = np.full(size, -1.5), np.full(size, 1.5)
    for k, name in enumerate(robot.actuated):
        if robot.loops and math.isfinite(robot.joint(name).limits.lower):
            low[k], high[k] = robot.joint(name).limits.lower, robot.joint(name).limits.upper
    rng = np.random.default_rng(7)
    return np.stack([rng.uniform(low, high, (count, size)), *rng.uniform(-2.0, 2.0, (2, count, size))])


def explains(Y: np.ndarray, base: ytheta.BaseParameters, K: np.ndarray, *, tolerance: float = 1e-10) -> bool:
    """Whether Y theta = Y_b K theta for every theta: equal columns on random motions."""
    columns = Y[:, :, base.places].reshape(-1, len(base))
    product = columns @ K
    flat = Y.reshape(product.shape)
    terms = np.abs(columns).max(axis=0) @ np.abs(K)  # the terms of the sums, which may cancel
    scale = np.maximum(terms, 1e-2 * min(1.0, float(np.abs(flat).max())))
    return bool((np.abs(product - flat) <= tolerance * scale).all())


def is_complete_and_minimal(robot: Robot, base: ytheta.BaseParameters, *, apart: float = 1e-7) -> bool:
    """Whether all motions are explained, and the base columns are independent with a margin of ``apart``."""
    Y = regressors(robot, base.selected)
    columns = Y[:, :, base.places].reshape(-1, len(base))
    sizes = np.linalg.norm(columns, axis=0)
    if not explains(Y, base, base.K) or not (sizes > 0.0).all():
        return False
    smallest = np.linalg.svd(columns / sizes, compute_uv=False)[-1] if len(base) else 1.0
    return bool(smallest > apart)


@dataclass(frozen=True)
class Published:
    """One row of the published counts."""

    name: str
    robot: Robot
    rigid: int
    with_rotors: int


def published_counts(shared_data: Path) -> list[Published]:
    """Robots of the reference folder, built from their kinematic tables, with the published counts."""
    folder = shared_data / "reference"
    rows = list(csv.DictReader((folder / "base_parameter_counts.csv").read_text().splitlines()))
    return [
        Published(row["robot"], _robot(folder, row), int(row["rigid_body"]), int(row["with_rotor_inertias"]))
        for row in rows
    ]


def _robot(folder: Path, row: dict[str, str]) -> Robot:
    path = folder / row["kinematics_file"]
    gravity = tuple(float(entry) for entry in row["gravity_in_base"].split())
    if row["convention"] == "urdf":
        return ytheta.load(path)
    joints = [
        _joint(k, {key: float(entry) for key, entry in line.items()}, row["convention"])
        for k, line in enumerate(csv.DictReader(path.read_text().splitlines()), start=1)
    ]
    links = (Link("base"), *(Link(joint.child) for joint in joints))
    return Robot(row["robot"], links, tuple(joints), gravity=gravity)  # type: ignore[arg-type]


def _joint(k: int, line: dict[str, float], convention: str) -> Joint:
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    about_z = Frame.turn(z, line["theta_offset_rad"]) @ Frame.shift(z=line["d_m"])
    about_x = Frame.turn(x, line["alpha_rad"]) @ Frame.shift(x=line["a_m"])
    kind = JointKind.PRISMATIC if math.isclose(line["sigma"], 1.0) else JointKind.REVOLUTE
    parent = f"link{k - 1}" if k > 1 else "base"
    if convention == "modified":
        return Joint(f"joint{k}", kind, parent, f"link{k}", placement=about_x @ about_z, axis=z)
    return Joint(f"joint{k}", kind, parent, f"link{k}", placement=Frame.shift(), axis=z, seat=about_z @ about_x)
