"""The two schemes of Lu and Meng, section V-B, in continuous time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from examples.lu1993_schemes import course

from tests.support.control_loop import ReferenceFunction, Run, run
from ytheta.control.controller import Reference
from ytheta.control.laws.law import Law
from ytheta.simulation.references.reference import ReferenceTrajectory


def at_once(course: ReferenceTrajectory) -> ReferenceFunction:
    """A course at one instant."""
    return lambda t: Reference(*(part[0] for part in course(np.array([t]))))


lu_course = at_once(course())


@cache
def simulated(make: Callable[..., Law], gamma: float | None = None) -> Run:
    """Two seconds from 20 % too far, with m4 taken for 0.5 kg: a load of nothing."""
    law = make() if gamma is None else make(gamma)
    offset = 0.2 * lu_course(0.0).q
    return run(law, lu_course, plant=law.robot, seconds=2.0, offset=offset, estimate=[0.0], points=2001, rtol=1e-7)
