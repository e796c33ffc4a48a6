"""The same code for vectors of other lengths, as on other processors."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.native.codegen.llvm import compile_module, detect_host, format_options
from ytheta.native.products.row_sums import choose_tile, emit_products_module, load_code


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("samples", [1, 6, 16, 37])
def test_products_of_every_vector_length(lanes: int, samples: int) -> None:
    if lanes > detect_host().lanes:
        pytest.skip(f"this processor has no vectors of {lanes} doubles")
    code = load_code(compile_module(emit_products_module(lanes, format_options(lanes))), lanes)
    rng, tile = np.random.default_rng(0), choose_tile(lanes)
    values, right, groups = rng.normal(size=(10, samples)), rng.normal(size=(1, samples)), np.array([[2, 7]])
    length = -(-8 // tile) * tile
    out = np.zeros((length, length))
    arrays = (values.ctypes.data, samples, right.ctypes.data, samples, samples, groups.ctypes.data, 1, 0)
    code.add_products(*arrays, out.ctypes.data)
    A = np.concatenate([values[2:9], right])
    np.testing.assert_allclose(np.tril(out[:8, :8]), np.tril(A @ A.T), rtol=1e-12, atol=1e-13)
    assert abs(np.tril(out[:8, :8] - 1.001 * A @ A.T)).max() > 1e-4
