"""Errors on motion that was not used for the fit: recorded logs, each at its own cut-off and at the reference cut-off.

"Named" cases have targets in issue 14. The other splits test whether a choice that was made while looking at the named
cases holds elsewhere. A table shows the errors, and whether the identified model is a robot: physically consistent,
as heavy as the description, and accepted by MuJoCo.

    python -m benchmarks.held_out --json FILE                    measure and store
    python -m benchmarks.held_out --baseline FILE --only TX40    measure and compare with stored errors
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import ytheta as yt
from benchmarks.recorded_logs import DEMO, ROBOTS, load_recorded_robot, read_recorded_logs
from ytheta.errors import YthetaError
from ytheta.robot.mjcf_writer import to_mjcf

OWN, REFERENCE = "own", "reference"  # which cut-off
START, END = -math.inf, math.inf


@dataclass(frozen=True)
class Part:
    """The part of a log with start <= t < end."""

    log: str
    start: float = START
    end: float = END


@dataclass(frozen=True)
class Case:
    """A robot, the logs for the fit, those for validation, and the targets of the error in percent by cut-off."""

    name: str
    robot: str
    fit: tuple[Part, ...]
    validation: tuple[Part, ...]
    targets: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_named(self) -> bool:
        """Whether the case has targets."""
        return bool(self.targets)


@dataclass(frozen=True)
class Measurement:
    """The result of one case at one cut-off; errors are in percent, and NaN if ``identify`` refused."""

    case: str
    cutoff_kind: str
    named: bool
    cutoff: float = math.nan  # Hz
    fit: float = math.nan
    validation: float = math.nan
    target: float | None = None
    consistent: bool | None = None
    mass_ratio: float = math.nan  # total mass of the moving links, relative to the description
    mujoco: bool | None = None  # whether MuJoCo accepts the model; None if it does not accept the description
    seconds: float = math.nan
    estimator: str = ""
    refusal: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.cutoff_kind

    @property
    def is_within_target(self) -> bool:
        """Whether there is no target, or the validation error with two decimals, as in the table, reaches it."""
        return self.target is None or round(self.validation, 2) <= self.target


def _make_case(robot: str, name: str, fit: Sequence[Part], validation: Sequence[Part], **others: Any) -> Case:
    return Case(f"{robot} {name}", robot, tuple(fit), tuple(validation), **others)


def _split_log(robot: str, log: str, validation: str, first: float, end: float) -> Iterator[Case]:
    """Yield both directions of a split at the middle, and the split with the middle third held out.

    The motion lasts from ``first`` to ``end``. Parts for validation are taken from the log ``validation``.
    """
    middle, third = 0.5 * (first + end), (end - first) / 3.0
    other = "" if log == validation else f" {log}→{validation}"
    halves = (START, middle), (middle, END)
    yield _make_case(robot, f"first half → second{other}", [Part(log, *halves[0])], [Part(validation, *halves[1])])
    yield _make_case(robot, f"second half → first{other}", [Part(log, *halves[1])], [Part(validation, *halves[0])])
    outer = [Part(log, START, first + third), Part(log, end - third, END)]
    yield _make_case(robot, f"outer thirds → middle{other}", outer, [Part(validation, first + third, end - third)])


# Targets at the reference cut-off are those of issue 14, targets at a log's own cut-off the errors of docs/identify.md,
# which were measured with rotor inertias. The targets of the MTM refer to the case with a known cable force.
MTM_PARAMETERS = ("link_*", "*.fv", "*.fc", "*.fo", "motor_4.Ia", "spring.k")  # the cable force counts as known
CASES = (
    _make_case("TX40", "last 40 %", [Part("run", START, 5.4)], [Part("run", 5.4)], targets={OWN: 6.8, REFERENCE: 6.8}),
    _make_case("KR300", "A → B", [Part("A")], [Part("B")], targets={OWN: 33.13, REFERENCE: 15.5}),
    _make_case("LWR4+", "1 → 2", [Part("1")], [Part("2")], targets={OWN: 1.80, REFERENCE: 2.25}),
    _make_case(
        "Panda", "last 40 %", [Part("run", START, 12.6)], [Part("run", 12.6)], targets={OWN: 1.10, REFERENCE: 1.3}
    ),
    _make_case("UR10e", "30 s → PTP", [Part("30 s")], [Part("PTP")], targets={OWN: 4.29, REFERENCE: 3.6}),
    _make_case("UR10e", "30 s → 20 s", [Part("30 s")], [Part("20 s")], targets={OWN: 5.12, REFERENCE: 3.7}),
    _make_case(
        "MTM",
        "one → two, cable known",
        [Part("one")],
        [Part("two")],
        targets={OWN: 9.67, REFERENCE: 9.9},
        options={"parameters": MTM_PARAMETERS},
    ),
    _make_case("MTM", "one → two", [Part("one")], [Part("two")], targets={OWN: 9.67, REFERENCE: 9.9}),
    # Splits without targets
    _make_case("TX40", "first 60 %", [Part("run", 5.4)], [Part("run", START, 5.4)]),
    *_split_log("TX40", "run", "run", 0.0, 7.5),
    _make_case("KR300", "B → A", [Part("B")], [Part("A")]),
    *_split_log("KR300", "A", "A", 0.5, 9.4),
    _make_case("LWR4+", "2 → 1", [Part("2")], [Part("1")]),
    *_split_log("LWR4+", "1", "2", 0.0, 25.1),
    _make_case("Panda", "first 60 %", [Part("run", 12.6)], [Part("run", START, 12.6)]),
    *_split_log("Panda", "run", "run", 0.0, 21.0),
    _make_case("UR10e", "30 s → 50 s", [Part("30 s")], [Part("50 s")]),
    _make_case("UR10e", "50 s → 30 s", [Part("50 s")], [Part("30 s")]),
    _make_case("UR10e", "20 s → 30 s", [Part("20 s")], [Part("30 s")]),
    _make_case("UR10e", "PTP → 20 s", [Part("PTP")], [Part("20 s")]),
    _make_case("UR10e", "PTP → 30 s", [Part("PTP")], [Part("30 s")]),
    _make_case("UR10e", "20 s → PTP", [Part("20 s")], [Part("PTP")]),
    _make_case("MTM", "two → one", [Part("two")], [Part("one")]),
    _make_case(DEMO, "fit → validate", [Part("fit")], [Part("validate")]),
)


def measure_cases(cases: Sequence[Case], options: Mapping[str, Any]) -> Iterator[Measurement]:
    """Yield the measurements of all cases whose logs exist. ``options`` are arguments of ``identify`` for all cases."""
    for name in dict.fromkeys(case.robot for case in cases):
        robot = load_recorded_robot(name)
        if robot is None:
            print(f"{name}: left out, because its logs are not in the shared data folder")
            continue
        logs = read_recorded_logs(name, robot)
        recorded = ROBOTS.get(name)
        cutoffs = {OWN: None} if recorded is None else {OWN: None, REFERENCE: recorded.cutoff}
        for case in (case for case in cases if case.robot == name):
            # A list of parameters replaces the choice of rotor inertias.
            general = {k: v for k, v in options.items() if not ("parameters" in case.options and k == "rotor_inertia")}
            arguments = {**(recorded.options if recorded else {}), **case.options, **general}
            for kind, cutoff in cutoffs.items():
                yield measure_case(case, kind, robot, logs, {**arguments, "cutoff": cutoff})


def measure_case(
    case: Case, kind: str, robot: yt.Robot, logs: Mapping[str, yt.Log], arguments: Mapping[str, Any]
) -> Measurement:
    """Identify the robot of one case, and measure the errors and the model."""
    fit, validation = (
        [logs[part.log].select_times(part.start, part.end) for part in parts] for parts in (case.fit, case.validation)
    )
    start = time.perf_counter()
    try:
        identification = yt.identify(robot, fit, validate=validation, **arguments)
    except YthetaError as error:
        return Measurement(case.name, kind, case.is_named, target=case.targets.get(kind), refusal=str(error))
    seconds = time.perf_counter() - start
    assert identification.validation is not None
    return Measurement(
        case=case.name,
        cutoff_kind=kind,
        named=case.is_named,
        cutoff=float(identification.origin.settings[0].cutoff),
        fit=identification.fit.relative_percent,
        validation=identification.validation.relative_percent,
        target=case.targets.get(kind),
        consistent=identification.consistent,
        mass_ratio=compute_mass(identification.robot) / compute_mass(robot),
        mujoco=is_accepted_by_mujoco(identification.robot) if is_accepted_by_mujoco(robot.merged) else None,
        seconds=seconds,
        estimator=identification.origin.estimator,
    )


def compute_mass(robot: yt.Robot) -> float:
    """Return the total mass of all links that move with respect to the base, in kg."""
    return sum(link.inertia.mass for link in robot.merged.links[1:])


def is_accepted_by_mujoco(robot: yt.Robot) -> bool:
    """Return whether MuJoCo compiles the robot; it does not write motors, so a robot coupled to one is not accepted."""
    try:
        mujoco.MjModel.from_xml_string(to_mjcf(robot))
    except (ValueError, YthetaError):
        return False
    return True


def compare(measurements: Sequence[Measurement], baseline: Sequence[Measurement]) -> dict[tuple[str, str], float]:
    """Return the validation error relative to the baseline, for the cases and cut-offs that both contain."""
    before = {each.key: each.validation for each in baseline}
    return {each.key: each.validation / before[each.key] for each in measurements if each.key in before}


def compute_geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean; NaN if a ratio is NaN, so that a refused case is not overlooked."""
    return float(np.exp(np.mean(np.log(ratios))))


