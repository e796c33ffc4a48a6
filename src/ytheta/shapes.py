"""Shapes of arrays in annotations, with one vocabulary of axes: samples joints params base links loops.

They are jaxtyping's where jaxtyping is loaded, as in the test run, which checks every call against them. Elsewhere
nobody evaluates them, and importing jaxtyping would cost every command a tenth of a second: there they stand for plain
arrays.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool as Bool
    from jaxtyping import Float as Float
    from jaxtyping import Int as Int
    from jaxtyping import Shaped as Shaped
else:

    class Shaped:
        """``Shaped[np.ndarray, "3 3"]`` is the array type itself."""

        def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
            return item[0]

    Bool = Float = Int = Shaped
