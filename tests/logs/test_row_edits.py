"""Row edits: dropped rows and splits within segments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta
from tests.support.log_files import make_log
from ytheta.logs.log import RowEdits, apply_edits, to_row_indices

CLEAN = make_log(ytheta.load("ur10"))


def test_edits_keep_segments_apart() -> None:
    log = replace(CLEAN.select_rows(0, 100), segments=((0, 40), (50, 100)))
    edited = apply_edits(log, RowEdits(drop=to_row_indices([0, 39, 50, 60]), split=to_row_indices([20, 60])))
    assert len(edited) == 86
    assert edited.segments == ((0, 19), (19, 38), (38, 47), (47, 86))
    np.testing.assert_array_equal(edited.t[[0, 38, 47]], CLEAN.t[[1, 51, 61]])
