"""Sums over groups of rows: their products with each other, and their linear combinations.

``make_consumer`` adds them up over all blocks of a kernel; ``update_root`` updates the root of a covariance.

A matrix of NumPy would need one call per group. The groups of a regressor, one per joint, have so few rows that such
calls take as long as the products, and threads wait for each other at every call. Here one call serves all groups, and
releases Python's global lock while it computes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.native import cache as disk
from ytheta.native.codegen.llvm import compile_module, create_target_machine, detect_host, format_options, load_llvm
from ytheta.native.compile import LLVM_LOCK, CodeMemory
from ytheta.native.fingerprint import fingerprint_sources
from ytheta.native.kernel import BlockConsumer
from ytheta.native.products.block_assembly import CONTEXT, compute_scratch_stride, emit_add_block
from ytheta.native.products.root_assembly import emit_root_update
from ytheta.native.products.row_assembly import emit_add_combinations, emit_add_products
from ytheta.shapes import Float, Int, PerUnknown

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


# Sums of products over all blocks of a kernel, in one call without Python's global lock.
#
# With one call per block, threads exchange the lock so often that two of them are hardly faster than one.


@dataclass(frozen=True, eq=False)
class ReplacedRows:
    """Rows of a block that a kernel does not compute: row ``rows[k]`` is ``factors[k]`` times signal ``owners[k]``."""

    signals: Float[np.ndarray, "samples signals"]
    rows: Int[np.ndarray, " replaced"]
    owners: Int[np.ndarray, " replaced"]
    factors: Float[np.ndarray, " replaced"]


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
    code, scratch = load_products_code(), np.empty((len(groups.slices) + 1, SCRATCH_STRIDE))
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


# The update of a root of a covariance by scalar equations, one after the other; see ``root_assembly``.


def update_root(root: np.ndarray, equations: np.ndarray, noise: np.ndarray, residual: np.ndarray) -> PerUnknown:
    """Update ``root`` in place, and return the change of the estimate.

    The equations are ``residual`` = ``equations`` x + noise, where x has the covariance ``root`` ``root``ᵀ, and
    ``noise`` contains variances.
    """
    n, m = len(root), len(residual)
    if root.shape != (n, n) or equations.shape != (m, n) or noise.shape != (m,) or residual.shape != (m,):
        raise InputError(
            f"a root of shape {root.shape} cannot be updated by equations of shape {equations.shape} with "
            f"{len(noise)} variances and {m} residuals"
        )
    flags = root.flags
    if root.dtype != np.float64 or not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise InputError("the root must be a writable array of doubles in C order, because it is updated in place")
    # All other arrays are parts of one: NumPy takes longer to tell an address than the code to use the array.
    ends = (m * n, m * n + m, m * n + 2 * m, m * n + 2 * m + n)
    work = np.zeros(ends[-1] + n)
    work[: ends[0]].reshape(m, n)[:] = equations
    work[ends[0] : ends[1]] = noise
    work[ends[1] : ends[2]] = residual
    start = work.ctypes.data
    first, second, third, fourth = (start + 8 * end for end in ends)
    load_products_code().update_root(root.ctypes.data, n, start, first, second, m, third, fourth)
    return work[ends[2] : ends[3]]


# The machine code of all sums over rows: compiled once for this processor, or found in the cache on disk.


_POINTER, _INTEGER = ctypes.c_void_p, ctypes.c_int64
_MATRIX = (_POINTER, _INTEGER)  # address and stride in doubles


@dataclass(frozen=True, eq=False)
class ProductsCode:
    """The functions of the module; ``tile`` is the number of rows of a tile. They release Python's global lock.

    ``add_block`` is an address, since kernels call this function.
    """

    tile: int
    add_products: Callable[..., None]
    add_combinations: Callable[..., None]
    update_root: Callable[..., None]
    add_block: int
    memory: CodeMemory


def load_products_code() -> ProductsCode:
    """Return the machine code for this processor."""
    return _load_code(detect_host().lanes)


@cache
def _load_code(lanes: int) -> ProductsCode:
    with LLVM_LOCK:
        return load_code(_find_object(lanes), lanes)


def load_code(code: bytes, lanes: int) -> ProductsCode:
    """Return the functions of object code that was compiled for this number of lanes."""
    llvm = load_llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), create_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    products = ctypes.CFUNCTYPE(None, *_MATRIX, *_MATRIX, _INTEGER, _POINTER, _INTEGER, _INTEGER, _POINTER)
    combinations = ctypes.CFUNCTYPE(None, *_MATRIX, _POINTER, _INTEGER, _POINTER, _INTEGER, *_MATRIX)
    root = ctypes.CFUNCTYPE(None, _POINTER, _INTEGER, *(_POINTER,) * 3, _INTEGER, _POINTER, _POINTER)
    return ProductsCode(
        choose_tile(lanes),
        products(engine.get_function_address("add_products")),
        combinations(engine.get_function_address("add_combinations")),
        root(engine.get_function_address("update_root")),
        engine.get_function_address("add_block"),
        CodeMemory(engine),
    )


def _find_object(lanes: int) -> bytes:
    sources = fingerprint_sources("native")  # as for kernels
    key = disk.make_key("products", str(lanes), detect_host().fingerprint, sources or "")
    code = disk.read(key) if sources else None
    if code is None:
        code = compile_module(emit_products_module(lanes, format_options(lanes)))
        if sources and fingerprint_sources("native") == sources:
            disk.write(key, code)
    return code


# The module in LLVM assembly of all sums over rows: products, combinations, blocks and square-root updates.


_LANES_WITH_32_REGISTERS = 8  # processors with vectors of 8 doubles have 32 registers for them, others may have 16
# Samples of which all products are computed before the next: the rows of two tiles stay in the level-1 cache.
SAMPLES_IN_CACHE = 320
SCRATCH_STRIDE = compute_scratch_stride(SAMPLES_IN_CACHE)


def choose_tile(lanes: int) -> int:
    """Return the number T of rows of a tile, such that the sums of two tiles fit into registers."""
    return 4 if lanes >= _LANES_WITH_32_REGISTERS else 3


def emit_products_module(lanes: int, options: str) -> str:
    """Return the module with ``@add_products``, ``@add_combinations``, ``@add_block`` and ``@update_root``."""
    v, tile = f"<{lanes} x double>", choose_tile(lanes)
    return "\n".join(
        [
            f"declare {v} @llvm.fmuladd.v{lanes}f64({v}, {v}, {v})",
            "declare double @llvm.fmuladd.f64(double, double, double)",
            *emit_add_products(lanes, tile, SAMPLES_IN_CACHE),
            *emit_add_combinations(lanes),
            *emit_add_block(lanes, SAMPLES_IN_CACHE),
            *emit_root_update(lanes),
            f"attributes #0 = {{ noinline nounwind {options} }}",
        ]
    )
