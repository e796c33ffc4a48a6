"""Every command that reads a robot takes all options of ``load``."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import typer

import ytheta as yt
from tests.support.command import read_json, refused, ytheta
from ytheta.cli.app import make_app
from ytheta.cli.robot_options import RobotArgument, RobotOptions, take_robot_options

ROBOT_ARGUMENTS = ("robot", "model")
PLURALS = {name: f"{name}s" for name in ("length", "angle", "xacro_arg", "package_path", "allow_path")}
COMMANDS = (
    "inspect",
    "base",
    "excite",
    "simulate",
    "check",
    "identify",
    "predict",
    "payload",
    "bench",
    "export",
    "view",
)
WRIST = "wrist_3_joint"


def find_missing_options(application: typer.Typer) -> dict[str, set[str]]:
    """Return the arguments of ``load`` that a command with a robot has no option for."""
    wanted = set(inspect.signature(yt.load).parameters) - {"source", "strict"}  # --strict is about logs for most
    missing = {}
    for command, parameters in typer.main.get_command(application).commands.items():  # type: ignore[attr-defined]
        names = [parameter.name for parameter in parameters.params]
        if names and names[0] in ROBOT_ARGUMENTS:
            missing[command] = wanted - {PLURALS.get(name, name) for name in names}
    return missing


def test_no_command_lacks_an_option() -> None:
    assert find_missing_options(make_app()) == {command: set() for command in COMMANDS}


def test_a_command_that_lacks_an_option_is_noticed() -> None:
    other = typer.Typer()

    @other.command()
    def base(robot: RobotArgument, snap: float = 0.0, lock: str = "") -> None: ...

    @other.command()
    @take_robot_options
    def whole(robot: RobotArgument, *, robot_options: RobotOptions) -> None: ...

    missing = find_missing_options(other)
    assert missing["base"] == {"fix_base", "floating_base", *PLURALS.values()}
    assert missing["whole"] == set()


def test_check_reads_the_robot_as_identify_does(tmp_path: Path) -> None:
    """A log without the column of a joint fits the robot in which this joint is locked."""
    columns = [f"{quantity}{joint}" for quantity in ("q", "tau") for joint in range(1, 6)]
    rows = [[0.01 * i, *(0.1 * i * (j % 5 + 1) % 1.0 for j in range(10))] for i in range(400)]
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "five.csv").write_text("\n".join(["t," + ",".join(columns), *lines]))
    advice = ytheta("check", "ur10", "five.csv", cwd=tmp_path)
    assert advice.returncode == 1
    assert f"--lock {WRIST}" in " ".join(advice.stdout.split())
    result = ytheta("check", "ur10", "five.csv", "--lock", WRIST, cwd=tmp_path)
    assert result.returncode in (0, 1), result.stderr  # 1 since the made-up motion is not plausible
    assert "No such option" not in result.stderr
    assert WRIST not in result.stdout


def test_both_options_of_the_base_are_taken(tmp_path: Path) -> None:
    for command in (("predict", "ur10", "x.csv"), ("check", "ur10", "x.csv"), ("view", "ur10", "--no-open")):
        message = refused(*command, "--floating-base", "--fix-base", cwd=tmp_path)
        assert "contradict each other" in message


@pytest.mark.parametrize("command", ["inspect", "base"])
def test_options_reach_the_robot(tmp_path: Path, command: str) -> None:
    plain, locked = read_json(tmp_path, command, "ur10"), read_json(tmp_path, command, "ur10", "--lock", WRIST)
    assert plain != locked
    assert WRIST not in str(locked.get("joints", ""))


def test_other_folders_are_opened_only_if_they_are_allowed(tmp_path: Path) -> None:
    """The message of the refusal names the option that helps."""
    (tmp_path / "scene").mkdir()
    (tmp_path / "arm").mkdir()
    body = '<body name="a"><joint name="q1"/><geom type="sphere" size="0.1" pos="0.5 0 0"/></body>'
    (tmp_path / "scene" / "arm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    (tmp_path / "arm" / "main.xml").write_text('<mujoco><include file="../scene/arm.xml"/></mujoco>')
    message = refused("inspect", "arm/main.xml", cwd=tmp_path)
    assert "leaves the robot's folder" in message
    assert "--allow-path" in message
    assert "leaves the robot's folder" in refused("inspect", "arm/main.xml", "--allow-path", "arm", cwd=tmp_path)
    result = ytheta("inspect", "arm/main.xml", "--allow-path", "scene", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "q1" in result.stdout
