"""``ytheta excite``: files, exit codes, interruption, bad input."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.command import process, read_json, refused, ytheta
from ytheta.errors import InputError
from ytheta.excitation.criteria import CRITERIA
from ytheta.excitation.limit_check import LimitUse

LIMITS = "--position joint1=-1.5:1.5 --position joint2=-1.5:1.5 --velocity 2 --effort 100 --no-floor"
QUICK = tuple(f"lu-two-link {LIMITS} --criterion d --starts 1 --polished 1".split())


def test_all_files_are_written(tmp_path: Path) -> None:
    names = ("a.csv", "a.parquet", "a.npz", "a.toml", "a.yaml")
    outputs = [word for name in names for word in ("-o", name)]
    data = read_json(tmp_path, "excite", *QUICK, *outputs, "--report", "a.html", "--rate", "50")
    assert {"condition_number", "scaled_condition_number", "seconds", "violations"} <= set(data)
    assert data["seconds"] == 20.0
    assert data["violations"] == []
    slow = [name.replace("a.", "a.slow.") for name in names]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((*names, *slow, "a.html"))
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + 20 * 50 + 1
    assert len((tmp_path / "a.slow.csv").read_text().splitlines()) == 1 + 4 * 20 * 50 + 1
    full, quarter = (yt.load_trajectory(tmp_path / name) for name in ("a.toml", "a.slow.toml"))
    t = np.linspace(0.0, 20.0, 21)
    np.testing.assert_allclose(quarter(4.0 * t)[0], full(t)[0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(4.0 * quarter(4.0 * t)[1], full(t)[1], rtol=0.0, atol=1e-12)
    robot = yt.load("lu-two-link")
    excitation = yt.excite(
        robot,
        criterion="d",
        position=dict.fromkeys(robot.actuated, (-1.5, 1.5)),
        velocity=2.0,
        effort=100.0,
        rate=50.0,
        starts=1,
        polished=1,
        floor=None,
    )
    expected = excitation.to_dict()
    for each in (data, expected):
        del each["search"]["seconds"], each["search"]["first_seconds"]
    assert data == expected
    again = ytheta("excite", *QUICK, "-o", "a.toml", "-o", "a.yaml", "-o", "a.npz", cwd=tmp_path)
    assert again.returncode == 0, again.stderr  # files of ytheta itself may be overwritten


def test_models_and_robots_are_not_replaced_by_trajectories(tmp_path: Path) -> None:
    robot, mark = yt.load("lu-two-link"), "# Written by ytheta.\n"
    path = yt.save_robot(robot, tmp_path / "a.toml")
    for content in (mark + path.read_text(), mark + path.read_text() + "[identification]\n"):
        path.write_text(content)
        assert "a.toml exists, and it is not a trajectory" in refused("excite", *QUICK, "-o", "a.toml", cwd=tmp_path)
        assert path.read_text() == content
    assert ytheta("excite", *QUICK, "-o", "a.toml", "--force", cwd=tmp_path).returncode == 0
    (tmp_path / "log.csv").touch()
    assert "it is not a model" in refused("identify", "lu-two-link", "log.csv", "-o", "a.toml", cwd=tmp_path)


def test_every_kind_of_limit_is_passed_on(tmp_path: Path) -> None:
    options = "--velocity joint1=1 --velocity joint2=2 --acceleration 9 --jerk inf --noise joint1=0.5 --start 0.1,0.2"
    arguments = [*QUICK, *options.split()]
    at = arguments.index("--velocity")
    del arguments[at : at + 2]  # the limit for all joints
    data = read_json(tmp_path, "excite", *arguments)
    first, second = data["joints"]
    assert (first["velocity"], second["velocity"], first["acceleration"]) == (0.95, 1.9, 9.0)  # with 5 % in reserve
    assert first["jerk"] is None  # infinite
    assert (first["noise"], second["noise"]) == (0.5, 1.0)
    assert list(data["start"].values()) == pytest.approx([0.1, 0.2])


def test_a_start_pose_by_name(tmp_path: Path) -> None:
    data = read_json(tmp_path, "excite", *QUICK, "--start", "joint2=0.2, joint1=0.1")
    assert data["start"] == pytest.approx({"joint1": 0.1, "joint2": 0.2})


def test_a_trajectory_is_assessed_and_written_again(tmp_path: Path) -> None:
    designed = read_json(tmp_path, "excite", *QUICK, "-o", "a.toml")
    limits = ["lu-two-link", *LIMITS.split()]
    slow = read_json(
        tmp_path, "excite", *limits, "--trajectory", "a.toml", "--slow", "2", "-o", "b.toml", "-o", "b.csv"
    )
    assert slow["seconds"] == 2.0 * designed["seconds"]
    assert slow["search"] is None
    expected = designed["slowed"][0]
    for key in ("condition_number", "scaled_condition_number"):
        assert slow[key] == pytest.approx(expected[key], rel=1e-6)
    a, b = (yt.load_trajectory(tmp_path / name) for name in ("a.toml", "b.toml"))
    t = np.linspace(0.0, 3.0, 7)
    np.testing.assert_allclose(b(2.0 * t)[0], a(t)[0], rtol=0.0, atol=1e-12)
    assert (tmp_path / "b.csv").exists()
    fast = ytheta("excite", *limits, "--trajectory", "a.toml", "--slow", "0.2", "-o", "c.csv", cwd=tmp_path)
    assert fast.returncode == 1
    assert not (tmp_path / "c.csv").exists()


@pytest.mark.parametrize(("range_", "code"), [("0.02", 1), ("1.5", 0)])
def test_a_poor_design_is_written_with_exit_code_1(range_: str, code: int, tmp_path: Path) -> None:
    """Gravity of joints that hardly move is like a constant offset of their torques."""
    arguments = [word.replace("-1.5:1.5", f"-{range_}:{range_}") for word in QUICK]
    result = ytheta("excite", *arguments, "--friction", "offset", "-o", "a.toml", "--json", cwd=tmp_path)
    assert result.returncode == code, result.stderr
    assert (json.loads(result.stdout)["scaled_condition_number"] > 30.0) is (code == 1)
    assert (tmp_path / "a.toml").exists()


def test_a_motion_that_exceeds_limits_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ytheta.excitation import excite as module

    design = module.excite

    def exceed(*arguments: object, **options: object) -> yt.Excitation:
        excitation = design(*arguments, **options)  # type: ignore[arg-type]
        use = LimitUse("velocity", "joint1", 2.5, 2.0, 1.0, 1.25, violated=True)
        return replace(excitation, uses=(use, *excitation.uses[1:]))

    monkeypatch.setattr(module, "excite", exceed)
    result = ytheta("excite", *QUICK, "-o", "a.csv", "--json", cwd=tmp_path)
    assert result.returncode == 1
    assert [each["name"] for each in json.loads(result.stdout)["violations"]] == ["joint1"]
    assert "a.csv was not written" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("lu-two-link", "velocity of joint1, joint2"),
        ("lu-two-link", "--effort joint1=50"),
        (f"lu-two-link {LIMITS} --seconds 0", "seconds is 0"),
        (f"lu-two-link {LIMITS} --criterion best", "no criterion 'best'"),
        (f"lu-two-link {LIMITS} -o missing/a.csv", "cannot be written"),
        (f"lu-two-link {LIMITS} -o a.txt", "must have the extension"),
        (f"lu-two-link {LIMITS} -o b.csv -o ./b.csv", "given twice"),
        (f"lu-two-link {LIMITS} -o mine.csv", "use --force"),
        (f"lu-two-link {LIMITS} --velocity fast", "--velocity '2'"),
        ("lu-two-link --velocity fast", "'fast' is not a number"),
        ("lu-two-link --velocity =3", "JOINT=NUMBER"),
        ("lu-two-link --velocity joint1=1 --velocity joint1=2", "given twice"),
        ("lu-two-link --position joint1=2:1", "lower number first"),
        ("lu-two-link --position 1:2", "write a joint and its limits"),
        (f"lu-two-link {LIMITS} --start 0,x", "'x' is not a number"),
        (f"lu-two-link {LIMITS} --start 9,9", "position of joint1"),
        (f"lu-two-link {LIMITS} --parameters link1.Ixx", "every parameter"),
        (f"lu-two-link {LIMITS} --log missing.csv", "does not exist"),
        (f"lu-two-link {LIMITS} --floor 0", "contradict each other"),
        ("panda --floor low", "'low' is not a number"),
        ("panda --velocity-margin 1", "velocity_margin is 1; give a share"),
        ("panda --obstacle cube:1@0,0,9", "no obstacle 'cube'"),
        ("panda --obstacle sphere:1@0,0", "KIND:SIZE@X,Y,Z"),
        ("panda --box tool=0:1,0:1,0:1", "no link or marker 'tool'"),
        ("panda --box panda_link8=0:1", "3 times LOWER:UPPER"),
        ("panda --box 0:1,0:1,0:1", "write a frame and its box"),
        ("panda --floor 2", "contains the base"),
        ("panda --seed -1", "'--seed'"),
        ("panda --payload 3@0,0", "write a mass in kg"),
        ("panda --payload heavy", "'heavy' is not a number"),
        ("panda --payload -1", "payload is -1"),
        ("panda --slow 2", "name its file with --trajectory"),
        ("panda --trajectory a.toml --seconds 3", "--seconds is for a design"),
        ("panda --trajectory a.toml --time-limit 3", "--time-limit is for a design"),
        ("panda --trajectory missing.toml", "does not exist"),
        ("panda --trajectory mine.csv", "name the .toml file"),
        ("panda --start panda_joint1=0,1", "'1' has no joint"),
        ("panda --start panda_joint1=0,panda_joint1=1", "given twice"),
        ("panda --start panda_joint1=0", "lacks the position of 'panda_joint2'"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, arguments: str, words: str) -> None:
    (tmp_path / "mine.csv").write_text("t,q1\n")
    assert words in refused("excite", *arguments.split(), cwd=tmp_path)
    assert (tmp_path / "mine.csv").read_text() == "t,q1\n"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npz", "a.yaml"])
def test_the_number_of_samples_is_checked_before_the_search(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object, **__: object) -> yt.Excitation:
        raise InputError("the search began")

    monkeypatch.setattr(yt, "excite", search)
    for options in ("--seconds 100000 --rate 1000", "--rate 0.01", "--payload 1 --rate 0.08"):
        command = ("excite", *QUICK, *options.split(), "-o")
        assert "choose a rate" in refused(*command, name, cwd=tmp_path)
        assert "the search began" in refused(*command, "a.toml", cwd=tmp_path)  # coefficients are not sampled
    assert "the search began" in refused("excite", *QUICK, "--rate", "0.08", "-o", name, cwd=tmp_path)


def test_the_help_names_every_criterion() -> None:
    text = ytheta("excite", "--help").stdout
    description = text[text.index("--criterion") : text.index("--friction")].replace(",", " ")
    assert set(CRITERIA) <= set(description.split())


def test_an_interrupted_search_keeps_the_best(tmp_path: Path) -> None:
    """Ctrl-C during the search: the progress line stops, and the best trajectory so far is written."""
    terminal, stderr = pty.openpty()
    arguments = f"lu-two-link {LIMITS} --criterion d --starts 100000 -o {tmp_path / 'a.csv'} --json"
    command, environment = process("excite", *arguments.split())
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=stderr) as search:
        os.close(stderr)
        shown = b""
        until = time.monotonic() + 60.0
        while b"best value" not in shown and time.monotonic() < until:
            shown += os.read(terminal, 4096)
        search.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the end of a terminal
            while True:
                shown += os.read(terminal, 4096)
        output = search.stdout.read() if search.stdout is not None else b""
    os.close(terminal)
    assert search.returncode == 0, shown
    assert json.loads(output)["search"]["ending"] == "interrupted"
    assert b"interrupted" in shown
    assert (tmp_path / "a.csv").exists()
