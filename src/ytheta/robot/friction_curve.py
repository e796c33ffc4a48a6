"""The friction curve of a drive: friction as a function of speed, in NumPy.

Identity      friction = fv c + fc d + fs d sqrt(|c|) + fl d |torque|
Notation      code     meaning
              speeds   v, the velocity of the drive, in rad/s or m/s
              d        sign(v), or v / sqrt(v^2 + s^2) if the drive has a ``coulomb_speed`` s
              c        v, bounded by the drive's ``friction_speed`` if it has one and a ``root``
              torque   the torque that the drive transmits, without friction and offset

The offset of a drive does not change its sign with the velocity and is not part of the curve. The kernels compute the
same laws in symbols, see ``dynamics.constraint``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ytheta.robot.parts import Drive
from ytheta.shapes import Float

CURVE_PARAMETERS = ("fv", "fc", "fs", "fl")
# Largest negative sum of friction terms that counts as zero, relative to the sum of their sizes. Chosen on:
# reasoning, far above rounding errors.
ROUNDING_TOLERANCE = 1e-9


def compute_friction(drive: Drive, speeds: ArrayLike, *, load_torque: ArrayLike = 0.0) -> Float[np.ndarray, "*shape"]:
    """Return the friction of a drive at these speeds, in Nm or N; positive friction brakes positive speeds.

    ``load_torque`` is the torque that the drive transmits, on which load-dependent friction depends: one number, or one
    for each speed.
    """
    values = np.array([drive.viscous, drive.coulomb, drive.root or 0.0, drive.load or 0.0])
    return np.asarray(compute_friction_factors(drive, speeds, load_torque=load_torque) @ values)


def compute_friction_factors(
    drive: Drive, speeds: ArrayLike, *, load_torque: ArrayLike = 0.0
) -> Float[np.ndarray, "*shape 4"]:
    """Return the factors of fv, fc, fs and fl in the friction of a drive; friction is linear in these parameters.

    Of the drive, only ``coulomb_speed``, ``friction_speed`` and whether it has a ``root`` matter.
    """
    v, torque = np.broadcast_arrays(np.asarray(speeds, dtype=float), np.asarray(load_torque, dtype=float))
    direction = v / np.hypot(v, drive.coulomb_speed) if drive.coulomb_speed else np.sign(v)
    bounded = np.clip(v, -drive.max_curve_speed, drive.max_curve_speed)
    return np.stack([bounded, direction, direction * np.sqrt(np.abs(bounded)), direction * np.abs(torque)], axis=-1)


def find_lowest_friction(drive: Drive) -> tuple[float, float]:
    """Return the speed at which viscous, Coulomb and root friction together are smallest, and their value there.

    Up to ``friction_speed``, the sum of the three is a polynomial of degree two in the root of the speed, whose
    smallest value is at an end or at its vertex. The transition of smooth Coulomb friction is not considered.
    """
    fv, fc, fs = drive.viscous, drive.coulomb, drive.root or 0.0
    end = math.sqrt(drive.max_curve_speed)
    if math.isinf(end):  # a root r of the polynomial is at most 1 + max(...) / |fv|; beyond it, the sign is constant
        leading = fv or fs
        end = 2.0 * (1.0 + max(abs(fs), abs(fc)) / abs(leading)) if leading else 1.0
    vertex = -fs / (2.0 * fv) if fv > 0.0 else 0.0
    candidates = [u for u in (0.0, vertex, end) if 0.0 <= u <= end]
    lowest = min(candidates, key=lambda u: fc + fs * u + fv * u * u)
    return lowest * lowest, fc + fs * lowest + fv * lowest * lowest


def find_driving_speed(drive: Drive) -> float | None:
    """Return the speed at which viscous, Coulomb and root friction drive instead of braking, or None if they brake."""
    speed, friction = find_lowest_friction(drive)
    size = abs(drive.viscous) * speed + abs(drive.coulomb) + abs(drive.root or 0.0) * math.sqrt(speed)
    return speed if friction < -ROUNDING_TOLERANCE * size else None
