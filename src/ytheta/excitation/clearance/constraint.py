"""Clearance: margins of distance as a function of the joint positions, with gradients and bounds on their slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.engine.engine import PickledByFields
from ytheta.errors import InputError
from ytheta.excitation.clearance.margin_graphs import BodyPoses, Margin, trace_margins, trace_pull_back
from ytheta.findings import Finding
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph
from ytheta.shapes import Float, PerJoint, SamplesByJoint, freeze

MAX_NAMED_VIOLATIONS = 4  # in an error message


@dataclass(frozen=True, eq=False)
class Clearance(PickledByFields):
    """Margins that must not be negative along a path: distances minus the clearance asked for.

    q has the order of ``robot.movable`` and contains all joints, also those that couplings and loops determine.

    Attributes
    ----------
    names            one name for each margin, such as "link4–link7"
    lipschitz        bounds on |d margin / d q_j| over all poses within the position limits, in m/rad or m/m
    findings         pairs that are not checked, and links without collision shapes
    margins_graph    q → margins
    pull_back_graph  (q, weights) → gradient of the weighted sum of the margins
    """

    names: tuple[str, ...]
    lipschitz: Float[np.ndarray, "margins joints"]
    findings: tuple[Finding, ...]
    margins_graph: Graph
    pull_back_graph: Graph

    def compute_margins(self, q: SamplesByJoint) -> Float[np.ndarray, "samples margins"]:
        """Return the margins of each sample in metres; a negative one is violated."""
        return self._margins(q)

    def pull_back(self, q: SamplesByJoint, weights: Float[np.ndarray, "samples margins"]) -> SamplesByJoint:
        """Return the gradient of ``sum(weights * margins)`` with respect to q."""
        return self._pull_back(q, weights)

    def check_pose(self, q: PerJoint, *, pose: str = "the start pose") -> None:
        """Raise InputError with the names of the margins that a pose violates."""
        margins = self.compute_margins(np.asarray(q, dtype=float)[None])[0]
        violated = np.flatnonzero(margins < 0.0)
        if len(violated):
            worst = violated[np.argsort(margins[violated])]
            listed = ", ".join(f"{self.names[k]} by {-1e3 * margins[k]:.3g} mm" for k in worst[:MAX_NAMED_VIOLATIONS])
            more = f" and {len(worst) - MAX_NAMED_VIOLATIONS} more" if len(worst) > MAX_NAMED_VIOLATIONS else ""
            raise InputError(
                f"{pose} is too close to a collision or outside the workspace: {listed}{more}; give another pose, or "
                "a smaller clearance"
            )

    @cached_property
    def _margins(self) -> Kernel:
        return compile_graph(self.margins_graph)

    @cached_property
    def _pull_back(self) -> Kernel:
        return compile_graph(self.pull_back_graph)


def make_clearance(
    poses: BodyPoses,
    margins: Sequence[Margin],
    names: Sequence[str],
    lipschitz: Float[np.ndarray, "margins joints"],
    *,
    findings: Sequence[Finding] = (),
) -> Clearance:
    """Return the clearance of symbolic margins; nothing is compiled before it is used."""
    return Clearance(
        tuple(names),
        freeze(np.array(lipschitz, dtype=float)),
        tuple(findings),
        trace_margins(poses, margins),
        trace_pull_back(poses, margins),
    )
