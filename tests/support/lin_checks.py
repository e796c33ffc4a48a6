"""Checks of the closed form of Lin against the rank of Pinocchio's regressors."""

from __future__ import annotations

import numpy as np

import ytheta
from tests.support.base_checks import explains
from tests.support.pinocchio_peer import peer
from ytheta.identifiability import lin
from ytheta.robot.robot import Robot


def bases(robot: Robot) -> tuple[ytheta.BaseParameters, ytheta.BaseParameters]:
    """The base parameters without and with rotor inertia."""
    return lin.base_parameters(robot), lin.base_parameters(robot, rotor_inertia=True)


def counts(robot: Robot) -> tuple[int, int]:
    """The numbers of base parameters without and with rotor inertia."""
    without, with_rotors = bases(robot)
    return len(without), len(with_rotors)


def sample_regressors(robot: Robot) -> np.ndarray:
    """Pinocchio's regressors of enough random motions to excite every parameter, with columns for the rotors."""
    size, names = len(robot.movable), robot.parameter_names
    count = 40 + 4 * len(names) // size
    q, qd, qdd = np.random.default_rng(5).uniform(-2.0, 2.0, (3, count, size))
    pinocchio = peer(robot)
    Y = np.zeros((count, size, len(names)))
    for sample in range(count):
        Y[sample, :, : pinocchio.parameter_map.shape[1]] = pinocchio.regressor(q[sample], qd[sample], qdd[sample])
    for k, joint in enumerate(robot.movable):
        Y[:, k, names.index(f"{joint.name}.Ia")] = qdd[:, k]
    return Y


def clear_rank(Y: np.ndarray, base: ytheta.BaseParameters) -> int:
    """The rank of the selected columns; asserts a wide gap between the singular values."""
    selected = [name in base.selected for name in base.robot.parameter_names]
    W = Y.reshape(-1, Y.shape[2])[:, selected]
    sizes = np.linalg.norm(W, axis=0)
    nonzero = sizes > 1e-12 * sizes.max()
    values = np.linalg.svd(np.linalg.qr(W[:, nonzero] / sizes[nonzero], mode="r"), compute_uv=False)
    assert not ((values > 1e-11) & (values < 1e-6)).any(), "no clear gap; use another geometry"
    return int(np.count_nonzero(values > 1e-6))


def ranks(robot: Robot) -> tuple[int, int]:
    """The ranks without and with rotor inertia."""
    Y = sample_regressors(robot)
    without, with_rotors = (clear_rank(Y, base) for base in bases(robot))
    return without, with_rotors


def is_complete_and_minimal_lin(robot: Robot) -> bool:
    """Whether lin explains all motions, without and with rotor inertia, by as many parameters as the rank."""
    Y = sample_regressors(robot)
    for base in bases(robot):
        selected = np.where([name in base.selected for name in robot.parameter_names], Y, 0.0)
        if len(base) != clear_rank(Y, base) or not explains(selected, base, base.K):
            return False
    return True
