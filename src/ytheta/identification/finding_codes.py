"""Codes of the findings about a fit, for programs and for ``--json``."""

from __future__ import annotations

from enum import StrEnum


class FitFindingCode(StrEnum):
    """The kind of a finding about a fit."""

    ESTIMATOR = "estimator"  # no convergence, or the equations of a single joint do not have full rank
    DEVIATIONS = "standard deviations"  # the equations are correlated, so that standard deviations are approximate
    FRICTION = "friction"  # Coulomb friction of a robot with loops is not low-passed
    REST = "rest"  # joints rest or stick, and their equations are left out meanwhile
    TORQUE_SIGN = "torque sign"  # torques of the log have the wrong sign
    GEOMETRY = "geometry"  # lengths are unknown, so that parameters of a regrouped Lagrangian were identified
    NEGATIVE = "negative"  # a sum of masses or moments of inertia is negative
    GRAVITY = "gravity"  # the log contradicts the described direction of gravity
    PRIOR = "prior"  # what the prior is centred on says nothing about the links
    CONSISTENCY = "consistency"  # physically consistent bodies fit the log clearly worse than the estimate
    MASS = "mass"  # the bodies weigh much more or less than the description
