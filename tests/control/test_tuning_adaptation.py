"""Suggested adaptation gains: natural and composite adaptation, and parameters without excitation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.suggested_gains import (
    MODEL_SCALE,
    RATE,
    base_of,
    late_rms_error,
    load_robot,
    reference_of,
    sample,
    scale_inertias,
    simulate,
    track_with_wrong_model,
)
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.tuning import suggest_gains
from ytheta.errors import InputError


@pytest.mark.parametrize(("robot", "adaptation"), [("lu-two-link", "composite"), ("ha-scara", "natural")])
def test_natural_and_composite_adaptation_track_with_a_wrong_model(robot: str, adaptation: str) -> None:
    plant, reference = load_robot(robot), reference_of(robot)
    model, base = scale_inertias(plant, MODEL_SCALE), None if adaptation == "natural" else base_of(robot)
    task: dict[str, Any] = {"motion": sample(reference), "rate": RATE}
    law = SlotineLi(model, base, **suggest_gains("slotine-li", model, base, adaptation=adaptation, **task))
    assert type(law.adaptation_law).__name__.lower() == adaptation
    error = late_rms_error(simulate(law, plant, reference), reference)
    assert error < 0.5 * track_with_wrong_model(robot, "computed-torque")[0]
    with pytest.raises(InputError, match="there is no adaptation 'nature'; did you mean 'natural'"):
        suggest_gains("slotine-li", model, base, adaptation="nature", **task)


def test_parameters_without_excitation_get_finite_gains() -> None:
    """All standard parameters, most of which have no effect, and a joint that does not move."""
    robot = load_robot("lu-puma4")
    moving = np.array([1.0, 1.0, 1.0, 0.0])
    q, qd, qdd = (values * moving for values in sample(reference_of("lu-puma4")))
    gamma = suggest_gains("slotine-li", robot, motion=(q, qd, qdd), rate=RATE)["adaptation"]
    assert gamma.shape == (len([n for n in robot.parameter_names if not n.startswith("joint")]),)
    assert np.isfinite(gamma).all()
    assert (gamma > 0.0).all()
