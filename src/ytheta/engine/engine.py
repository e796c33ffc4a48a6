"""The interface of an engine, which applies the same function to many items, one after the other or in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")
Result = TypeVar("Result")
ITEMS_PER_WORKER = 2  # items in progress, or finished but not yet merged; this bounds memory for any number of items


@runtime_checkable
class Engine(Protocol):
    """Applies a function, the work, to many items. ``registry.open_engine`` opens an engine by its name."""

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Iterate over ``work(item)`` in the order of the items, independently of which finishes first.

        Only a few items are read before their results are requested. Work and items may be sent to other processes.
        So it must be possible to pickle both, and changes that the work makes to itself stay in that process. An error
        of the work is raised here unchanged, and no further items are started.
        """
