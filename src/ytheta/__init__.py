"""ytheta: dynamic models of robot arms, tau = Y(q, qd, qdd) theta.

The public names load their modules when first used, so that ``import ytheta`` itself is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta import control as control
    from ytheta import errors as errors
    from ytheta.dynamics.formulations.derivation import derive_regressor as derive_regressor
    from ytheta.dynamics.kernels import bias as bias
    from ytheta.dynamics.kernels import coriolis_matrix as coriolis_matrix
    from ytheta.dynamics.kernels import energy as energy
    from ytheta.dynamics.kernels import forward_dynamics as forward_dynamics
    from ytheta.dynamics.kernels import gravity as gravity
    from ytheta.dynamics.kernels import inverse_dynamics as inverse_dynamics
    from ytheta.dynamics.kernels import mass_matrix as mass_matrix
    from ytheta.dynamics.kernels import momentum as momentum
    from ytheta.dynamics.kernels import regressor as regressor
    from ytheta.identifiability.base_parameters import BaseParameters as BaseParameters
    from ytheta.identifiability.registry import base_parameters as base_parameters
    from ytheta.identification.identify import identify as identify
    from ytheta.identification.model_file import read_model as read_model
    from ytheta.identification.result import Identification as Identification
    from ytheta.logs.log import Log as Log
    from ytheta.logs.preparing.preparation import PreparationSettings as PreparationSettings
    from ytheta.logs.reading.read import read_log as read_log
    from ytheta.logs.write import write_log as write_log
    from ytheta.robot.frame import Frame as Frame
    from ytheta.robot.inertia import Inertia as Inertia
    from ytheta.robot.kinematics import link_poses as link_poses
    from ytheta.robot.loops.closure import close_loops as close_loops
    from ytheta.robot.modified_dh import to_modified_dh as to_modified_dh
    from ytheta.robot.reading.load import load as load
    from ytheta.robot.robot import Robot as Robot
    from ytheta.robot.writing.toml import save_robot as save_robot
    from ytheta.simulation.simulate import simulate as simulate
    from ytheta.simulation.variation import Variation as Variation

__version__ = "0.1.0"

_MODULES = {
    "BaseParameters": "ytheta.identifiability.base_parameters",
    "Frame": "ytheta.robot.frame",
    "Identification": "ytheta.identification.result",
    "Inertia": "ytheta.robot.inertia",
    "Log": "ytheta.logs.log",
    "PreparationSettings": "ytheta.logs.preparing.preparation",
    "Robot": "ytheta.robot.robot",
    "Variation": "ytheta.simulation.variation",
    "base_parameters": "ytheta.identifiability.registry",
    "bias": "ytheta.dynamics.kernels",
    "close_loops": "ytheta.robot.loops.closure",
    "coriolis_matrix": "ytheta.dynamics.kernels",
    "derive_regressor": "ytheta.dynamics.formulations.derivation",
    "energy": "ytheta.dynamics.kernels",
    "forward_dynamics": "ytheta.dynamics.kernels",
    "gravity": "ytheta.dynamics.kernels",
    "identify": "ytheta.identification.identify",
    "inverse_dynamics": "ytheta.dynamics.kernels",
    "link_poses": "ytheta.robot.kinematics",
    "load": "ytheta.robot.reading.load",
    "mass_matrix": "ytheta.dynamics.kernels",
    "momentum": "ytheta.dynamics.kernels",
    "read_log": "ytheta.logs.reading.read",
    "read_model": "ytheta.identification.model_file",
    "regressor": "ytheta.dynamics.kernels",
    "save_robot": "ytheta.robot.writing.toml",
    "simulate": "ytheta.simulation.simulate",
    "to_modified_dh": "ytheta.robot.modified_dh",
    "write_log": "ytheta.logs.write",
}

_SUBMODULES = ("control", "errors")

__all__ = ["__version__", *_SUBMODULES, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"ytheta.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'ytheta' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
