"""The pose about which trajectories shrink: it must keep all limits at rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ytheta.errors import InputError
from ytheta.excitation.constraints.path_constraint import PathConstraint, SamplesByMargin
from ytheta.excitation.constraints.penalty import Constraints
from ytheta.shapes import PerJoint, SamplesByJoint, Shaped

RANDOM_POSES = 2000  # poses that are tried if the middle of the ranges does not keep all limits
MIN_CENTER_MARGIN = 0.005  # m; wanted distance of the center from path constraints

Holds = Shaped[np.ndarray, "samples"]


def find_center(constraints: Constraints, rng: np.random.Generator) -> PerJoint:
    """Return the middle of the ranges, home, or a random pose, whichever keeps all limits first.

    Raise an InputError that names the contradicting limits if there is no such pose.
    """
    bounds, robot = constraints.bounds, constraints.kernels.robot
    home = constraints.kernels.home
    first = [home, bounds.middle] if robot.loops else [bounds.middle, home]
    poses = np.concatenate([first, rng.uniform(bounds.lower, bounds.upper, (RANDOM_POSES, len(bounds.joints)))])
    kept = _list_conditions(constraints)
    for some in (poses[: len(first)], poses):  # nearly always, one of the first poses keeps all limits
        holds = {name: condition(some) for name, condition in kept.items()}
        good = np.flatnonzero(np.all(list(holds.values()), axis=0))
        if len(good):
            return some[good[0]]
    worst = sorted(holds.items(), key=lambda pair: int(np.count_nonzero(pair[1])))
    text = "; ".join(f"{name}: {np.count_nonzero(each)} of {len(poses)} poses" for name, each in worst[:4])
    raise InputError(
        f"the limits of robot {robot.name!r} contradict each other: no pose keeps all of them at rest. Kept alone are "
        f"{text}; relax the first of these, or give a start pose"
    )


def check_start(constraints: Constraints, start: PerJoint) -> None:
    """Raise an InputError if the start pose does not keep all limits at rest, with the names of these limits."""
    broken = [name for name, condition in _list_conditions(constraints, 0.0).items() if not condition(start[None])[0]]
    if broken:
        pose = ", ".join(f"{n} = {v:.4g}" for n, v in zip(constraints.bounds.joints, start, strict=True))
        raise InputError(
            f"the start pose ({pose}) does not keep {', '.join(broken)}; choose another start pose, or leave it out"
        )


def _list_conditions(
    constraints: Constraints, margin: float = MIN_CENTER_MARGIN
) -> dict[str, Callable[[SamplesByJoint], Holds]]:
    """Return for every limit whether poses keep it at rest, by its name."""
    bounds, kernels = constraints.bounds, constraints.kernels
    conditions: dict[str, Callable[[SamplesByJoint], Holds]] = {}
    for k, name in enumerate(bounds.joints):
        conditions[f"position of {name}"] = lambda q, k=k: (q[:, k] > bounds.lower[k]) & (q[:, k] < bounds.upper[k])  # type: ignore[misc]
    if kernels.robot.loops:
        conditions["closure of the loops"] = lambda q: np.array([kernels.close(row[None]) is not None for row in q])
    for k, name in enumerate(bounds.joints):
        conditions[f"torque of {name}"] = lambda q, k=k: _hold_torque(constraints, q)[:, k] < bounds.effort[k]  # type: ignore[misc]
    for path in constraints.paths:
        for k, name in enumerate(path.names):
            conditions[f"clearance {name}"] = lambda q, k=k, path=path: (  # type: ignore[misc]
                _find_margins(constraints, path, q)[:, k] > margin
            )
    return conditions


def _find_margins(constraints: Constraints, path: PathConstraint, q: SamplesByJoint) -> SamplesByMargin:
    """Return the margins of poses; minus infinity where loops do not close."""
    kernels = constraints.kernels
    margins = np.full((len(q), len(path.names)), -np.inf)
    poses = [kernels.close(row[None]) for row in q] if kernels.robot.loops else []
    if not kernels.robot.loops:
        return path.compute_margins(kernels.compute_joint_positions(np.ascontiguousarray(q)))
    for k, x in enumerate(poses):
        if x is not None:
            margins[k] = path.compute_margins(kernels.compute_joint_positions(x))[0]
    return margins


def _hold_torque(constraints: Constraints, q: SamplesByJoint) -> SamplesByJoint:
    """Return the absolute torques at rest; infinite where loops do not close."""
    kernels, rest = constraints.kernels, np.zeros((1, q.shape[1]))
    if not kernels.robot.loops:
        return abs(constraints.compute_torques(np.ascontiguousarray(q), np.zeros_like(q), np.zeros_like(q))).max(axis=0)
    torque = np.full(q.shape, np.inf)
    for k, row in enumerate(q):
        x = kernels.close(row[None])
        if x is not None:
            torque[k] = abs(constraints.compute_torques(x, rest, rest)).max(axis=0)[0]
    return torque
