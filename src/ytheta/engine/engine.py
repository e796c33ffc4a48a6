"""The interface of an engine, which applies the same function to many items, one after the other or in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")
Result = TypeVar("Result")
ITEMS_PER_WORKER = 2  # items that are in progress, or finished but not yet merged; the limit bounds memory


@runtime_checkable
class Engine(Protocol):
    """Applies a function, the work, to many items. ``registry.open_engine`` opens an engine by its name."""

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Iterate over ``work(item)`` in the order of the items, independently of which finishes first.

        At most a few items are read ahead of the requested results. Work and items may be sent to other processes. So
        it must be possible to pickle both, and changes that the work makes to itself stay in the other process. An
        error of the work is raised here unchanged, and no further items are started.
        """


# Pickling of objects that cache derived values, such as kernels.


class PickledByFields:
    """A frozen dataclass that pickles its fields only; cached values are computed again in the receiving process."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
