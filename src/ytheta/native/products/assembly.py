"""The module in LLVM assembly of all sums over rows: products, combinations, blocks and square-root updates."""

from __future__ import annotations

from ytheta.native.products.block_assembly import emit_add_block
from ytheta.native.products.combination_assembly import emit_add_combinations
from ytheta.native.products.product_assembly import emit_add_products
from ytheta.native.products.root_assembly import emit_root_update

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
