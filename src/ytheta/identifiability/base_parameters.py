"""BaseParameters: the combinations of standard parameters that a robot's motion can reveal.

Identity      tau = Y theta = Y_b beta   with beta = K theta and Y_b = the independent columns of Y, for every theta
Notation      K             (base, params): row b holds the coefficients of base parameter b; columns in the order of
                            ``robot.parameter_names``
              independent   one standard parameter per row, with K[:, independent] = 1

Given the independent parameters, K is unique: that is why all roads to it give the same numbers, and why the base
regressor is nothing but some columns of the standard one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.expression import combination
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, Shaped


class Identifiability(Enum):
    """What motion tells of one standard parameter."""

    ALONE = "known alone"
    COMBINED = "only in combination"
    NO_EFFECT = "no effect"


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters:
    """A minimal set of parameters; see the module docstring.

    ``entries`` holds floats, or SymPy expressions in the robot's symbolic lengths. ``asked`` are the standard
    parameters the question was about; the others (friction, say) have no part in it. ``gap`` is, for roads that measure
    a rank, the smallest singular value that counts and the largest that does not, both relative to the largest.
    """

    robot: Robot
    method: str
    independent: tuple[str, ...]
    entries: Shaped[np.ndarray, "base params"]
    asked: tuple[str, ...]
    gap: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.independent)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of beta: the independent parameter of each, with a star where others are mixed into it."""
        alone = np.count_nonzero(self._occurs, axis=1) == 1
        return tuple(name if own else f"{name}*" for name, own in zip(self.independent, alone, strict=True))

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """Every base parameter in words, such as ``link2.mx + 0.4318·link3.m``; coefficients to six digits."""
        return self.format_expressions(digits=6)

    def format_expressions(self, *, digits: int) -> tuple[str, ...]:
        """The expressions with as many digits as asked for; 17 lose nothing."""
        return tuple(
            combination(row, self.robot.parameter_names, head=int(head), digits=digits)
            for row, head in zip(self.entries, self.places, strict=True)
        )

    @cached_property
    def K(self) -> Float[np.ndarray, "base params"]:
        """The matrix of beta = K theta in numbers; UnsetLengthError where a symbolic length has no value."""
        values = self._length_values
        flat = [float(e) if isinstance(e, int | float) else float(e.subs(values)) for e in self.entries.ravel()]
        K = np.array(flat, dtype=float).reshape(self.entries.shape)
        K.flags.writeable = False
        return K

    @cached_property
    def places(self) -> Int[np.ndarray, "base"]:
        """Where the independent parameters stand in theta."""
        index = {name: k for k, name in enumerate(self.robot.parameter_names)}
        return np.array([index[name] for name in self.independent], dtype=np.intp)

    @cached_property
    def beta(self) -> Float[np.ndarray, "base"]:
        """The values that the robot's own description gives."""
        return self.K @ self.robot.theta

    @cached_property
    def identifiability(self) -> Mapping[str, Identifiability]:
        """For every standard parameter asked about, what motion tells of it."""
        occurs = self._occurs
        rows = np.count_nonzero(occurs, axis=1)
        head = {place: row for row, place in enumerate(self.places)}
        verdicts: dict[str, Identifiability] = {}
        asked = set(self.selected)
        for k, name in enumerate(self.robot.parameter_names):
            if name not in asked:
                continue
            if not occurs[:, k].any():
                verdicts[name] = Identifiability.NO_EFFECT
            else:
                alone = k in head and rows[head[k]] == 1
                verdicts[name] = Identifiability.ALONE if alone else Identifiability.COMBINED
        return verdicts

    def check_robot(self, robot: Robot) -> None:
        """These are base parameters of this robot: one that differs in masses and drive parameters at most."""
        if self.robot is not robot and _geometry(self.robot) != _geometry(robot):
            raise InputError(
                f"these base parameters are those of robot {self.robot.name!r} with other joints, lengths, gravity or "
                f"mounting than {robot.name!r}; use base_parameters of that robot"
            )

    # --- the ways back: standard parameters with a given beta. The nearest physically consistent ones need a solver
    # --- for semidefinite programs and belong to ``identify``.

    def minimum_norm(self, beta: Float[np.ndarray, "base"]) -> Float[np.ndarray, "params"]:
        """The smallest standard parameters that move the robot like beta; those not asked about are zero."""
        return self.nearest(beta, np.zeros(self.K.shape[1]))

    def nearest(
        self, beta: Float[np.ndarray, "base"], prior: Float[np.ndarray, "params"], *, scale: np.ndarray | None = None
    ) -> Float[np.ndarray, "params"]:
        """The standard parameters nearest to ``prior`` that move the robot like beta.

        Distance is Euclidean, in units of ``scale`` where one is given: kilograms and kg m2 are not alike.
        """
        beta, prior = self._taken("beta", beta, len(self)), self._taken("prior", prior, self.K.shape[1])
        units = np.ones(self.K.shape[1]) if scale is None else np.asarray(scale, dtype=float)
        if units.shape != (self.K.shape[1],) or not (units > 0.0).all() or not np.isfinite(units).all():
            raise InputError(f"scale must be {self.K.shape[1]} positive numbers, one per standard parameter")
        step, *_ = np.linalg.lstsq(self.K * units, beta - self.K @ prior, rcond=None)
        return prior + units * step

    def __repr__(self) -> str:
        return f"BaseParameters({len(self)} of {len(self.selected)} parameters of {self.robot.name!r}, by {self.method})"

    def _taken(self, name: str, values: np.ndarray, size: int) -> Float[np.ndarray, "size"]:
        """A vector from outside."""
        taken = np.asarray(values, dtype=float)
        if taken.shape != (size,) or not np.isfinite(taken).all():
            raise InputError(f"{name} must be {size} finite numbers; this one has shape {taken.shape}, or NaN in it")
        return taken

    @cached_property
    def _occurs(self) -> np.ndarray:
        """Where K is not zero: with the values of lengths that are set, whatever the words say."""
        if not self.robot.unset_lengths:
            return self.K != 0.0
        return np.array([[bool(entry != 0) for entry in row] for row in self.entries], dtype=bool).reshape(
            self.entries.shape
        )

    @property
    def _length_values(self) -> dict[str, Any]:
        _ = self.robot.numeric  # says which length has no value
        return {name: value for name, value in self.robot.lengths if value is not None}


def _geometry(robot: Robot) -> tuple[object, ...]:
    """What base parameters depend on: everything but masses and the parameters of drives."""
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    places = tuple((j.name, j.kind, j.parent, j.child, j.placement, j.axis, j.seat) for j in joints)
    drives = tuple((name, drive.coulomb_speed) for name, drive in robot.drives)
    motors = tuple((motor.name, motor.turns_with) for motor in robot.motors)
    others = (robot.parameter_names, robot.actuated, robot.couplings, robot.gravity_in_base, robot.lengths)
    return (places, drives, motors, *others, tuple((force.name, force.torque, force.where) for force in robot.forces))
