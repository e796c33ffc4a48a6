"""The robot and the parameters of a design: all parameters, those of a load, or those of an earlier model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ytheta.arguments import check_kind, check_number, is_positive
from ytheta.errors import InputError
from ytheta.excitation.constraints import RobotKernels
from ytheta.excitation.criteria import compute_grams
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.model_file import Model, find_earlier_model, read_model
from ytheta.identification.result import Identification
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.reading.read import LogInput, read_log
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, PerJoint

LOAD = "load"  # name of the link that a payload design adds if the robot has no load
# Coulomb friction jumps at rest. For derivatives, its sign is smoothed over this share of the lowest speed limit.
# Chosen on: rule of thumb.
SMOOTH_SPEED_SHARE = 0.01
UNLIMITED_SPEED = 1.0  # rad/s or m/s, instead of the lowest speed limit if there is none. Chosen on: rule of thumb.


@dataclass(frozen=True, eq=False)
class DesignModel:
    """The robot whose torques are limited, and the parameters that the motion is to reveal."""

    robot: Robot
    base: BaseParameters
    model: ModelInput | None = None
    empty: Robot | None = None  # without the load of a payload design

    def find_base(self, velocity: PerJoint) -> BaseParameters:
        """Return the parameters of the robot with smooth Coulomb friction, for these speed limits."""
        finite = velocity[np.isfinite(velocity)]
        speed = SMOOTH_SPEED_SHARE * (float(finite.min()) if len(finite) else UNLIMITED_SPEED)

        def smooth(_: str, drive: Drive) -> Drive:
            return drive if drive.coulomb_speed else replace(drive, coulomb_speed=speed)

        return self.base.with_robot(self.base.robot.with_drives(smooth))


def choose_parameters(
    robot: Robot,
    *,
    friction: Sequence[str] | None,
    rotor_inertia: bool,
    parameters: Sequence[str] | None,
    payload: float | Inertia | None,
    model: ModelInput | None,
) -> DesignModel:
    """Return robot and parameters of a design; raise an InputError if nothing is unknown."""
    selects = bool(friction or rotor_inertia or parameters)
    if model is not None:
        form = "an earlier identification, a Model or its .toml file; the robot is the first argument"
        check_kind("model", model, (Identification, Model, str, Path), form)
        if selects or payload is not None:
            raise InputError(
                "an earlier model determines the parameters; leave friction, rotor_inertia, parameters and payload out"
            )
        return _continue_model(robot, model)
    if payload is not None:
        if selects:
            raise InputError("with a payload, only its parameters are unknown; leave friction, rotor_inertia … out")
        return _add_load(robot, payload)
    base = base_parameters(robot, friction=friction, rotor_inertia=rotor_inertia, parameters=parameters)
    if not len(base):
        raise InputError(
            f"every parameter of robot {robot.name!r} is already known, or has no effect on its torques: there is "
            "nothing to reveal; select other parameters, or another robot"
        )
    return DesignModel(robot, base)


def _add_load(robot: Robot, payload: float | Inertia) -> DesignModel:
    """Return the robot with the heaviest load, whose ten parameters are unknown.

    It replaces a load of the description, and is otherwise at the last link. A mass is a point mass at its origin.
    """
    form = "the largest mass of the load in kg, such as 3, or an Inertia with mass"
    if isinstance(payload, Inertia):
        inertia = payload
        check_number("payload", inertia.mass, form, allow=is_positive)
    else:
        inertia = Inertia.point_mass(check_number("payload", payload, form, allow=is_positive), (0.0, 0.0, 0.0))
    name = next((link.name for link in robot.links if link.load), LOAD)
    has_load = any(link.load for link in robot.links)
    loaded = robot.with_inertias({name: inertia}) if has_load else robot.with_load(inertia, name=name)
    empty = loaded.with_inertias({name: Inertia()})
    return DesignModel(loaded, base_parameters(loaded, parameters=[f"{name}.*"]), None, empty)


def _continue_model(robot: Robot, model: ModelInput) -> DesignModel:
    read = read_model(model) if isinstance(model, str | Path) else model
    base = find_earlier_model(read).base if isinstance(read, Model) else read.base.standard_combinations
    if base is None:
        raise InputError("the model was identified with unknown geometry, but a design needs the geometry")
    drives = dict(base.robot.drives)  # an identification may choose friction laws and their transition speeds
    base.check_robot(robot.with_drives(lambda name, drive: drives.get(name, drive)))
    limits = {joint.name: joint.limits for joint in robot.joints}
    joints = tuple(replace(joint, limits=limits.get(joint.name, joint.limits)) for joint in read.robot.joints)
    # The file of a model has no meshes, and the robot may be mounted elsewhere now.
    designed = replace(read.robot, joints=joints, collision=robot.collision, mounting=robot.mounting)
    return DesignModel(designed, base, read)


# What earlier measurements already tell: their Fisher information, from logs or from an identified model.


ModelInput = Identification | Model | str | Path

# Smallest eigenvalue of a correlation matrix relative to the largest; smaller ones are directions without
# information. Chosen on: rule of thumb.
MIN_VARIANCE_RATIO = 1e-12
BLOCK_LENGTH = 4096  # Samples whose regressor is in memory at the same time; affects only memory.


def collect_information(
    kernels: RobotKernels, *, model: ModelInput | None, logs: Sequence[LogInput], noise: PerJoint, rate: float
) -> BaseByBase:
    """Return the information of a model and of logs together; zero without them."""
    base = kernels.base
    total = np.zeros((len(base), len(base)))
    if model is not None:
        total += _read_model_information(base, model)
    check_kind("logs", logs, (list, tuple), 'a list of logs, such as ["run1.csv"]')
    for log in logs:
        total += _measure_log_information(kernels, log, noise, rate)
    return total


def _read_model_information(base: BaseParameters, model: ModelInput) -> BaseByBase:
    """Return the inverse of the model's covariance, with zero along directions that it does not know."""
    read = read_model(model) if isinstance(model, str | Path) else model
    if tuple(read.names) != base.names:
        raise InputError(
            f"the model has {len(read.names)} parameters, but the design has {len(base)} others; design with the same "
            "rotor_inertia and friction as the model"
        )
    scale = np.sqrt(np.maximum(np.diag(read.covariance), np.finfo(float).tiny))
    eigenvalues, vectors = np.linalg.eigh(read.covariance / np.outer(scale, scale))
    known = eigenvalues > MIN_VARIANCE_RATIO * eigenvalues[-1]
    inverse = np.where(known, 1.0 / np.where(known, eigenvalues, 1.0), 0.0)
    return np.asarray((vectors * inverse) @ vectors.T / np.outer(scale, scale))


def _measure_log_information(kernels: RobotKernels, log: LogInput, noise: PerJoint, rate: float) -> BaseByBase:
    """Return the information of a log, as if its noise were independent in ``rate`` samples per second."""
    robot = kernels.base.robot
    read = read_log(log, robot)
    if read.tau is None:
        raise InputError(
            f"{read.source or 'log'}: the log has no torques, so it tells nothing about parameters; leave it out, or "
            "name the columns that contain them"
        )
    prepared = prepare_log(read).motion
    duration = float(prepared.t[-1] - prepared.t[0])
    grams = np.zeros((len(noise), len(kernels.base), len(kernels.base)))
    for first in range(0, len(prepared.q), BLOCK_LENGTH):
        rows = slice(first, first + BLOCK_LENGTH)
        x = kernels.close(prepared.q[rows])
        if x is None:
            raise InputError("loops do not close along an earlier log; check its positions")
        Y = kernels.compute_regressor(x, prepared.qd[rows], prepared.qdd[rows])
        grams += compute_grams(Y) * (len(Y) / len(prepared.q))
    return np.tensordot(duration * rate / noise**2, grams, axes=1)
