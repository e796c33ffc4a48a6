"""Interface of the equation forms, the equations tau = Y beta that a form makes from motion, and the registry.

Notation      values    (nonzeros, samples): row k contains structural non-zero k of Y; rows of one joint are adjacent
              columns   for every joint, the base parameters of its non-zeros
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native.kernel import Kernel
from ytheta.native.products.row_sums import ReplacedRows, RowGroups
from ytheta.shapes import (
    Int,
    JointsBySample,
    NonzerosBySample,
    PerBase,
    PerJoint,
    SamplesByCoordinate,
    SamplesByJoint,
    SamplesByJointByBase,
)

if TYPE_CHECKING:
    from ytheta.identification.equations.differential import Differential
    from ytheta.identification.equations.integral import Cumulative, Integral
    from ytheta.identification.equations.momentum import Momentum


@dataclass(frozen=True)
class SampleRange:
    """Samples ``first``, …, ``last - 1`` of a segment."""

    segment: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class RegressorLayout:
    """Positions of the non-zeros of Y: for every joint its rows in ``values`` and the base parameters of these rows.

    ``wrench_rows`` is the number of joints, the first ones, that are the coordinates of a floating base, and
    ``sensor_rows`` of those, the last ones, that are the coordinates of force-torque sensors.
    """

    base_count: int
    slices: tuple[slice, ...]
    columns: tuple[Int[np.ndarray, " own"], ...]
    wrench_rows: int = 0
    sensor_rows: int = 0

    @classmethod
    def of(
        cls,
        indices: Sequence[Int[np.ndarray, " nonzeros"]],
        *,
        joints: int,
        base_count: int,
        wrench_rows: int = 0,
        sensor_rows: int = 0,
    ) -> RegressorLayout:
        """Create the layout from the indices of the non-zeros, sorted by joint as in a kernel."""
        rows, columns = indices
        ends = np.searchsorted(rows, np.arange(joints + 1))
        slices = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
        return cls(base_count, slices, tuple(columns[part] for part in slices), wrench_rows, sensor_rows)

    @cached_property
    def groups(self) -> RowGroups:
        """The rows of every joint as groups, of which machine code computes sums."""
        return RowGroups(self.slices)

    @cached_property
    def row_columns(self) -> Int[np.ndarray, " nonzeros"]:
        """The base parameter of every row."""
        columns = np.zeros(self.groups.row_count, dtype=int)
        for part, own in zip(self.slices, self.columns, strict=True):
            columns[part] = own
        return columns

    def torque(self, values: NonzerosBySample, beta: PerBase) -> JointsBySample:
        """Return Y beta."""
        tau = np.zeros((len(self.slices), values.shape[1]))
        self.groups.combine(beta[self.row_columns], values, tau)
        return tau

    def residual(self, rows: EquationRows, beta: PerBase) -> JointsBySample:
        """Return tau - Y beta."""
        residual = np.array(rows.tau)
        self.groups.combine(-beta[self.row_columns], rows.values, residual)
        return residual

    def dense(self, values: NonzerosBySample) -> SamplesByJointByBase:
        """Return Y of every sample, including its zeros."""
        Y = np.zeros((values.shape[1], len(self.slices), self.base_count))
        for joint, (part, columns) in enumerate(zip(self.slices, self.columns, strict=True)):
            Y[:, joint, columns] = values[part].T
        return Y


@dataclass(frozen=True, eq=False)
class EquationRows:
    """Equations of a block of samples: non-zeros of the regressor, torques, and a mask.

    ``mask`` is 1 for equations that are used and 0 for the others, or None if all equations are used. ``values`` may be
    overwritten when the next rows are requested. Equation k of a joint begins at sample ``first + k * hop`` of the
    sample range.
    """

    values: NonzerosBySample
    tau: JointsBySample
    mask: JointsBySample | None = None
    first: int = 0
    hop: int = 1


@dataclass(frozen=True, eq=False)
class KernelEquations:
    """The equations of a sample range whose Y a kernel computes, except for rows that are replaced by signals.

    Their sums are computed in one native call, without a Python object for every block. The rows of Y are the non-zeros
    of the kernel, in its order.
    """

    kernel: Kernel
    inputs: tuple[SamplesByCoordinate, ...]
    tau: SamplesByJoint
    mask: JointsBySample | None = None
    replaced: ReplacedRows | None = None


@runtime_checkable
class Form(Protocol):
    """An equation form: makes equations that are linear in beta from motion.

    The equations do not depend on how a segment is split into sample ranges.
    """

    @property
    def base(self) -> ModelParameters: ...
    @property
    def name(self) -> str: ...
    @property
    def layout(self) -> RegressorLayout: ...
    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        """Split a segment of ``length`` samples into ranges of about ``size`` samples."""

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        """Yield the equations of the motion of one sample range."""


@runtime_checkable
class KernelForm(Protocol):
    """A capability of some forms: a kernel computes the rows, so that their sums need no Python object per block."""

    def kernel_equations(self, motion: MotionSamples) -> KernelEquations | None:
        """Return the same equations as ``rows``; None if some of them need more than a kernel and signals."""


# Registry of the equation forms.
#
# differential   uses accelerations and every sample; for logs whose low-pass leaves little noise in the accelerations
# integral       needs no accelerations; uses the velocities at the two ends of each window
# cumulative     needs no accelerations; integrates from a fixed time, as printed in [ha1989], so that errors accumulate
# momentum       needs no accelerations; low-passes velocities like torques, so it tolerates the most noise


# The setting of each form.
OPTIONS = {"differential": "min_speed", "integral": "window", "cumulative": "window", "momentum": "corner"}
FORMS = tuple(OPTIONS)


def create_form(
    name: str,
    base: ModelParameters,
    *,
    min_speed: PerJoint | None = None,
    window: float | None = None,
    corner: float | None = None,
) -> Differential | Integral | Cumulative | Momentum:
    """Create the form of this name; ``OPTIONS`` lists the setting that each form accepts."""
    if name not in OPTIONS:
        raise UnknownNameError(f"there is no form {name!r}{suggest_names(name, FORMS)}")
    for option, value in (("min_speed", min_speed), ("window", window), ("corner", corner)):
        if value is not None and OPTIONS[name] != option:
            owners = " or ".join(other for other in FORMS if OPTIONS[other] == option)
            raise InputError(f"the {name} form has no {option!r}; leave it out, or use the {owners} form")
    # Imported here, since a form implements this interface, and most identifications use the differential form.
    if name == "differential":
        from ytheta.identification.equations.differential import Differential

        return Differential(base, min_speed)
    from ytheta.identification.equations.integral import Cumulative, Integral
    from ytheta.identification.equations.momentum import Momentum

    if name == "momentum":
        return Momentum(base, corner)
    return Integral(base, window) if name == "integral" else Cumulative(base, window)
