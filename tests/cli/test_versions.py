"""``ytheta --version``; tests/cli/test_start_up.py tests that it imports no library."""

from __future__ import annotations

import platform
from unittest import mock

import casadi
import mujoco
import numpy as np
import polars as pl

import ytheta as yt
from tests.support.command import ytheta
from ytheta.cli.app import LIBRARIES, OPTIONAL_LIBRARIES


def read_versions() -> dict[str, str]:
    result = ytheta("--version")
    assert (result.returncode, result.stderr) == (0, "")
    pairs = (line.partition(" ") for line in result.stdout.splitlines())
    return {name: version.strip() for name, _, version in pairs}


def test_the_versions_are_those_of_the_imported_libraries() -> None:
    versions = read_versions()
    assert next(iter(versions.items())) == ("ytheta", yt.__version__)
    assert versions["Python"].split()[0] == platform.python_version()
    for name, module in (("NumPy", np), ("Polars", pl), ("CasADi", casadi), ("MuJoCo", mujoco)):
        assert versions[name] == module.__version__
    assert set(versions) == {"ytheta", "Python", *LIBRARIES, *OPTIONAL_LIBRARIES}


def test_a_library_that_is_missing_is_named_with_the_way_to_install_it() -> None:
    missing = {**OPTIONAL_LIBRARIES, "MuJoCo": ("no-such-package", "mujoco")}
    with mock.patch("ytheta.cli.app.OPTIONAL_LIBRARIES", missing):
        assert read_versions()["MuJoCo"] == "not installed; pip install 'ytheta[mujoco]'"
