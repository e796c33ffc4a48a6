"""Values that are found again: as long as somebody uses them, and the most recent ones longer."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class RecentValues(Generic[Value]):
    """Values by their keys. The ``kept`` values that were stored or found last stay, even if nobody else uses them.

    Several threads may use it at once without a lock: at worst, a value stays for a shorter time.
    """

    def __init__(self, kept: int) -> None:
        self._used: WeakValueDictionary[bytes, Value] = WeakValueDictionary()
        self._recent: OrderedDict[bytes, Value] = OrderedDict()
        self._kept = kept

    def find(self, key: bytes) -> Value | None:
        """Return the value stored under a key, or None."""
        value = self._used.get(key)
        if value is not None:
            self.store(key, value)
        return value

    def store(self, key: bytes, value: Value) -> None:
        """Store a value as the most recent one."""
        self._used[key] = value
        self._recent.pop(key, None)
        self._recent[key] = value
        if len(self._recent) > self._kept:
            self._recent.popitem(last=False)

    def clear(self) -> None:
        """Forget all values."""
        self._recent.clear()
        self._used.clear()
