"""Sums over the blocks of a kernel, compared with NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.kernel_graphs import linear_graph
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.native.codegen.llvm import compile_module, detect_host, format_options
from ytheta.native.products import row_sums
from ytheta.native.products.row_sums import (
    ReplacedRows,
    RowGroups,
    RowProducts,
    emit_products_module,
    load_code,
    make_consumer,
)

ROWS = 130
SLICES = (slice(2, 2), slice(2, 15), slice(15, 16), slice(20, 120))  # the other rows belong to no group
ROW_COUNT = SLICES[-1].stop
SAMPLES = (0, 1, 7, 319, 321, 384, 385, 1000)  # a block has 384 samples, of which 320 and then 64 are added


def draw(samples: int) -> tuple[np.ndarray, np.ndarray, ReplacedRows, np.ndarray, np.ndarray]:
    """Return inputs, right sides, replaced rows, coefficients and a mask; arrays are parts of others, in any order."""
    rng = np.random.default_rng(samples)
    right = rng.normal(size=(2 * samples, len(SLICES)))[::2]
    signals = rng.normal(size=(3, samples)).T
    replaced = ReplacedRows(
        signals, np.array([3, 15, 119, 20]), np.array([2, 0, 0, 1]), np.array([0.5, -1.0, 2.0, 3.0])
    )
    mask = rng.integers(0, 2, (len(SLICES), samples)).T.astype(float)
    return rng.normal(size=(samples, 2)), right, replaced, rng.normal(size=ROW_COUNT), mask


def compute_with_numpy(
    x: np.ndarray,
    right: np.ndarray,
    coefficients: np.ndarray | None,
    mask: np.ndarray | None,
    replaced: ReplacedRows | None,
) -> list[np.ndarray]:
    values = (x[:, :1] + np.arange(ROWS) * x[:, 1:]).T
    if replaced is not None:
        values[replaced.rows] = replaced.factors[:, None] * replaced.signals.T[replaced.owners]
    products = []
    for group, part in enumerate(SLICES):
        added = 0.0 if coefficients is None else coefficients[part] @ values[part]
        A = np.concatenate([values[part], [right[:, group] + added]]) * (1.0 if mask is None else mask[:, group])
        products.append(A @ A.T)
    return products


def are_close(matrices: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    return all(
        np.allclose(a, b, rtol=1e-12, atol=1e-12 * abs(b).max(initial=0.0))
        for a, b in zip(matrices, expected, strict=True)
    )


# All options together and none of them with every number of samples; every combination with the largest number.
CASES = [(samples, options) for samples in SAMPLES[:-1] for options in (0, 7)] + [(SAMPLES[-1], k) for k in range(8)]


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
@pytest.mark.parametrize(("samples", "options"), CASES)
def test_sums_equal_those_of_numpy(backend: str, samples: int, options: int) -> None:
    kernel = compile_graph(linear_graph(ROWS), backend=backend)
    x, right, replaced, coefficients, mask = draw(samples)
    added = coefficients if options & 1 else None
    factors, rows = mask if options & 2 else None, replaced if options & 4 else None
    products, only_right = (RowProducts(RowGroups(SLICES), only_right=value) for value in (False, True))
    for sums in (products, only_right):
        kernel.feed(make_consumer(sums, right, coefficients=added, mask=factors, replaced=rows), x)
    matrices = products.collect()
    assert are_close(matrices, compute_with_numpy(x, right, added, factors, rows))
    for short, whole in zip(only_right.collect(), matrices, strict=True):
        np.testing.assert_array_equal(short[-1], whole[-1])
    if samples > 300:  # the comparison notices a wrong signal, factor, coefficient, mask or right side
        wrong = replace(replaced, owners=np.array([2, 0, 1, 1]))
        assert not are_close(matrices, compute_with_numpy(x, right, added, factors, wrong))
        assert not are_close(matrices, compute_with_numpy(x, 1.001 * right, added, factors, rows))
        assert not are_close(matrices, compute_with_numpy(x, right, 1.001 * coefficients, factors, rows))
        assert not are_close(matrices, compute_with_numpy(x, right, added, np.roll(mask, 1, axis=0), rows))


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_sums_with_every_vector_length(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if lanes > detect_host().lanes:
        pytest.skip(f"this processor has no vectors of {lanes} doubles")
    code = load_code(compile_module(emit_products_module(lanes, format_options(lanes))), lanes)
    monkeypatch.setattr(row_sums, "load_products_code", lambda: code)
    kernel = compile_graph(linear_graph(ROWS))
    for samples in (1, 5, 387):
        x, right, replaced, coefficients, mask = draw(samples)
        products = RowProducts(RowGroups(SLICES))
        kernel.feed(make_consumer(products, right, coefficients=coefficients, mask=mask, replaced=replaced), x)
        assert are_close(products.collect(), compute_with_numpy(x, right, coefficients, mask, replaced))
        assert not are_close(products.collect(), compute_with_numpy(x, right, coefficients, None, replaced))


def test_sums_are_added_to_those_before() -> None:
    kernel, (x, right, *_) = compile_graph(linear_graph(ROWS)), draw(100)
    once, twice = (RowProducts(RowGroups(SLICES)) for _ in range(2))
    kernel.feed(make_consumer(once, right), x)
    for _ in range(2):
        kernel.feed(make_consumer(twice, right), x)
    for a, b in zip(once.collect(), twice.collect(), strict=True):
        np.testing.assert_array_equal(2.0 * a, b)


def test_wrong_shapes_are_refused() -> None:
    _, right, replaced, coefficients, mask = draw(50)
    products = RowProducts(RowGroups(SLICES))
    with pytest.raises(InputError, match="need the shape"):
        make_consumer(products, right[:, :3])
    with pytest.raises(InputError, match="need the shape"):
        make_consumer(products, right, mask=mask[:-1])
    with pytest.raises(InputError, match="119 coefficients for 120 rows"):
        make_consumer(products, right, coefficients=coefficients[:-1])
    for wrong in (
        replace(replaced, signals=replaced.signals[:-1]),
        replace(replaced, rows=np.array([3, 15, ROW_COUNT, 20])),
        replace(replaced, owners=np.array([2, 0, 3, 1])),
        replace(replaced, owners=np.array([2, 0, -1, 1])),
    ):
        with pytest.raises(InputError, match="replaced"):
            make_consumer(products, right, replaced=wrong)
