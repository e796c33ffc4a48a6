"""Registry of the equation forms.

differential   uses accelerations and every sample; for logs whose low-pass leaves little noise in the accelerations
integral       needs no accelerations; uses the velocities at the two ends of each window
momentum       needs no accelerations; low-passes velocities like torques, so it tolerates the most noise
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.differential import Differential
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from ytheta.identification.equations.integral import Integral
    from ytheta.identification.equations.momentum import Momentum

OPTIONS = {"differential": "min_speed", "integral": "window", "momentum": "corner"}  # the setting of each form
FORMS = tuple(OPTIONS)


def create_form(
    name: str,
    base: BaseParameters,
    *,
    min_speed: PerJoint | None = None,
    window: float | None = None,
    corner: float | None = None,
) -> Differential | Integral | Momentum:
    """Create the form of this name; ``OPTIONS`` lists the setting that each form accepts."""
    if name not in OPTIONS:
        raise UnknownNameError(f"there is no form {name!r}{suggest_names(name, FORMS)}")
    for option, value in (("min_speed", min_speed), ("window", window), ("corner", corner)):
        if value is not None and OPTIONS[name] != option:
            owner = next(other for other in FORMS if OPTIONS[other] == option)
            raise InputError(f"the {name} form has no {option!r}; leave it out, or use the {owner} form")
    if name == "differential":
        return Differential(base, min_speed)
    # Imported here, since most identifications use the differential form.
    from ytheta.identification.equations.integral import Integral
    from ytheta.identification.equations.momentum import Momentum

    return Integral(base, window) if name == "integral" else Momentum(base, corner)
