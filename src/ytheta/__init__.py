"""ytheta: dynamic models of robot arms, tau = Y(q, qd, qdd) theta.

The public names load their modules when first used, so that ``import ytheta`` itself is fast.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta import control as control
    from ytheta import errors as errors
    from ytheta.benchmark import Benchmark as Benchmark
    from ytheta.benchmark import bench as bench
    from ytheta.comparison import Comparison as Comparison
    from ytheta.comparison import compare as compare
    from ytheta.dynamics.formulations.derivation import derive_link_regressor as derive_link_regressor
    from ytheta.dynamics.formulations.derivation import derive_regressor as derive_regressor
    from ytheta.dynamics.formulations.registry import formulations as formulations
    from ytheta.dynamics.formulations.sixteen import reduce_parameters as reduce_parameters
    from ytheta.dynamics.kernels import bias as bias
    from ytheta.dynamics.kernels import coriolis_matrix as coriolis_matrix
    from ytheta.dynamics.kernels import energy as energy
    from ytheta.dynamics.kernels import forward_dynamics as forward_dynamics
    from ytheta.dynamics.kernels import gravity as gravity
    from ytheta.dynamics.kernels import inverse_dynamics as inverse_dynamics
    from ytheta.dynamics.kernels import jacobian as jacobian
    from ytheta.dynamics.kernels import mass_matrix as mass_matrix
    from ytheta.dynamics.kernels import momentum as momentum
    from ytheta.dynamics.kernels import regressor as regressor
    from ytheta.excitation.assess import assess_trajectory as assess_trajectory
    from ytheta.excitation.clearance.obstacle import Obstacle as Obstacle
    from ytheta.excitation.excite import excite as excite
    from ytheta.excitation.result import Excitation as Excitation
    from ytheta.excitation.trajectories import Trajectory as Trajectory
    from ytheta.excitation.trajectory_files import load_trajectory as load_trajectory
    from ytheta.excitation.trajectory_files import save_trajectory as save_trajectory
    from ytheta.exporting.c.options import COptions as COptions
    from ytheta.exporting.casadi import CasadiOptions as CasadiOptions
    from ytheta.exporting.export import export as export
    from ytheta.exporting.load_settings import PayloadOptions as PayloadOptions
    from ytheta.findings import Finding as Finding
    from ytheta.identifiability.base_parameters import BaseParameters as BaseParameters
    from ytheta.identifiability.ha import regroup_lagrangian as regroup_lagrangian
    from ytheta.identifiability.registry import base_parameters as base_parameters
    from ytheta.identifiability.registry import model_parameters as model_parameters
    from ytheta.identifiability.regrouping import Regrouping as Regrouping
    from ytheta.identification.consistency.bounds import BodyBounds as BodyBounds
    from ytheta.identification.estimators.recursive import RecursiveLeastSquares as RecursiveLeastSquares
    from ytheta.identification.identify import identify as identify
    from ytheta.identification.model_file import Model as Model
    from ytheta.identification.model_file import read_model as read_model
    from ytheta.identification.persistent_excitation import PersistentExcitation as PersistentExcitation
    from ytheta.identification.persistent_excitation import assess_persistent_excitation as assess_persistent_excitation
    from ytheta.identification.predict import Prediction as Prediction
    from ytheta.identification.predict import predict as predict
    from ytheta.identification.result import Identification as Identification
    from ytheta.inspection import Inspection as Inspection
    from ytheta.inspection import inspect as inspect
    from ytheta.logs.check import LogCheck as LogCheck
    from ytheta.logs.check import check as check
    from ytheta.logs.checking.check import find_repeated_motion as find_repeated_motion
    from ytheta.logs.log import Log as Log
    from ytheta.logs.preparing.preparation import PreparationSettings as PreparationSettings
    from ytheta.logs.reading.read import read_log as read_log
    from ytheta.logs.write import write_log as write_log
    from ytheta.native.kernel import Kernel as Kernel
    from ytheta.papers.reproduce import Reproduction as Reproduction
    from ytheta.papers.reproduce import reproduce as reproduce
    from ytheta.payload.identify_payload import identify_payload as identify_payload
    from ytheta.payload.result import PayloadEstimate as PayloadEstimate
    from ytheta.robot.floating import add_wrench_sensor as add_wrench_sensor
    from ytheta.robot.floating import fix_base as fix_base
    from ytheta.robot.floating import float_base as float_base
    from ytheta.robot.floating import quaternions_from_rotation_vectors as quaternions_from_rotation_vectors
    from ytheta.robot.floating import rotation_vectors_from_quaternions as rotation_vectors_from_quaternions
    from ytheta.robot.floating import to_base_axes as to_base_axes
    from ytheta.robot.floating import to_world_axes as to_world_axes
    from ytheta.robot.frame import Frame as Frame
    from ytheta.robot.inertia import Inertia as Inertia
    from ytheta.robot.kinematics import link_poses as link_poses
    from ytheta.robot.locking import lock_joints as lock_joints
    from ytheta.robot.loops.closure import Closure as Closure
    from ytheta.robot.loops.closure import close_loops as close_loops
    from ytheta.robot.modified_dh import to_modified_dh as to_modified_dh
    from ytheta.robot.parts import compute_friction as compute_friction
    from ytheta.robot.reading.catalog import Catalog as Catalog
    from ytheta.robot.reading.catalog import robots as robots
    from ytheta.robot.reading.load import load as load
    from ytheta.robot.robot import Robot as Robot
    from ytheta.robot.toml_writer import save_robot as save_robot
    from ytheta.simulation.closed_loop import ClosedLoop as ClosedLoop
    from ytheta.simulation.logged_reference import LoggedReference as LoggedReference
    from ytheta.simulation.logged_reference import reference_from_log as reference_from_log
    from ytheta.simulation.mujoco_plant import MujocoPlant as MujocoPlant
    from ytheta.simulation.plain_loop import PlainLoop as PlainLoop
    from ytheta.simulation.references import FourierReference as FourierReference
    from ytheta.simulation.references import ReferenceTrajectory as ReferenceTrajectory
    from ytheta.simulation.references import SampledReference as SampledReference
    from ytheta.simulation.references import default_reference as default_reference
    from ytheta.simulation.result import Simulation as Simulation
    from ytheta.simulation.runs import Runs as Runs
    from ytheta.simulation.sensors import Sensor as Sensor
    from ytheta.simulation.sensors import Sensors as Sensors
    from ytheta.simulation.simulate import simulate as simulate
    from ytheta.simulation.substeps import with_smooth_friction as with_smooth_friction
    from ytheta.simulation.variation import Grasp as Grasp
    from ytheta.simulation.variation import ParameterChange as ParameterChange
    from ytheta.simulation.variation import Variation as Variation
    from ytheta.simulation.variation import grasp as grasp
    from ytheta.viewing.view import view as view
    from ytheta.viewing.viewer import Viewer as Viewer

__version__ = "0.1.0"
IMPORT_TIME = time.time()  # before any module of the package is loaded; see native/fingerprint.py

_MODULES = {
    "BaseParameters": "ytheta.identifiability.base_parameters",
    "Benchmark": "ytheta.benchmark",
    "BodyBounds": "ytheta.identification.consistency.bounds",
    "COptions": "ytheta.exporting.c.options",
    "CasadiOptions": "ytheta.exporting.casadi",
    "Catalog": "ytheta.robot.reading.catalog",
    "ClosedLoop": "ytheta.simulation.closed_loop",
    "Closure": "ytheta.robot.loops.closure",
    "Excitation": "ytheta.excitation.result",
    "Comparison": "ytheta.comparison",
    "Finding": "ytheta.findings",
    "FourierReference": "ytheta.simulation.references",
    "Frame": "ytheta.robot.frame",
    "Grasp": "ytheta.simulation.variation",
    "Identification": "ytheta.identification.result",
    "Inertia": "ytheta.robot.inertia",
    "Inspection": "ytheta.inspection",
    "Kernel": "ytheta.native.kernel",
    "Log": "ytheta.logs.log",
    "LogCheck": "ytheta.logs.check",
    "LoggedReference": "ytheta.simulation.logged_reference",
    "Model": "ytheta.identification.model_file",
    "MujocoPlant": "ytheta.simulation.mujoco_plant",
    "Obstacle": "ytheta.excitation.clearance.obstacle",
    "ParameterChange": "ytheta.simulation.variation",
    "PayloadEstimate": "ytheta.payload.result",
    "PayloadOptions": "ytheta.exporting.load_settings",
    "PersistentExcitation": "ytheta.identification.persistent_excitation",
    "PlainLoop": "ytheta.simulation.plain_loop",
    "Prediction": "ytheta.identification.predict",
    "PreparationSettings": "ytheta.logs.preparing.preparation",
    "RecursiveLeastSquares": "ytheta.identification.estimators.recursive",
    "ReferenceTrajectory": "ytheta.simulation.references",
    "Reproduction": "ytheta.papers.reproduce",
    "Regrouping": "ytheta.identifiability.regrouping",
    "Robot": "ytheta.robot.robot",
    "Runs": "ytheta.simulation.runs",
    "SampledReference": "ytheta.simulation.references",
    "Sensor": "ytheta.simulation.sensors",
    "Sensors": "ytheta.simulation.sensors",
    "Simulation": "ytheta.simulation.result",
    "Trajectory": "ytheta.excitation.trajectories",
    "Variation": "ytheta.simulation.variation",
    "Viewer": "ytheta.viewing.viewer",
    "assess_persistent_excitation": "ytheta.identification.persistent_excitation",
    "assess_trajectory": "ytheta.excitation.assess",
    "base_parameters": "ytheta.identifiability.registry",
    "bench": "ytheta.benchmark",
    "bias": "ytheta.dynamics.kernels",
    "check": "ytheta.logs.check",
    "close_loops": "ytheta.robot.loops.closure",
    "compare": "ytheta.comparison",
    "compute_friction": "ytheta.robot.parts",
    "coriolis_matrix": "ytheta.dynamics.kernels",
    "default_reference": "ytheta.simulation.references",
    "derive_link_regressor": "ytheta.dynamics.formulations.derivation",
    "derive_regressor": "ytheta.dynamics.formulations.derivation",
    "energy": "ytheta.dynamics.kernels",
    "excite": "ytheta.excitation.excite",
    "export": "ytheta.exporting.export",
    "add_wrench_sensor": "ytheta.robot.floating",
    "float_base": "ytheta.robot.floating",
    "fix_base": "ytheta.robot.floating",
    "rotation_vectors_from_quaternions": "ytheta.robot.floating",
    "quaternions_from_rotation_vectors": "ytheta.robot.floating",
    "to_base_axes": "ytheta.robot.floating",
    "to_world_axes": "ytheta.robot.floating",
    "formulations": "ytheta.dynamics.formulations.registry",
    "find_repeated_motion": "ytheta.logs.checking.check",
    "forward_dynamics": "ytheta.dynamics.kernels",
    "grasp": "ytheta.simulation.variation",
    "gravity": "ytheta.dynamics.kernels",
    "identify": "ytheta.identification.identify",
    "identify_payload": "ytheta.payload.identify_payload",
    "inspect": "ytheta.inspection",
    "inverse_dynamics": "ytheta.dynamics.kernels",
    "jacobian": "ytheta.dynamics.kernels",
    "link_poses": "ytheta.robot.kinematics",
    "load": "ytheta.robot.reading.load",
    "load_trajectory": "ytheta.excitation.trajectory_files",
    "lock_joints": "ytheta.robot.locking",
    "mass_matrix": "ytheta.dynamics.kernels",
    "model_parameters": "ytheta.identifiability.registry",
    "momentum": "ytheta.dynamics.kernels",
    "predict": "ytheta.identification.predict",
    "read_log": "ytheta.logs.reading.read",
    "read_model": "ytheta.identification.model_file",
    "reference_from_log": "ytheta.simulation.logged_reference",
    "regressor": "ytheta.dynamics.kernels",
    "reduce_parameters": "ytheta.dynamics.formulations.sixteen",
    "regroup_lagrangian": "ytheta.identifiability.ha",
    "reproduce": "ytheta.papers.reproduce",
    "robots": "ytheta.robot.reading.catalog",
    "save_robot": "ytheta.robot.toml_writer",
    "save_trajectory": "ytheta.excitation.trajectory_files",
    "simulate": "ytheta.simulation.simulate",
    "to_modified_dh": "ytheta.robot.modified_dh",
    "view": "ytheta.viewing.view",
    "with_smooth_friction": "ytheta.simulation.substeps",
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
