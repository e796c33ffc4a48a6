"""Fixtures of the tests of the MJCF reader."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes its warnings into a file in the working directory."""
    monkeypatch.chdir(tmp_path)
