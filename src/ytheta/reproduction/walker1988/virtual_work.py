"""The principle of virtual work (16) for arbitrary feedback vectors, and two identities of the proof.

Reference     [walker1988] (10), (14)-(16), and the step before (27)
Notation      code      paper                  meaning                                               shape
              F_hat     Fhat_j                 arbitrary forces of all links, link axes              links x 6
              eta_hat   etahat_j               arbitrary torques of all joints                       drives
              virtual   vtilde_j, qtildedot_j  velocities that satisfy the loop constraints
"""

from __future__ import annotations

import numpy as np

from ytheta.control.laws.walker import MotionFunction, compute_link_velocities
from ytheta.dynamics import kernels
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.formulations.spatial_tree import (
    LinkMotion,
    add_forces,
    momentum_columns,
    spatial_cross,
    spatial_transpose,
    traverse,
)
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import PER_DRIVE, PER_LINK
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.robot.robot import Robot
from ytheta.shapes import AnySpatialColumns, Float

SEED = 16
MAX_RELATIVE_DIFFERENCE = 1e-10


def compare_virtual_work(robot: Robot) -> Exhibit:
    """Compare both sides of (16) at a random motion, and check the identities that the proof uses."""
    left, right = evaluate_virtual_work(robot)
    difference = abs(left - right) / abs(left)
    form, gyroscopic = evaluate_identities(robot)
    return Exhibit(
        "equation_16",
        "Virtual work (16), and identities of the proof",
        (
            Comparison(
                "(16) for random feedback",
                "left side = right side",
                f"{left:.6g} and {right:.6g} W",
                Agreement.of(difference < MAX_RELATIVE_DIFFERENCE),
                "random forces of all links and torques of all joints; the arm moves by its forward dynamics",
            ),
            Comparison(
                "(10): d/dt (y' I y) / 2 = y' (I yd + v x I y)",
                "equal",
                f"relative difference {form:.1e}",
                Agreement.of(form < 1e-7),
                "the left side by central differences",
            ),
            Comparison(
                "vtilde' (vtilde x I vhat), before (27)",
                0,
                f"{gyroscopic:.1e}, relative",
                Agreement.of(gyroscopic < 1e-12),
                "so v x I vhat may be replaced by vhat x I vhat in (21); the torques of the two forms differ",
            ),
        ),
        open="Pose, velocities, forces and torques are random: (16) holds for all of them.",
    )


def evaluate_virtual_work(robot: Robot, seed: int = SEED) -> tuple[float, float]:
    """Return both sides of (16) for random feedback, motion and virtual velocities."""
    rng, loops = np.random.default_rng(seed), build_constraint(robot)
    n, theta = len(loops.actuated), robot.numeric.theta
    Q = loops.home[list(loops.actuated)] + rng.uniform(-0.05, 0.05, n)
    Qd, virtual = rng.normal(size=(2, n))
    F_hat, eta_hat = rng.normal(size=(len(loops.mechanism.bodies), 6)), rng.normal(size=len(robot.moving))
    x, motion = solve(loops, Q[None]).or_raise().x[0], MotionFunction(loops)
    m, _ = motion.evaluate(x, Qd, 0.0 * Qd, Qd)
    rho_hat = eta_hat.copy()
    for force in traverse(loops.mechanism, m.joints, lambda link, _: F_hat[link][:, None], add_forces):
        rho_hat[force.joint] += float(force.row[0])
    tau = m.drive_jacobian.T @ rho_hat
    Qdd = kernels.forward_dynamics(robot, backend="interpreter").one(Q, Qd, tau)
    m, _ = motion.evaluate(x, Qd, Qdd, Qd)
    velocities = compute_link_velocities(loops, motion.evaluate(x, virtual, 0.0 * Qd, virtual)[0])
    forces = np.zeros_like(F_hat)

    def record_force(link: int, link_motion: LinkMotion) -> AnySpatialColumns:
        forces[link] = link_motion.inertial_columns @ theta[PER_LINK * link : PER_LINK * (link + 1)]  # F_j - I_j g
        return forces[link][:, None].astype(object)

    traverse(loops.mechanism, m.joints, record_force, add_forces)
    first = PER_LINK * len(forces)
    drives = theta[first : first + PER_DRIVE * len(eta_hat)].reshape(-1, PER_DRIVE)
    eta = (m.parameter_factors.astype(float) * drives).sum(axis=1)
    rates = m.drive_jacobian @ virtual
    sides = [_compute_power(velocities, F) + float(rates @ torques) for F, torques in ((forces, eta), (F_hat, eta_hat))]
    return sides[0], sides[1]


def evaluate_identities(robot: Robot, seed: int = SEED) -> tuple[float, float]:
    """Return the relative differences of (10), and of the product that vanishes before (27), for link 1."""
    rng = np.random.default_rng(seed)
    I = np.stack([momentum_columns(u) @ robot.numeric.theta[:PER_LINK] for u in np.eye(6)], axis=1).astype(float)  # noqa: E741
    v, y, yd, v_hat = rng.normal(size=(4, 6))
    cross = np.stack([spatial_cross(v, unit) for unit in np.eye(6)], axis=1).astype(float)

    def evaluate_form(t: float) -> float:
        """y' I y / 2 in base axes, a short time t after the link was at the origin: dX/dt = v x X."""
        X = np.eye(6) + t * cross + 0.5 * t * t * cross @ cross
        X_inverse = np.eye(6) - t * cross + 0.5 * t * t * cross @ cross
        moved = y + t * yd
        return 0.5 * float(spatial_transpose(moved[:, None])[0] @ (X @ I @ X_inverse @ moved))

    step = 1e-5
    left = (evaluate_form(step) - evaluate_form(-step)) / (2.0 * step)
    right = float(spatial_transpose(y[:, None])[0] @ (I @ yd + cross @ (I @ y)))
    product = spatial_cross(y, I @ v_hat).astype(float)
    row = spatial_transpose(y[:, None])[0]
    return abs(left - right) / abs(right), float(abs(row @ product) / (abs(row) @ abs(product)))


def _compute_power(velocities: Float[np.ndarray, "links 6"], forces: Float[np.ndarray, "links 6"]) -> float:
    """The sum of vtilde_j' F_j."""
    return float(np.sum(velocities * np.roll(forces, 3, axis=1)))
