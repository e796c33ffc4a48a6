"""Array shapes in annotations, with one vocabulary of axes: samples joints params base links loops.

If jaxtyping is loaded, the shapes are its types. The tests load jaxtyping and check the shapes at every call. Otherwise
the shapes are plain array types, because importing jaxtyping takes a tenth of a second.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool as Bool
    from jaxtyping import Float as Float
    from jaxtyping import Int as Int
    from jaxtyping import Shaped as Shaped
else:

    class Shaped:
        """``Shaped[np.ndarray, "3 3"]`` is the array type itself."""

        def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
            return item[0]

    Bool = Float = Int = Shaped


def freeze(array: np.ndarray) -> np.ndarray:
    """Return this array, read-only from now on: a value of an immutable object that several computations share."""
    array.flags.writeable = False
    return array


# Arrays of numbers. ``SamplesByJoint`` has one row for each sample and one column for each joint.
PerSample = Float[np.ndarray, "samples"]
PerJoint = Float[np.ndarray, "joints"]
PerCoordinate = Float[np.ndarray, "coordinates"]
PerBase = Float[np.ndarray, "base"]
PerParameter = Float[np.ndarray, "params"]
PerSelected = Float[np.ndarray, "selected"]
PerHyper = Float[np.ndarray, "hyper"]
SelectedByCoordinate = Float[np.ndarray, "selected coordinates"]
SelectedBySelected = Float[np.ndarray, "selected selected"]
BaseBySelected = Float[np.ndarray, "base selected"]
PerUnknown = Float[np.ndarray, "unknown"]
Vector3 = Float[np.ndarray, "3"]
Matrix3 = Float[np.ndarray, "3 3"]
Matrix4 = Float[np.ndarray, "4 4"]
SamplesByJoint = Float[np.ndarray, "samples joints"]
JointsBySample = Float[np.ndarray, "joints samples"]
SamplesByCoordinate = Float[np.ndarray, "samples coordinates"]
BaseByBase = Float[np.ndarray, "base base"]
ParamsByParam = Float[np.ndarray, "params params"]
RowsByParam = Float[np.ndarray, "rows params"]
RowsByVariable = Float[np.ndarray, "rows variables"]
PerVariable = Float[np.ndarray, "variables"]
PerRow = Float[np.ndarray, "rows"]
UnknownByUnknown = Float[np.ndarray, "unknown unknown"]
SamplesByJointByBase = Float[np.ndarray, "samples joints base"]
ChannelsBySample = Float[np.ndarray, "channels samples"]
ChannelsByKept = Float[np.ndarray, "channels kept"]
PerEdge = Float[np.ndarray, "edges"]
PerLine = Float[np.ndarray, "lines"]
LinesByJoint = Float[np.ndarray, "lines joints"]
JointsByGrid = Float[np.ndarray, "joints grid"]
PerInstant = Float[np.ndarray, "instants"]
InstantsByJoint = Float[np.ndarray, "instants joints"]
RunsByInstantByJoint = Float[np.ndarray, "runs instants joints"]
JointMatrices = Float[np.ndarray, "_ joints joints"]
MotorsByJoint = Float[np.ndarray, "motors joints"]
RowsByUnknown = Float[np.ndarray, "rows unknowns"]
SquareMatrix = Float[np.ndarray, "size size"]
PerState = Float[np.ndarray, "states"]
RunsBySlot = Float[np.ndarray, "runs slots"]
PerConstant = Float[np.ndarray, "constants"]
NonzerosBySample = Float[np.ndarray, "nonzeros samples"]
Vector3BySample = Float[np.ndarray, "3 samples"]
RowIndices = Int[np.ndarray, "rows"]
StartIndices = Int[np.ndarray, "starts"]

# Scalars of any kind: floats, CasADi symbols, SymPy symbols, fractions.
AnyActuatedByActuated = Shaped[np.ndarray, "actuated actuated"]
AnyPerActuated = Shaped[np.ndarray, "actuated"]
AnyVector3Columns = Shaped[np.ndarray, "3 columns"]
AnySpatialColumns = Shaped[np.ndarray, "6 columns"]
AnyPerCoordinate = Shaped[np.ndarray, "coordinates"]
AnyPerDrive = Shaped[np.ndarray, "drives"]
AnyMatrix3 = Shaped[np.ndarray, "3 3"]
AnyMatrix4 = Shaped[np.ndarray, "4 4"]
AnyJointsByJoint = Shaped[np.ndarray, "joints joints"]
AnyPerState = Shaped[np.ndarray, "states"]
AnyPerMoment = Shaped[np.ndarray, "moments"]
AnyPerUnknown = Shaped[np.ndarray, "unknown"]
AnyPerParameter = Shaped[np.ndarray, "params"]
AnySpatialVector = Shaped[np.ndarray, "6"]
AnyVector3 = Shaped[np.ndarray, "3"]
AnyPerJoint = Shaped[np.ndarray, "joints"]
AnyBatchByJoint = Shaped[np.ndarray, "*batch joints"]
AnyBatchByCoordinate = Shaped[np.ndarray, "*batch coordinates"]
AnyBatchByEquation = Shaped[np.ndarray, "*batch equations"]
AnyBatchOfVector3 = Shaped[np.ndarray, "*batch 3"]
AnyBatchOfMatrix3 = Shaped[np.ndarray, "*batch 3 3"]
