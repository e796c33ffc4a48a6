"""A model file as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.identification.model_file import Model


def summarize_model(model: Model) -> dict[str, Any]:
    """Return the name of the robot and the table of its identification; infinite numbers become None."""
    data: dict[str, Any] = replace_nonfinite({"robot": model.robot.name, **model.table})
    return data
