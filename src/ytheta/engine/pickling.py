"""What may be sent to other processes: what things are made from, never what was made of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class PickledByFields:
    """A frozen dataclass that pickles as its fields; what it cached, such as kernels, is made anew where it arrives."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
