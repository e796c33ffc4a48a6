"""A cluster of two processes, and a closed loop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.engine_loops import noisy_puma_loop
from ytheta.engine.engine import Engine
from ytheta.engine.registry import open_engine
from ytheta.simulation.closed_loop import ClosedLoop


@pytest.fixture(scope="package")
def cluster() -> Iterator[Engine]:
    """Two processes of this machine."""
    pytest.importorskip("distributed", reason="distributed is not installed: pip install 'ytheta[dask]'")
    with open_engine("dask", threads=2) as engine:
        yield engine


@pytest.fixture(scope="module")
def loop() -> ClosedLoop:
    return noisy_puma_loop()
