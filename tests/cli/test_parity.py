"""Every command is a function of the library: the same names, the same defaults, the same numbers."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

import ytheta as yt
from tests.support.command import read_json, ytheta
from ytheta.cli.app import make_app
from ytheta.display import Displayed

# The functions and the settings values that a command passes its options to.
LIBRARY = {
    "robots": ("robots",),
    "inspect": ("inspect", "load"),
    "base": ("model_parameters", "load"),
    "excite": ("excite", "assess_trajectory", "save_trajectory", "read_log", "load"),
    "simulate": ("simulate", "control.ControllerSettings", "Variation", "read_log", "load"),
    "check": ("check", "load"),
    "identify": ("identify", "BodyBounds", "PreparationSettings", "read_log", "load"),
    "predict": ("predict", "PreparationSettings", "read_log", "load"),
    "payload": ("identify_payload", "PreparationSettings", "read_log", "load"),
    "bench": ("bench", "load"),
    "reproduce": ("reproduce",),
    "compare": ("compare",),
    "export": ("export", "COptions", "PayloadOptions", "load"),
    "view": ("view", "load"),
}
# Options about files and printing, which have no argument. A result is written by its methods.
OUTPUT_OPTIONS = ("output", "report", "force", "json", "verbose", "help", "no_open")
SPELLED_DIFFERENTLY = {"seed": "rng", "log_rate": "rate", "log_gain": "gain"}
NOTHING: tuple[object, ...] = (None, "", (), [], {})


def list_options(application: typer.Typer) -> Iterator[tuple[str, str, Any]]:
    """Yield command, name and default of every option and argument of an application."""
    for command, parameters in typer.main.get_command(application).commands.items():  # type: ignore[attr-defined]
        for parameter in parameters.params:
            long_names = [name for name in parameter.opts if name.startswith("--")]
            name = long_names[0].removeprefix("--").replace("-", "_") if long_names else parameter.name
            yield command, name, parameter.default


def list_arguments(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and default of every argument of a function or of a settings value."""
    factories = {
        field.name: field.default_factory
        for field in (dataclasses.fields(function) if dataclasses.is_dataclass(function) else ())
        if field.default_factory is not dataclasses.MISSING
    }
    for argument in inspect.signature(function).parameters.values():
        yield argument.name, factories[argument.name]() if argument.name in factories else argument.default


def find_defaults(functions: tuple[str, ...], option: str) -> list[Any]:
    """Return the defaults of the arguments with this name, its plural, or its opposite if it starts with no_."""
    arguments = [argument for function in functions for argument in list_arguments(attrgetter(function)(yt))]
    same = [default for name, default in arguments if name in (option, f"{option}s")]
    return same + [not default for name, default in arguments if option == f"no_{name}"]


def agree(option: Any, argument: Any) -> bool:
    """Whether two defaults mean the same; words of an option are separated by commas."""
    if option in NOTHING or option is inspect.Parameter.empty:
        return argument in NOTHING or argument is inspect.Parameter.empty
    words = ",".join(argument) if isinstance(argument, tuple) else argument
    return bool(option == words)


def describe_difference(command: str, option: str, default: Any) -> str:
    """Return how an option differs from the arguments of the library; empty if it does not."""
    if option in OUTPUT_OPTIONS:
        return ""
    defaults = find_defaults(LIBRARY[command], SPELLED_DIFFERENTLY.get(option, option))
    if not defaults:
        return f"{command} --{option}: no such argument"
    if not any(agree(default, argument) for argument in defaults):
        return f"{command} --{option}: default {default!r} is not {defaults}"
    return ""


@pytest.mark.parametrize("command", LIBRARY)
def test_options_are_arguments_with_the_same_default(command: str) -> None:
    differences = [describe_difference(*option) for option in list_options(make_app()) if option[0] == command]
    assert len(differences) > 0
    assert [text for text in differences if text] == []


def test_every_command_is_compared() -> None:
    assert {command for command, _, _ in list_options(make_app())} == set(LIBRARY)


