"""The table of the models of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.models import find_models, measure, measure_in_process, print_table

from tests.support.mjcf_models import GEOM, world_text
from tests.support.urdf_arm import ARM


def write_models(folder: Path) -> None:
    (folder / "arm").mkdir()
    (folder / "arm" / "arm.urdf").write_text(ARM)
    (folder / "arm" / "package.xml").write_text("<package/>")
    (folder / "swing.xml").write_text(world_text(f"<body><joint/>{GEOM}</body>"))
    (folder / "camera.xml").write_text(world_text(f"<body>{GEOM}</body>"))
    (folder / "assets.xml").write_text("<mujoco><asset/></mujoco>")
    (folder / "broken.xml").write_text(world_text("<body><joint type='screw'/></body>"))


def test_rows_and_totals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_models(tmp_path)
    models = list(find_models(tmp_path))
    assert [path.name for path in models] == ["arm.urdf", "broken.xml", "camera.xml", "swing.xml"]
    rows = [measure(path, count=True, fix_base=False) for path in models]
    assert [row.loads for row in rows] == [True, False, True, True]
    assert rows[1].reason.startswith("broken.xml, line 1, <joint>: type='screw' is unknown")
    assert [row.base_count for row in rows[2:]] == [0, 1]
    print_table(rows, tmp_path)
    assert capsys.readouterr().out.splitlines()[-1] == "4 models: 3 load, 3 load and count"


def test_each_model_has_a_process(tmp_path: Path) -> None:
    write_models(tmp_path)
    row = measure_in_process(tmp_path / "swing.xml", count=False, fix_base=True)
    assert (row.loads, row.joints, row.base_count, row.reason) == (True, 1, None, "")
