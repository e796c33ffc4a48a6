"""What earlier measurements already tell: their Fisher information, from logs or from an identified model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ytheta.arguments import check_kind
from ytheta.errors import InputError
from ytheta.excitation.constraints.robot_kernels import RobotKernels
from ytheta.excitation.criteria.information import compute_grams
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.model_file import Model, read_model
from ytheta.identification.result import Identification
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.reading.read import LogInput, read_log
from ytheta.shapes import BaseByBase, PerJoint

ModelInput = Identification | Model | str | Path

MIN_VARIANCE_RATIO = 1e-12  # smaller eigenvalues of a correlation matrix are directions without information
BLOCK_LENGTH = 4096  # samples whose regressor is in memory at the same time


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
