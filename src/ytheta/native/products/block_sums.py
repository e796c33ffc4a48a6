"""Sums of products over all blocks of a kernel, in one call without Python's global lock.

With one call per block, threads exchange the lock so often that two of them are hardly faster than one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.native.block_consumer import BlockConsumer
from ytheta.native.products.assembly import SAMPLES_IN_CACHE
from ytheta.native.products.block_assembly import CONTEXT, compute_scratch_stride
from ytheta.native.products.code import load_products_code
from ytheta.native.products.row_groups import RowProducts
from ytheta.shapes import Float, Int

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class ReplacedRows:
    """Rows of a block that a kernel does not compute: row ``rows[k]`` is ``factors[k]`` times signal ``owners[k]``."""

    signals: Float[np.ndarray, "samples signals"]
    rows: Int[np.ndarray, "replaced"]
    owners: Int[np.ndarray, "replaced"]
    factors: Float[np.ndarray, "replaced"]


def make_consumer(
    products: RowProducts,
    right: np.ndarray,
    *,
    coefficients: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    replaced: ReplacedRows | None = None,
) -> BlockConsumer:
    """Return a consumer that adds the products of all rows of a kernel's blocks and of the right sides to ``products``.

    Right sides and mask have the shape (samples, groups). ``coefficients``: the rows, times these coefficients, are
    added to the right side of their group. ``mask``: factors of the rows and the right side of each group.

    Only one thread at a time may feed the consumer, like any other that adds to ``products``.
    """
    groups, samples = products.groups, len(right)
    _check(products, right, coefficients, mask, replaced)
    code, scratch = load_products_code(), np.empty((len(groups.slices) + 1, compute_scratch_stride(SAMPLES_IN_CACHE)))
    fields: dict[str, int] = dict.fromkeys(CONTEXT, 0)
    memory: list[object] = [products, code, scratch]

    def set_signals(name: str, signals: np.ndarray) -> None:
        signals = _align(signals)
        memory.append(signals)
        fields[name] = signals.ctypes.data
        for axis, stride in zip(("sample", "channel"), signals.strides, strict=True):
            fields[f"{name}_{axis}_step"] = stride // _DOUBLE.itemsize

    def set_array(name: str, array: np.ndarray, dtype: type) -> None:
        array = np.ascontiguousarray(array, dtype=dtype)
        memory.append(array)
        fields[name] = array.ctypes.data

    fields |= {"groups": groups.table_address, "group_count": len(groups.slices), "scratch": scratch.ctypes.data}
    fields |= {"only_right": int(products.only_right), "sums": products.address}
    set_signals("right", right)
    if coefficients is not None:
        set_array("coefficients", coefficients, np.float64)
    if mask is not None:
        set_signals("mask", mask)
    if replaced is not None:
        set_signals("signals", replaced.signals)
        set_array("replaced", np.stack([replaced.rows, replaced.owners], axis=1), np.int64)
        set_array("factors", replaced.factors, np.float64)
        fields["replaced_count"] = len(replaced.rows)
    context = np.array([fields[name] for name in CONTEXT], dtype=np.int64)
    memory.append(context)
    return BlockConsumer(code.add_block, context.ctypes.data, groups.row_count, samples, tuple(memory))


def _check(
    products: RowProducts,
    right: np.ndarray,
    coefficients: np.ndarray | None,
    mask: np.ndarray | None,
    replaced: ReplacedRows | None,
) -> None:
    """Raise an InputError if an array is too short for the groups, the samples or the replaced rows."""
    groups, shape = products.groups, (len(right), len(products.groups.slices))
    if right.shape != shape or (mask is not None and mask.shape != shape):
        shapes = f"{right.shape}" if mask is None else f"{right.shape} and {mask.shape}"
        raise InputError(f"right sides and mask need the shape {shape} (samples, groups), but have {shapes}")
    if coefficients is not None and coefficients.shape != (groups.row_count,):
        raise InputError(f"there are {len(coefficients)} coefficients for {groups.row_count} rows")
    if replaced is None or not len(replaced.rows):
        return
    signals, rows, owners = replaced.signals, replaced.rows, replaced.owners
    if len(signals) != len(right) or not len(rows) == len(owners) == len(replaced.factors):
        raise InputError(
            f"{len(rows)} rows are replaced by {len(owners)} signals with {len(replaced.factors)} factors, and there "
            f"are {len(signals)} samples of signals and {len(right)} of right sides; the numbers must agree"
        )
    if min(rows) < 0 or max(rows) >= groups.row_count or min(owners) < 0 or max(owners) >= signals.shape[1]:
        raise InputError(
            f"rows {rows.tolist()} cannot be replaced by signals {owners.tolist()}: there are {groups.row_count} rows "
            f"and {signals.shape[1]} signals"
        )


def _align(signals: np.ndarray) -> np.ndarray:
    """Return the array itself if it consists of aligned doubles, in any order, or a copy that does."""
    if signals.dtype == _DOUBLE and signals.flags.aligned:
        return signals
    return np.ascontiguousarray(signals, dtype=float)
