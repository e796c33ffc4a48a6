"""The interface of constraints on the pose: distances between links, obstacles, boxes for frames."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.shapes import Float, SamplesByJoint

SamplesByMargin = Float[np.ndarray, "samples margins"]


@runtime_checkable
class PathConstraint(Protocol):
    """Margins that must not be negative, as functions of the positions q of all movable joints, ``robot.movable``.

    Attributes
    ----------
    names      one name for each margin, such as "link4–link7" or "tool above floor"
    lipschitz  how fast each margin can change with each joint at most, m/rad or m/m; for the check between samples
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def lipschitz(self) -> Float[np.ndarray, "margins joints"]: ...

    def compute_margins(self, q: SamplesByJoint) -> SamplesByMargin:
        """Return all margins in metres; at least 0 means that the constraint is kept."""

    def pull_back(self, q: SamplesByJoint, weights: SamplesByMargin) -> SamplesByJoint:
        """Return the sum of weights · ∂margin/∂q."""
