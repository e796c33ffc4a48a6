"""The machine code of all sums over rows: compiled once for this processor, or found in the cache on disk."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ytheta.files.fingerprint import fingerprint_sources
from ytheta.native import cache as disk
from ytheta.native.codegen.llvm import compile_module, create_target_machine, detect_host, format_options, load_llvm
from ytheta.native.compile import LLVM_LOCK, CodeMemory
from ytheta.native.products.block_assembly import emit_add_block
from ytheta.native.products.root_assembly import emit_root_update
from ytheta.native.products.row_assembly import emit_add_combinations, emit_add_products

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
