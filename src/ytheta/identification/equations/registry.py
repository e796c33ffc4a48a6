"""Registry of the equation forms.

differential   uses accelerations and every sample; for logs whose low-pass leaves little noise in the accelerations
integral       needs no accelerations; uses the velocities at the two ends of each window
cumulative     needs no accelerations; integrates from a fixed time, as printed in [ha1989], so that errors accumulate
momentum       needs no accelerations; low-passes velocities like torques, so it tolerates the most noise
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.equations.differential import Differential
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from ytheta.identification.equations.windowed.cumulative import Cumulative
    from ytheta.identification.equations.windowed.integral import Integral
    from ytheta.identification.equations.windowed.momentum import Momentum

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
    if name == "differential":
        return Differential(base, min_speed)
    # Imported here, since most identifications use the differential form.
    from ytheta.identification.equations.windowed.cumulative import Cumulative
    from ytheta.identification.equations.windowed.integral import Integral
    from ytheta.identification.equations.windowed.momentum import Momentum

    if name == "momentum":
        return Momentum(base, corner)
    return Integral(base, window) if name == "integral" else Cumulative(base, window)
