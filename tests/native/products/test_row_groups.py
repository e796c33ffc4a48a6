"""Sums over groups of rows, compared with NumPy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.native.products.row_sums import RowGroups, RowProducts

COUNTS = (0, 1, 3, 4, 5, 7, 8, 13)
SAMPLES = (0, 1, 7, 8, 9, 319, 320, 321, 1000)


def make_groups() -> RowGroups:
    ends = np.cumsum((2, *COUNTS)).tolist()  # the first two rows of the matrix belong to no group
    return RowGroups(tuple(slice(a, b) for a, b in pairwise(ends)))


def draw(samples: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and right sides that are parts of larger arrays, as those of a kernel are."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(2 + sum(COUNTS), samples + 9))[:, 3 : 3 + samples]
    return values, rng.normal(size=(len(COUNTS), samples + 5))[:, 2 : 2 + samples]


@pytest.mark.parametrize("samples", SAMPLES)
def test_products_equal_those_of_numpy(samples: int) -> None:
    groups, (values, right) = make_groups(), draw(samples)
    products, only_right = RowProducts(groups), RowProducts(groups, only_right=True)
    for part in (products, only_right):
        part.add(values, right)
    for group, (matrix, short) in enumerate(zip(products.collect(), only_right.collect(), strict=True)):
        A = np.concatenate([values[groups.slices[group]], right[group : group + 1]])
        np.testing.assert_allclose(matrix, A @ A.T, rtol=1e-12, atol=1e-12 * max(samples, 1))
        np.testing.assert_array_equal(matrix, matrix.T)
        np.testing.assert_array_equal(short[-1], matrix[-1])
        if samples > 1 and len(A) > 1:  # one wrong sample is noticed
            A[0, -1] += 1e-3
            assert abs(matrix - A @ A.T).max() > 1e-6


def test_parts_add_up_in_any_split() -> None:
    groups, (values, right) = make_groups(), draw(400)
    whole, parts, other = RowProducts(groups), RowProducts(groups), RowProducts(groups)
    whole.add(values, right)
    parts.add(values[:, :130], right[:, :130])
    other.add(values[:, 130:], right[:, 130:])
    parts.merge(other)
    for a, b in zip(whole.collect(), parts.collect(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("samples", SAMPLES)
def test_combinations_equal_those_of_numpy(samples: int) -> None:
    groups, (values, right) = make_groups(), draw(samples)
    coefficients = np.random.default_rng(1).normal(size=len(values))
    out = np.array(right)
    groups.combine(coefficients, values, out)
    expected = np.array([coefficients[part] @ values[part] for part in groups.slices]).reshape(right.shape)
    np.testing.assert_allclose(out, right + expected, rtol=1e-12, atol=1e-12)
    if samples:
        assert abs(out - right - 1.001 * expected).max() > 1e-6


def test_arrays_of_any_layout_are_accepted() -> None:
    groups, (values, right) = make_groups(), draw(50)
    plain, other = RowProducts(groups), RowProducts(groups)
    plain.add(values, right)
    other.add(np.asfortranarray(values), np.asfortranarray(right))
    for a, b in zip(plain.collect(), other.collect(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_threads_give_the_same_sums() -> None:
    groups = make_groups()
    pieces = [draw(300, seed=k) for k in range(8)]

    def work(piece: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
        products = RowProducts(groups)
        for _ in range(20):
            products.add(*piece)
        return products.collect()

    with ThreadPoolExecutor(4) as pool:
        for ours, theirs in zip(pool.map(work, pieces), map(work, pieces), strict=True):
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a, b)


def test_wrong_shapes_are_refused() -> None:
    groups, (values, right) = make_groups(), draw(20)
    products, coefficients = RowProducts(groups), np.ones(len(values))
    for bad_values, bad_right in ((values[:-1], right), (values, right[:-1]), (values, right[:, :-1])):
        with pytest.raises(InputError, match="the arrays have shapes"):
            products.add(bad_values, bad_right)
    with pytest.raises(InputError, match="40 coefficients for 43 rows"):
        groups.combine(coefficients[:40], values, np.zeros((len(COUNTS), 20)))
    with pytest.raises(InputError, match="writable array of doubles"):
        groups.combine(coefficients, values, np.zeros((len(COUNTS), 20), dtype=np.float32))
    frozen = np.zeros((len(COUNTS), 20))
    frozen.flags.writeable = False
    with pytest.raises(InputError, match="writable array of doubles"):
        groups.combine(coefficients, values, frozen)
