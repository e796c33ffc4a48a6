"""The two schemes of Lu and Meng, section V-B, in continuous time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tests.support.control_loop import ContinuousRun, ReferenceFunction, simulate_continuous
from ytheta.control.controller import Reference
from ytheta.control.laws.law import Law
from ytheta.papers.lu1993_simulations import make_reference
from ytheta.simulation.references import ReferenceTrajectory


def evaluate_at(trajectory: ReferenceTrajectory) -> ReferenceFunction:
    """Return the reference trajectory as a function of one instant."""
    return lambda t: Reference(*(part[0] for part in trajectory(np.array([t]))))


LU1993_REFERENCE = evaluate_at(make_reference())


@cache
def simulate_lu1993(make_law: Callable[..., Law], gamma: float | None = None) -> ContinuousRun:
    """Simulate two seconds with 20 % initial error and the initial estimate m4 = 0.5 kg, a load of zero."""
    law = make_law() if gamma is None else make_law(gamma)
    return simulate_continuous(
        law,
        LU1993_REFERENCE,
        plant=law.robot,
        seconds=2.0,
        offset=0.2 * LU1993_REFERENCE(0.0).q,
        estimate=[0.0],
        points=2001,
        rtol=1e-7,
    )
