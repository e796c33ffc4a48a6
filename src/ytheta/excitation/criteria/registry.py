"""The criteria by name."""

from __future__ import annotations

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.excitation.criteria.balanced import Balanced
from ytheta.excitation.criteria.condition import PlainCondition, ScaledCondition
from ytheta.excitation.criteria.information import Criterion, Information
from ytheta.excitation.criteria.lin import LinCondition
from ytheta.excitation.criteria.optimality import ExpectedDeviation
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.estimators.lin_serial_arm import explain_refusal

# What each criterion minimizes, for lists and messages.
CRITERIA = {
    "balanced": "both condition numbers and the expected standard deviations together",
    "plain": "condition number of W_b, columns in SI units",
    "scaled": "condition number of W_b, columns scaled to length one",
    "d": "volume of the confidence ellipsoid (D-optimality)",
    "a": "mean variance (A-optimality)",
    "e": "largest semi-axis of the confidence ellipsoid (E-optimality)",
    "lin": "largest condition number of a joint's own equations (Lin 1995)",
}


def check_criterion(name: str, base: BaseParameters) -> None:
    """Raise an error if there is no such criterion, or if it does not accept the robot."""
    if name not in CRITERIA:
        raise UnknownNameError(f"there is no criterion {name!r}{suggest_names(name, CRITERIA)}")
    reason = explain_refusal(base.robot) if name == "lin" else None
    if reason is not None:
        raise InputError(f"the criterion lin needs a serial arm: {reason}; use balanced, plain, scaled, d, a or e")


def make_criterion(
    name: str,
    base: BaseParameters,
    conditioning: Information,
    noise: Information,
    reference: tuple[float, float] | None = None,
) -> Criterion:
    """Return a criterion; ``reference`` are the deviations of the D-optimal trajectory, see ``balanced``."""
    check_criterion(name, base)
    if name == "balanced":
        return Balanced(conditioning, noise, reference)
    if name == "plain":
        return PlainCondition(conditioning)
    if name == "scaled":
        return ScaledCondition(conditioning)
    if name == "lin":
        return LinCondition.of(base)
    return ExpectedDeviation(name, noise)
