"""Fixtures for tests of native code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kernel_cache import forget_graphs, forget_machines


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give every test its own cache on disk, and remove the graphs and machine code of other tests from memory."""
    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path / "kernels"))
    forget_graphs()
    forget_machines()
    yield tmp_path / "kernels"
    forget_graphs()
    forget_machines()
