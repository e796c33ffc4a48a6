"""Persistent excitation as plain data; infinite condition numbers become None."""

from __future__ import annotations

from typing import Any

from ytheta.identification.persistent_excitation import PersistentExcitation
from ytheta.report.numbers import replace_nonfinite


def summarize_persistent_excitation(excitation: PersistentExcitation) -> dict[str, Any]:
    """Return the condition number of every joint, and the largest of them."""
    data: dict[str, Any] = replace_nonfinite(
        {
            "exciting": excitation.exciting,
            "condition_number": excitation.condition_number,
            "samples": excitation.samples,
            "joints": [
                {
                    "joint": joint.joint,
                    "parameters": list(joint.parameters),
                    "rank": joint.rank,
                    "condition_number": joint.condition_number,
                    "unscaled_condition_number": joint.unscaled_condition_number,
                }
                for joint in excitation.joints
            ],
        }
    )
    return data
