"""Sums over groups of rows: their products with each other, and their linear combinations.

A matrix of NumPy would need one call per group. The groups of a regressor, one per joint, have so few rows that such
calls take as long as the products, and threads wait for each other at every call. Here one call serves all groups, and
releases Python's global lock while it computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.native.products.code import load_products_code
from ytheta.shapes import Float, Int

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Groups of successive rows of a matrix; ``slices`` are the rows of every group."""

    slices: tuple[slice, ...]

    @cached_property
    def table(self) -> Int[np.ndarray, "groups 2"]:
        """The first row and the number of rows of every group."""
        pairs = [(part.start, part.stop - part.start) for part in self.slices]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def table_address(self) -> int:
        """The address of the table."""
        return int(self.table.ctypes.data)

    @cached_property
    def row_count(self) -> int:
        """The number of rows that a matrix must have."""
        return max((part.stop for part in self.slices), default=0)

    def combine(self, coefficients: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
        """Add the rows of every group, times their coefficients, to the row of ``out`` of this group."""
        values, coefficients = align_rows(values), np.ascontiguousarray(coefficients, dtype=float)
        if align_rows(out) is not out or not out.flags.writeable:
            raise InputError("out must be a writable array of doubles whose rows are contiguous")
        self.check(values, out)
        if len(coefficients) < self.row_count:
            raise InputError(f"there are {len(coefficients)} coefficients for {self.row_count} rows")
        if values.shape[1]:
            load_products_code().add_combinations(
                values.ctypes.data,
                values.strides[0] // 8,
                coefficients.ctypes.data,
                values.shape[1],
                self.table_address,
                len(self.slices),
                out.ctypes.data,
                out.strides[0] // 8,
            )

    def check(self, values: np.ndarray, right: np.ndarray) -> None:
        """Raise an InputError unless the matrix has all rows of the groups, and ``right`` one row per group."""
        if len(values) < self.row_count or right.shape != (len(self.slices), values.shape[1]):
            raise InputError(
                f"the groups have {self.row_count} rows and {len(self.slices)} right sides of equal length, but the "
                f"arrays have shapes {values.shape} and {right.shape}"
            )


class RowProducts:
    """Running sums of the products of all rows of a group and its right side with each other.

    ``only_right``: whether only the products with the right side are needed. ``address``: that of the sums.
    """

    def __init__(self, groups: RowGroups, *, only_right: bool = False) -> None:
        self.groups, self.only_right = groups, only_right
        self._code = load_products_code()
        tile = self._code.tile
        self._lengths = [-(-(part.stop - part.start + 1) // tile) * tile for part in groups.slices]
        self._sums = np.zeros(sum(length * length for length in self._lengths))
        self.address: int = self._sums.ctypes.data

    def add(self, values: np.ndarray, right: np.ndarray) -> None:
        """Add the products of all samples; row k of ``right`` is the right side of group k."""
        values, right = align_rows(values), align_rows(right)
        self.groups.check(values, right)
        if values.shape[1]:
            self._code.add_products(
                values.ctypes.data,
                values.strides[0] // 8,
                right.ctypes.data,
                right.strides[0] // 8,
                values.shape[1],
                self.groups.table_address,
                len(self._lengths),
                self.only_right,
                self.address,
            )

    def merge(self, other: RowProducts) -> None:
        """Add the sums of the same groups over other samples."""
        self._sums += other._sums

    def collect(self) -> list[Float[np.ndarray, "all all"]]:
        """Return the sums of every group as a symmetric matrix; its last row belongs to the right side."""
        matrices, first = [], 0
        for part, length in zip(self.groups.slices, self._lengths, strict=True):
            count = part.stop - part.start + 1
            below = np.tril(self._sums[first : first + length * length].reshape(length, length)[:count, :count])
            matrices.append(below + np.tril(below, -1).T)
            first += length * length
        return matrices


def align_rows(array: np.ndarray) -> np.ndarray:
    """Return the array itself if it consists of rows of adjacent doubles, or a copy that does."""
    if array.dtype == _DOUBLE and array.strides[1] == 8 and not array.strides[0] % 8 and array.flags.aligned:
        return array
    return np.ascontiguousarray(array, dtype=float)
