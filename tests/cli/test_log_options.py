"""Every command that reads logs takes all options of ``read_log``, and messages name only options that exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import typer

import ytheta as yt
from tests.support.command import refused, ytheta
from ytheta.cli.app import make_app
from ytheta.cli.log_options import LogOptions, take_log_options

COMMANDS = ("excite", "simulate", "check", "identify", "predict", "payload", "compare", "view")
PREFIXED = {"excite", "simulate"}  # their --rate and --gain mean something else


def list_options(command: str) -> set[str]:
    """Return the options of a command, such as --rate."""
    parameters = typer.main.get_command(make_app()).commands[command].params  # type: ignore[attr-defined]
    return {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}


def find_missing_options(application: typer.Typer) -> dict[str, set[str]]:
    """Return the arguments of ``read_log`` that a command with a log has no option for."""
    wanted = set(inspect.signature(yt.read_log).parameters) - {"source", "robot", "strict"}
    missing = {}
    for command, parameters in typer.main.get_command(application).commands.items():  # type: ignore[attr-defined]
        names = {parameter.name for parameter in parameters.params}
        if names & {"log", "logs", "reference"}:
            renamed = {f"log_{name}" for name in ("rate", "gain")} & names
            missing[command] = wanted - (names if not renamed else names - {"rate", "gain"})
            missing[command] -= {name.removeprefix("log_") for name in renamed}
    return missing


def test_no_command_lacks_an_option() -> None:
    assert find_missing_options(make_app()) == {command: set() for command in COMMANDS}


def test_a_command_that_lacks_an_option_is_noticed() -> None:
    other = typer.Typer()

    @other.command()
    def play(log: str, mapping: str = "", rate: float = 1.0) -> None: ...

    @other.command()
    @take_log_options
    def whole(log: str, *, log_options: LogOptions) -> None: ...

    assert find_missing_options(other) == {"play": {"degrees", "rows", "gain", "topic"}, "whole": set()}


def find_unknown_options(command: str, message: str) -> set[str]:
    """Return the options that a message names and the command does not have; prefixed ones have another meaning."""
    named = {each for each in re.findall(r"(?<![\w-])--[a-z][a-z-]*", message) if each != "--csv"}
    known = list_options(command)
    return named - (known - {"--rate", "--gain"} if command in PREFIXED else known)


# --- logs whose messages name options ---------------------------------------------------------------------------------


def write_table(path: Path, columns: dict[str, np.ndarray]) -> Path:
    path.write_text(
        "\n".join(
            [",".join(columns), *(",".join(f"{x:.9g}" for x in row) for row in zip(*columns.values(), strict=True))]
        )
    )
    return path


def make_motion() -> dict[str, np.ndarray]:
    t = np.arange(600) / 100.0
    q = np.stack([np.sin(t), 0.8 * np.cos(1.7 * t)], axis=1)
    return {"t": t, "q1": q[:, 0], "q2": q[:, 1], "tau1": 5.0 * q[:, 1], "tau2": 3.0 * q[:, 0]}


def write_without_time(folder: Path) -> Path:
    return write_table(folder / "log.csv", {name: x for name, x in make_motion().items() if name != "t"})


def write_degrees(folder: Path) -> Path:
    motion = make_motion()
    return write_table(folder / "log.csv", motion | {name: np.degrees(motion[name]) for name in ("q1", "q2")})


def write_coarse_times(folder: Path) -> Path:
    motion = make_motion()
    return write_table(folder / "log.csv", motion | {"t": np.round(motion["t"], 1)})


def write_currents(folder: Path) -> Path:
    motion = make_motion()
    return write_table(folder / "log.csv", {name.replace("tau", "current"): x for name, x in motion.items()})


def write_groups(folder: Path) -> Path:
    h5py = pytest.importorskip("h5py")
    motion = make_motion()
    with h5py.File(folder / "log.h5", "w") as file:
        for group, rows in (("first", 600), ("second", 500)):
            for name, values in motion.items():
                file[f"{group}/{name}"] = values[:rows]
    return folder / "log.h5"


def write_one_joint(folder: Path) -> Path:
    return write_table(folder / "log.csv", {name: x for name, x in make_motion().items() if "2" not in name})


MESSAGES = {
    write_without_time: "rate",
    write_degrees: "degrees",
    write_coarse_times: "rate",
    write_currents: "gain",
    write_groups: "topic",
    write_one_joint: "lock",
}


def run(command: str, log: Path, folder: Path) -> str:
    """Return what a command prints about a log, without line breaks."""
    arguments = {
        "excite": ("lu-two-link", "--log", log.name, "--starts", "1"),
        "simulate": ("lu-two-link", "--reference", log.name),
        "compare": ("a.toml", "b.toml", "--log", log.name),
        "view": ("lu-two-link", "--log", log.name, "--no-open"),
        "predict": ("a.toml", log.name),
    }
    result = ytheta(command, *arguments.get(command, ("lu-two-link", log.name)), cwd=folder)
    assert result.returncode in (1, 2), result.stdout + result.stderr
    return " ".join((result.stdout + result.stderr).split())


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two models of a robot with two joints."""
    folder = tmp_path_factory.mktemp("models")
    log = yt.read_log(make_motion(), yt.load("lu-two-link"))
    for name in ("a.toml", "b.toml"):
        yt.identify(yt.load("lu-two-link"), log).save(folder / name)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("write", MESSAGES, ids=lambda write: write.__name__)
