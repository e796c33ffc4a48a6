"""The forms by name: three ways to write the same equations, for motion that is known more or less well.

differential   all of every sample is used, accelerations too; for logs whose low-pass has taken the noise out of them
integral       no accelerations; two velocities per window
momentum       no accelerations; velocities are averaged as torques are, so it bears the most noise
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.integral import Integral
from ytheta.identification.equations.momentum import Momentum
from ytheta.shapes import Float

OPTIONS = {"differential": "min_speed", "integral": "window", "momentum": "corner"}  # what each of them lets one set
FORMS = tuple(OPTIONS)


def form(
    name: str,
    base: BaseParameters,
    *,
    min_speed: Float[np.ndarray, "joints"] | None = None,
    window: float | None = None,
    corner: float | None = None,
) -> Differential | Integral | Momentum:
    """The form named; ``min_speed`` is for the differential, ``window`` the integral, ``corner`` the momentum form."""
    if name not in OPTIONS:
        raise UnknownNameError(f"there is no form {name!r}{suggest_names(name, FORMS)}")
    for option, value in (("min_speed", min_speed), ("window", window), ("corner", corner)):
        if value is not None and OPTIONS[name] != option:
            owner = next(other for other in FORMS if OPTIONS[other] == option)
            raise InputError(f"the {name} form has no {option!r}; leave it out, or take the {owner} form")
    if name == "differential":
        return Differential(base, min_speed)
    return Integral(base, window) if name == "integral" else Momentum(base, corner)
