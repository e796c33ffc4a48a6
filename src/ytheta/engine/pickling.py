"""Pickling of objects that cache derived values, such as kernels."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class PickledByFields:
    """A frozen dataclass that pickles its fields only; cached values are computed again in the receiving process."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
