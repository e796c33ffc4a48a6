"""Counts of faster schemes."""

from __future__ import annotations

import numpy as np

from ytheta.papers.lu1993_simulations import Count, compute_mean_good


def test_a_scheme_is_faster_if_the_times_differ_by_more_than_the_tolerance() -> None:
    count = Count.of(np.array([0.1, 0.3, 0.2, np.inf, np.inf]), np.array([0.2, 0.1, 0.203, np.inf, 0.5]))
    assert (count.modified, count.craig, count.equal, count.neither) == (1, 2, 1, 1)


def test_a_value_is_good_if_it_settles_nearly_as_fast_as_the_best() -> None:
    """Two of the first case, one of the second; nothing settles in the third."""
    times = np.array([[0.2, 0.29, 0.31], [0.1, 0.2, np.inf], [np.inf, np.inf, np.inf]])
    assert compute_mean_good(times) == 1.5