def test_a_made_up_option_is_noticed() -> None:
    other = typer.Typer()

    @other.command()
    def base(
        robot: str,
        magic: Annotated[int, typer.Option()] = 1,
        method: Annotated[str, typer.Option()] = "qr",
        rotor_inertia: Annotated[bool, typer.Option("--rotor-inertia")] = False,
    ) -> None: ...

    @other.command()
    def robots() -> None: ...

    found = [describe_difference(*option) for option in list_options(other)]
    assert found == ["", "base --magic: no such argument", "base --method: default 'qr' is not ['auto']", ""]


# --- numbers ----------------------------------------------------------------------------------------------------------

Case = tuple[str, Callable[[], Displayed]]
CASES: list[Case] = [
    ("robots", yt.robots),
    ("inspect panda", lambda: yt.inspect(yt.load("panda"))),
    ("inspect puma560", lambda: yt.inspect(yt.load("puma560"))),
    ("inspect five-bar", lambda: yt.inspect(yt.load("five-bar"))),
    (
        "inspect walker --at q5=0.6 --at q7=1.3",
        lambda: yt.inspect(yt.load("walker"), at={"q5": 0.6, "q7": 1.3}),
    ),
    (
        "inspect lu-two-link --length l1=0.5 --snap 0",
        lambda: yt.inspect(yt.load("lu-two-link", snap=0.0, lengths={"l1": 0.5})),
    ),
    ("base panda", lambda: yt.base_parameters(yt.load("panda"))),
    ("base palletiser", lambda: yt.base_parameters(yt.load("palletiser"))),
    (
        "base rx90 --rotor-inertia --method qr",
        lambda: yt.base_parameters(yt.load("rx90"), rotor_inertia=True, method="qr"),
    ),
    (
        "base ur10 --friction viscous,coulomb",
        lambda: yt.base_parameters(yt.load("ur10"), friction=("viscous", "coulomb")),
    ),
    (
        "simulate lu-two-link --seconds 0.5 --spread 10 --seed 3 --no-torque-limits",
        lambda: yt.simulate(
            yt.load("lu-two-link"),
            yt.control.ControllerSettings(torque_limits=False),
            seconds=0.5,
            variation=yt.Variation(spread=10.0),
            rng=3,
        ),
    ),
]


@pytest.mark.parametrize(("command", "call"), CASES, ids=[command for command, _ in CASES])
def test_the_command_prints_the_value_of_the_function(command: str, call: Callable[[], Displayed]) -> None:
    value = call()
    printed = ytheta(*command.split(), "--json")
    assert printed.returncode in (0, 1), printed.stderr  # 1 if half a second is too short to converge
    assert json.loads(printed.stdout) == json.loads(json.dumps(value.to_dict()))
    table = ytheta(*command.split())
    assert "\n".join(line.rstrip() for line in table.stdout.splitlines()) == str(value)
    warnings = [finding.text for finding in getattr(value, "findings", ()) if finding.is_warning]
    assert [text for text in warnings if text not in table.stderr] == []


def test_identify_and_predict_are_their_functions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    options = ("--validate", "b.csv", "--friction", "viscous", "--cutoff", "10", "-o", "model.toml")
    printed = read_json(folder, "identify", "lu-two-link", "a.npz", *options)
    robot = yt.load("lu-two-link")
    fit = yt.identify(robot, "a.npz", validate="b.csv", friction=("viscous",), cutoff=10.0)
    assert printed == json.loads(json.dumps(fit.to_dict()))
    predicted = read_json(folder, "predict", "model.toml", "b.csv", "--min-speed", "0.1")
    assert predicted == json.loads(json.dumps(yt.predict("model.toml", "b.csv", min_speed=0.1).to_dict()))
    assert predicted != json.loads(json.dumps(yt.predict("model.toml", "b.csv").to_dict()))
    assert predicted["relative_error_percent"] == pytest.approx(
        yt.predict(fit, yt.read_log("b.csv", robot), min_speed=0.1).to_dict()["relative_error_percent"], rel=1e-9
    )


def test_another_robot_prints_something_else() -> None:
    printed = json.loads(ytheta("base", "lu-two-link", "--json").stdout)
    assert printed == yt.base_parameters(yt.load("lu-two-link")).to_dict()
    assert printed != yt.base_parameters(yt.load("lu-two-link", lengths={"l1": 0.6})).to_dict()
