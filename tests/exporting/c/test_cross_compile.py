"""Exported C code on a microcontroller: compiled for Cortex-M4 and M7, run in QEMU."""

from __future__ import annotations

from pathlib import Path

import pytest

import ytheta as yt
from tests.support.cortex_m import run_on_cortex_m


@pytest.mark.parametrize("precision", ["float", "double"])
def test_the_self_test_passes_on_a_microcontroller(precision: str, tmp_path: Path) -> None:
    options = yt.COptions(name="arm", precision=precision, controllers=("computed-torque",))
    yt.export("lu-two-link", to="c", path=tmp_path / "arm", options=options)
    result = run_on_cortex_m(tmp_path / "arm", ["arm.c", "arm_selftest.c"], precision)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("passed\n")
    assert "computed_torque" in result.stdout
