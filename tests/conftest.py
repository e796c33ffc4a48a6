"""Shapes and types of every call into ytheta are checked while the tests run."""

from __future__ import annotations

import faulthandler
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.support import typecheck
from tests.support.paths import SHARED_DATA

typecheck.install()
if "PYTEST_XDIST_WORKER" in os.environ:  # else every worker would compile all tests and checked modules in every run
    sys.dont_write_bytecode = False

# As many workers as cores, so one thread of linear algebra each: with two, a QR waits for the other worker: on two busy
# cores it took 4 to 100 times as long. Workers inherit this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from ytheta.native.cache import find_cache_folder  # noqa: E402  # after the lines above, which it needs

# Workers and commands share one cache. Object code stays from run to run, since its key is the graph itself. Graphs and
# bases are made again in every run, so that every run checks how they are made.
os.environ.setdefault("YTHETA_CACHE", str(find_cache_folder().parent / "tests"))
if "PYTEST_XDIST_WORKER" not in os.environ:
    for path in find_cache_folder().glob("*"):
        if path.suffix in (".graph", ".basis"):
            path.unlink(missing_ok=True)

# The same examples every run, and none refused for being slow to draw on a busy machine.
settings.register_profile(
    "ytheta", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ytheta")


MAX_EXIT_TIME = 60.0  # s, of a process that has run its tests


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    typecheck.begin_test()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Limit the time until the process has ended, which may wait for threads; then show the stacks of all of them."""
    faulthandler.dump_traceback_later(MAX_EXIT_TIME, exit=True, file=sys.__stderr__ or sys.stderr)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recorded logs and reference tables that lies beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the shared data folder is not beside the checkout (looked for ../{SHARED_DATA.parent.name}/data)")
    return SHARED_DATA


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that differ in every run, for tests that must hold for all of them; a failure shows the seed."""
    seed = int.from_bytes(os.urandom(4), "little")
    sys.stdout.write(f"seed {seed}\n")  # pytest shows it if the test fails
    return np.random.default_rng(seed)
