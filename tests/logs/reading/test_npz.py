"""NumPy archives: arrays per quantity and per column; pickles and damaged files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_file_refused, assert_same_log
from ytheta.logs.reading.read import read_log


def test_archives_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    assert ARM_LOG.qd is not None
    assert ARM_LOG.tau is not None
    np.savez(path, t=ARM_LOG.t, q=ARM_LOG.q, qd=ARM_LOG.qd, tau=ARM_LOG.tau, remark=np.array("made"))
    assert_same_log(read_log(path, ARM), ARM_LOG)
    np.savez_compressed(path, allow_pickle=False, **ARM_COLUMNS)
    assert_same_log(read_log(path, ARM), ARM_LOG)
    np.savez(path, t=ARM_LOG.t, q=ARM_LOG.q[:-1])
    assert_file_refused(path, "different numbers of rows", "t has 150")
    np.savez(path, allow_pickle=True, t=ARM_LOG.t, q=np.array([{}] * 150, dtype=object))
    assert_file_refused(path, "'q'", "Python objects", "run code")
    np.savez(path, t=ARM_LOG.t, q=ARM_LOG.q.astype(complex))
    assert_file_refused(path, "'q'", "complex128")
    path.write_bytes(path.read_bytes()[:-30])
    assert_file_refused(path, "NumPy archive")
    path.write_bytes(np.random.default_rng(0).bytes(2000))
    assert "pickle" not in assert_file_refused(path, "NumPy archive: it is not an .npz file", "numpy.savez")
