"""Control periods that are too long for an adaptation law."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ytheta as yt
from tests.support.simulate_cases import PUMA, swing
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.adaptation.projection import Projection
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError


def test_an_adaptation_law_for_shorter_periods_is_rejected() -> None:
    law = SlotineLi(
        PUMA, convergence=10.0, damping=8.0, adaptation=Projection(Gradient(2.0), 0.1, 1.0), learn=("load.m",)
    )
    with pytest.raises(InputError, match=r"periods up to 0.001 s, but the control period is 0.01 s; set step=0.01"):
        yt.simulate(PUMA, law, seconds=0.1, reference=swing(PUMA), rate=100.0)
    longer = replace(law, adaptation=Projection(Gradient(2.0), 0.1, 1.0, step=1e-2))
    assert yt.simulate(PUMA, longer, seconds=0.1, reference=swing(PUMA), rate=100.0).finished.all()
