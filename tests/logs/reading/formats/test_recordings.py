"""Numbered groups of an HDF5 file become segments; groups that differ are refused as before."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.support.log_files import ARM, ARM_LOG, assert_file_refused
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.read import read_log

PARTS = [slice(0, 40), slice(40, 90), slice(90, 150)]
NUMBERS = [2, 9, 10]  # in the order of numbers, not of texts


def write_demos(path: Path, *, has_time: bool, lacking: str = "") -> Path:
    """A file of robomimic's form: data/demo_N/obs."""
    assert ARM_LOG.tau is not None
    with h5py.File(path, "w") as file:
        for number, part in zip(NUMBERS, PARTS, strict=True):
            group = file.create_group(f"data/demo_{number}/obs")
            group["robot0_joint_pos"], group["robot0_joint_torques"] = ARM_LOG.q[part], ARM_LOG.tau[part]
            if has_time:
                group["time"] = ARM_LOG.t[part] - ARM_LOG.t[part][0]
        if lacking:
            del file[f"data/demo_9/obs/{lacking}"]
    return path


@pytest.mark.parametrize("has_time", [True, False])
def test_demos_are_segments_in_the_order_of_their_numbers(has_time: bool, tmp_path: Path) -> None:
    log = read_log(write_demos(tmp_path / "demos.hdf5", has_time=has_time), ARM, rate=None if has_time else 100.0)
    np.testing.assert_array_equal(log.q, ARM_LOG.q)
    np.testing.assert_array_equal(log.tau, ARM_LOG.tau)
    assert log.segments == ((0, 40), (40, 90), (90, 150))
    (finding,) = [each for each in log.findings if each.code == LogFindingCode.EPISODES]
    assert finding.fields["episodes"] == 3
    steps = np.concatenate([np.diff(log.t[part]) for part in PARTS])
    np.testing.assert_allclose(steps, 0.01, atol=1e-9)
    assert (np.diff(log.t) > 0.0).all()


def test_one_demo_is_chosen_by_its_group(tmp_path: Path) -> None:
    log = read_log(write_demos(tmp_path / "demos.hdf5", has_time=True), ARM, topic="data/demo_9/obs")
    np.testing.assert_array_equal(log.q, ARM_LOG.q[PARTS[1]])


def test_twin_demos_with_different_arrays_are_not_joined(tmp_path: Path) -> None:
    path = write_demos(tmp_path / "demos.hdf5", has_time=True, lacking="robot0_joint_torques")
    assert_file_refused(path, "--topic")
