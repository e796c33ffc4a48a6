"""Equation forms by name, with their settings."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.form_cases import planar_arm
from ytheta.errors import InputError, UnknownNameError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.form import create_form
from ytheta.identification.equations.integral import Integral
from ytheta.identification.equations.momentum import Momentum


def test_forms_are_created_by_name_with_their_settings() -> None:
    base, _ = planar_arm()
    integral, momentum = create_form("integral", base, window=0.25), create_form("momentum", base, corner=3.0)
    assert isinstance(integral, Integral)
    assert integral.window == 0.25
    assert isinstance(momentum, Momentum)
    assert momentum.corner == 3.0
    differential = create_form("differential", base, min_speed=np.array([0.1, 0.2]))
    assert isinstance(differential, Differential)
    with pytest.raises(UnknownNameError, match="there is no form 'integrated'; did you mean 'integral'"):
        create_form("integrated", base)
    with pytest.raises(InputError, match="the integral form has no 'corner'; leave it out, or use the momentum form"):
        create_form("integral", base, corner=2.0)
