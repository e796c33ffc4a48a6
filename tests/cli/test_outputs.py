"""Output files: checked before the work, and never half written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

import ytheta as yt
from tests.support.arm_logs import write_log
from tests.support.command import process, refused, ytheta


def test_report_without_its_libraries(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # mock.patch.dict would forget all modules that are imported meanwhile, and NumPy cannot be imported twice.
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for command in ("identify", "predict"):
        with mock.patch("ytheta.load", side_effect=AssertionError):
            line = refused(command, "lu-two-link", "a.npz", "--report", str(tmp_path / "arm.html"), cwd=folder)
        assert "pip install 'ytheta[report]'" in line


def test_outputs_are_checked_before_the_work(folder: Path) -> None:
    with mock.patch("ytheta.cli.identify.read_robot", side_effect=AssertionError):  # not reached
        for output, words in (
            (("-o", "none/model.toml"), "none/model.toml cannot be written: No such file"),
            (("-o", "."), "extension .toml"),
            (("-o", "model.yaml"), "extension .toml"),
            (("--report", "none/page.html"), "none/page.html cannot be written"),
            (("--report", "page.pdf"), "extension .html"),
        ):
            assert words in refused("identify", "lu-two-link", "a.npz", *output, cwd=folder)
        assert "would be overwritten" in refused("identify", "true.toml", "a.npz", "-o", "./true.toml", cwd=folder)
    with mock.patch("ytheta.cli.log_options.show_progress", side_effect=AssertionError):
        assert "extension .csv or .parquet" in refused("predict", "lu-two-link", "a.npz", "-o", "t.txt", cwd=folder)
        assert "would be overwritten" in refused("predict", "lu-two-link", "b.csv", "-o", "b.csv", cwd=folder)


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_an_interruption_leaves_no_half_written_file(tmp_path: Path, delay: float) -> None:
    model = tmp_path / "model.toml"
    model.write_text("what was there before")
    log = write_log(tmp_path / "long.npz", yt.load("lu-two-link"), seconds=600.0)
    command, environment = process("identify", "lu-two-link", str(log), "-o", str(model), "--force")
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    loaded = Path(f"/proc/{running.pid}/maps")
    while running.poll() is None and "multiarray" not in loaded.read_text():  # numpy is there: main is at work
        time.sleep(0.005)
    time.sleep(delay)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    # A shell shows 130 for both: Python itself ends by the signal where it struck within an exec, as of a dataclass.
    assert running.returncode in (130, -signal.SIGINT)
    assert out == b""
    assert err.splitlines()[-1] == b"interrupted"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.npz", "model.toml"]
    assert model.read_text() == "what was there before"


def test_files_that_a_robot_extends_are_not_overwritten(folder: Path, tmp_path: Path) -> None:
    base, mine = tmp_path / "base.toml", tmp_path / "mine.toml"
    base.write_bytes((folder / "true.toml").read_bytes())
    mine.write_text('format = 1\nextends = "base.toml"\n')
    before = base.read_bytes()
    for force in ((), ("--force",)):
        line = refused("identify", "mine.toml", str(folder / "a.npz"), "-o", "base.toml", *force, cwd=tmp_path)
        assert "base.toml" in line
        assert base.read_bytes() == before
    assert "would be overwritten" in line  # even --force does not overwrite an input


def test_expanded_names_of_logs_do_not_overwrite_the_reference(tmp_path: Path) -> None:
    arguments = ("simulate", "lu-two-link", "--seconds", "0.1", "--reference", "a-1.csv", "--runs", "2", "--force")
    (tmp_path / "a-1.csv").write_text("t,q1,q2\n0,0,0\n1,1,1\n")
    line = refused(*arguments, "-o", "a-{run}.csv", cwd=tmp_path)
    assert "a-1.csv is one of the inputs and would be overwritten" in line
    assert (tmp_path / "a-1.csv").read_text().startswith("t,q1")


def test_files_of_others_are_overwritten_only_with_force(folder: Path, tmp_path: Path) -> None:
    model, page, log = tmp_path / "model.toml", tmp_path / "page.html", str(folder / "a.npz")
    model.write_text("precious")
    page.write_text("precious")
    command = ("identify", "lu-two-link", log)
    assert "use --force" in refused(*command, "-o", str(model))
    assert "use --force" in refused(*command, "--report", str(page))
    assert "none.npz does not exist" in refused("identify", "lu-two-link", "none.npz", "-o", str(model))
    outputs = ("-o", str(model), "--report", str(page))
    assert ytheta(*command, *outputs, "--force").returncode in (0, 1)
    assert ytheta(*command, *outputs).returncode in (0, 1)  # now both are ours
    assert model.read_text().startswith("# Written by ytheta.")


def test_a_link_stays_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to("model.toml")
    command = ("identify", "lu-two-link", str(folder / "a.npz"), "-o", str(tmp_path / "link.toml"))
    assert ytheta(*command).returncode in (0, 1)
    assert (tmp_path / "link.toml").is_symlink()
    assert (tmp_path / "model.toml").read_text().startswith("# Written by ytheta.")


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_simulation_replaces_a_simulation_but_no_other_log(suffix: str, folder: Path, tmp_path: Path) -> None:
    """A log that was written by write_log may be a recording."""
    path = tmp_path / f"log{suffix}"
    yt.write_log(yt.read_log(folder / "a.npz", yt.load("lu-two-link")), path)
    before = path.read_bytes()
    command = ("simulate", "lu-two-link", "--seconds", "0.1", "-o", str(path))
    assert f"{path} exists, and it is not a simulation; choose another name" in refused(*command)
    assert path.read_bytes() == before
    assert ytheta(*command, "--force").returncode == 0
    assert ytheta(*command).returncode == 0