def summarize(measurements: Sequence[Measurement], ratios: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """Yield one line per group of cases: geometric mean and largest ratio to the baseline."""
    for named, group in ((True, "cases with targets"), (False, "other splits")):
        for kind in (OWN, REFERENCE):
            keys = [each.key for each in measurements if (each.named, each.cutoff_kind) == (named, kind)]
            found = {key: ratios[key] for key in keys if key in ratios}
            if found:
                worst = max(found, key=lambda key: -math.inf if math.isnan(found[key]) else found[key])
                mean = compute_geometric_mean(list(found.values()))
                yield (
                    f"{group}, {kind} cut-off: {len(found)} cases, geometric mean {mean:.3f}, "
                    f"worst {found[worst]:.3f} ({worst[0]})"
                )


def print_table(measurements: Sequence[Measurement], ratios: Mapping[tuple[str, str], float], console: Console) -> None:
    columns = ("case", "cut-off Hz", "fit %", "validation %", "target", "ratio", "consistent", "mass", "MuJoCo", "s")
    for kind in (OWN, REFERENCE):
        table = Table(*columns, box=box.SIMPLE_HEAD, title=f"{kind} cut-off", title_justify="left")
        for each in (each for each in measurements if each.cutoff_kind == kind):
            ratio = f"{ratios[each.key]:.3f}" if each.key in ratios else ""
            target = "" if each.target is None else f"{each.target:g}{'' if each.is_within_target else ' missed'}"
            flags = [{True: "yes", False: "NO", None: "-"}[flag] for flag in (each.consistent, each.mujoco)]
            table.add_row(
                each.case,
                f"{each.cutoff:.3g}",
                f"{each.fit:.2f}",
                f"{each.validation:.2f}",
                target,
                ratio,
                flags[0],
                f"{each.mass_ratio:.2f}",
                flags[1],
                f"{each.seconds:.2f}",
            )
        console.print(table)
    for each in measurements:
        if each.refusal:
            console.print(f"{each.case}, {each.cutoff_kind} cut-off: refused: {each.refusal}", highlight=False)


def read_measurements(path: Path) -> list[Measurement]:
    return [Measurement(**each) for each in json.loads(path.read_text())["measurements"]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure errors on motion that was not used for the fit.")
    parser.add_argument("--only", metavar="PATTERN", default="", help="cases whose name matches a regular expression")
    parser.add_argument("--estimator", help="estimator of all cases")
    parser.add_argument("--rotor-inertia", action=argparse.BooleanOptionalAction, help="estimate rotor inertias or not")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="measurements to compare with")
    parsed = parser.parse_args()
    given = {"estimator": parsed.estimator, "rotor_inertia": parsed.rotor_inertia}
    options = {name: value for name, value in given.items() if value is not None}
    cases = [case for case in CASES if re.search(parsed.only, case.name)]
    measurements = list(measure_cases(cases, options))
    if parsed.json:
        content = {"options": options, "measurements": [asdict(each) for each in measurements]}
        parsed.json.write_text(json.dumps(content, indent=1) + "\n")
    ratios = compare(measurements, read_measurements(parsed.baseline)) if parsed.baseline else {}
    console = Console(width=140)
    print_table(measurements, ratios, console)
    for line in summarize(measurements, ratios):
        console.print(line, highlight=False)


if __name__ == "__main__":
    main()
