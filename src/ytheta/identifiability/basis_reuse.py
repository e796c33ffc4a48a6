"""Reuse of numerical bases: the basis of a robot is found again by a fingerprint of everything that determines it.

Payload    JSON with the independent parameters, the rows of K and the gap; JSON represents every double exactly
Trust      see ``native.cache``; a payload of another layout counts as missing
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.kernels import TRACING_SOURCES, describe_versions
from ytheta.files.fingerprint import NoFingerprintError, fingerprint, fingerprint_sources
from ytheta.native import cache as disk
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


@dataclass(frozen=True, eq=False)
class Basis:
    """Independent parameters, the matrix K, and the singular values above and below the rank; see BaseParameters."""

    independent: tuple[str, ...]
    K: Float[np.ndarray, "base params"]
    gap: tuple[float, float]


def find_or_compute(robot: Robot, names: Sequence[str], compute: Callable[[Robot, Sequence[str]], Basis]) -> Basis:
    """Return the basis of the named parameters from the cache; if it is not there, compute and store it."""
    sources = fingerprint_sources(*TRACING_SOURCES, "identifiability")
    if sources is None:  # it is not known which code runs
        return compute(robot, names)
    try:
        values = fingerprint((robot, names))
    except NoFingerprintError:
        return compute(robot, names)
    key = disk.make_key(compute.__name__, values, describe_versions(), sources)
    payload = disk.read(key, disk.BASIS)
    basis = None if payload is None else decode_basis(payload)
    if basis is None:
        basis = compute(robot, names)
        if fingerprint_sources(*TRACING_SOURCES, "identifiability") == sources:
            disk.write(key, encode_basis(basis), disk.BASIS)
    return basis


def encode_basis(basis: Basis) -> bytes:
    """Return the payload of a basis."""
    content = {"independent": basis.independent, "shape": basis.K.shape, "K": basis.K.tolist(), "gap": basis.gap}
    return json.dumps(content).encode()


def decode_basis(payload: bytes) -> Basis | None:
    """Return the basis of a payload, or None if the payload has another layout."""
    try:
        content = json.loads(payload)
        K = np.array(content["K"], dtype=float).reshape(content["shape"])
        return Basis(tuple(content["independent"]), K, (content["gap"][0], content["gap"][1]))
    except (ValueError, LookupError, TypeError):
        return None
