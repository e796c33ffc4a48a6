"""A mistake that may have been made, and the interpretation of the log in which it is mended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from ytheta.errors import ClosureError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.assessment.mistake_errors import Equations, Errors, Samples, make_equations, select_samples
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import is_rigid
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.parameters import list_incomplete_links
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase, SquareMatrix


@dataclass(frozen=True, eq=False)
class Interpretation:
    """The log as recorded, with the described robot: what mistakes are compared with."""

    base: ModelParameters
    form: Differential
    samples: Samples

    @classmethod
    def of(cls, problem: EstimationProblem) -> Interpretation:
        """Return the interpretation of the equations of a fit."""
        form = problem.form if isinstance(problem.form, Differential) else Differential(problem.base)
        return cls(problem.base, form, select_samples(problem, form))

    @property
    def robot(self) -> Robot:
        return self.base.robot

    @cached_property
    def described(self) -> PerBase:
        """Parameters of the described links, rotors and forces, without friction; zero if the geometry is unknown."""
        robot, base = self.robot, self.base.standard_combinations
        if base is None:
            return np.zeros(len(self.base))
        rigid = [is_rigid(name) for name in robot.parameter_names]
        return np.asarray(base.K @ np.where(rigid, robot.theta, 0.0))

    @property
    def is_known(self) -> bool:
        """Whether the geometry is known."""
        return self.base.standard_combinations is not None

    @cached_property
    def has_inertias(self) -> bool:
        """Whether the description has masses, with which torques can be compared."""
        if not self.is_known or list_incomplete_links(self.robot):
            return False
        return any(not link.inertia.massless for link in self.robot.merged.links[1:])

    @cached_property
    def equations(self) -> Equations:
        """The equations of the log as recorded."""
        return self.make_equations(self.samples)

    @cached_property
    def errors(self) -> Errors:
        """The errors of the log as recorded."""
        return self.equations.compute_errors()

    def make_equations(self, samples: Samples) -> Equations:
        """Return the equations of the described robot with other samples."""
        layout = self.form.layout
        blocks = [values.copy() for _, values in self.form.compute_regressor_blocks(samples.motion)]
        values = np.concatenate(blocks, axis=1)
        rows = [(columns, values[part]) for part, columns in zip(layout.slices, layout.columns, strict=True)]
        torque = np.stack([self.described[columns] @ own for columns, own in rows], axis=1)
        return make_equations(rows, torque, samples, self.described)


@dataclass(frozen=True, eq=False)
class Mistake:
    """A mistake that may have been made.

    Attributes
    ----------
    code       kind of the mistake
    statement  what is wrong, as the beginning of a sentence
    remedy     what to type
    find_equations
               returns the equations in which the mistake is mended
    torque     matrix that mends the torques; None if they are right
    names      joints concerned
    fields     values of the statement, for programs
    is_double  whether two mistakes of the same kind were made at once
    find_evidence
               returns what speaks for the mistake beside the errors that are compared, as a clause; empty if nothing
    """

    code: FitFindingCode
    statement: str
    remedy: str
    find_equations: Callable[[], Equations]
    torque: SquareMatrix | None = None
    names: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    is_double: bool = False
    find_evidence: Callable[[], str] = lambda: ""

    @cached_property
    def is_possible(self) -> bool:
        """Whether the robot can take all poses of the mended log; with loops, some other poses are out of reach."""
        try:
            return bool(np.isfinite(self.errors.total))
        except ClosureError:
            return False

    @cached_property
    def errors(self) -> Errors:
        """The errors after the mistake is mended."""
        return self.find_equations().compute_errors(self.torque)


def mend_once(interpretation: Interpretation, samples: Samples) -> Callable[[], Equations]:
    """Return a function that makes the equations with other samples when it is first called."""
    return cache(lambda: interpretation.make_equations(samples))
