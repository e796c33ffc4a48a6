"""Logs and descriptions of a two-link arm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.arm_logs import true_arm, write_log


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two logs of the arm, one with a joint that stands still, and descriptions of it."""
    folder = tmp_path_factory.mktemp("arm")
    arm = true_arm(folder)
    write_log(folder / "a.npz", arm)
    write_log(folder / "b.csv", arm, seed=2)
    write_log(folder / "still.npz", arm, still=True)
    return folder