def test_messages_name_options_of_the_command(command: str, write, models: Path) -> None:  # type: ignore[no-untyped-def]
    message = run(command, write(models), models)
    option = MESSAGES[write]
    prefixed = command in PREFIXED and option in ("rate", "gain")
    if command == "compare" and option == "lock":
        pytest.skip("models have no joints to lock")
    assert f"--{'log-' if prefixed else ''}{option}" in message
    assert find_unknown_options(command, message) == set()


def test_an_option_of_another_command_is_noticed() -> None:
    assert find_unknown_options("compare", "use --hold-out 20, or --degrees") == {"--hold-out"}
    assert find_unknown_options("excite", "give --rate 100") == {"--rate"}
    assert find_unknown_options("excite", "give --log-rate 100") == set()


# --- the options have an effect ---------------------------------------------------------------------------------------


def test_a_reference_in_degrees_is_followed(tmp_path: Path) -> None:
    motion = make_motion()
    write_table(tmp_path / "radians.csv", motion)
    degrees = {name: np.degrees(values) if name.startswith("q") else values for name, values in motion.items()}
    write_table(tmp_path / "degrees.csv", {name: x for name, x in degrees.items() if name != "t"})
    shared = ("--controller", "computed-torque", "--seconds", "1", "--rate", "200", "--json")
    first = ytheta("simulate", "lu-two-link", "--reference", "radians.csv", *shared, cwd=tmp_path)
    options = ("--degrees", "--log-rate", "100")
    second = ytheta("simulate", "lu-two-link", "--reference", "degrees.csv", *options, *shared, cwd=tmp_path)
    assert first.returncode == second.returncode == 0, second.stderr
    numbers = [float(x) for x in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", first.stdout)]
    others = [float(x) for x in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", second.stdout)]
    assert len(numbers) > 10
    assert np.allclose(numbers, others, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        ("excite", "lu-two-link", "--degrees"),
        ("excite", "lu-two-link", "--log-rate", "100"),
        ("simulate", "lu-two-link", "--rows", "1:5"),
        ("simulate", "lu-two-link", "--log-gain", "3"),
        ("view", "lu-two-link", "--no-open", "--degrees"),
        ("view", "lu-two-link", "--no-open", "--mapping", "m.toml"),
        ("compare", "a.toml", "b.toml", "--rate", "100"),
    ],
)
def test_options_without_a_log_are_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    message = refused(*arguments, cwd=tmp_path)
    assert "log" in message
    assert "give" in message or "name it" in message


def test_one_log_has_one_mapping(tmp_path: Path) -> None:
    arguments = ("predict", "lu-two-link", "log.csv", "--mapping", "a.toml", "--mapping", "b.toml")
    assert "--mapping is given 2 times for one log" in refused(*arguments, cwd=tmp_path)
    design = ("excite", "lu-two-link", "--log", "log.csv", "--mapping", "a.toml", "--mapping", "b.toml")
    assert "2 mappings for 1 logs" in refused(*design, cwd=tmp_path)
