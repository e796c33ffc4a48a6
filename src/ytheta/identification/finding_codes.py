"""Codes of the findings about a fit, for programs and for ``--json``."""

from __future__ import annotations

from enum import StrEnum


class FitFindingCode(StrEnum):
    """The kind of a finding about a fit."""

    ESTIMATOR = "estimator"  # no convergence, or the equations of a single joint do not have full rank
    FRICTION = "friction"  # Coulomb friction of a robot with loops is not low-passed
    TORQUE_SIGN = "torque sign"  # torques of the log have the wrong sign
    GEOMETRY = "geometry"  # lengths are unknown, so that parameters of a regrouped Lagrangian were identified
    GRAVITY = "gravity"  # the log contradicts the described direction of gravity
