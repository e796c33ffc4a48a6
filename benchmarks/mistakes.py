"""Planted mistakes: are they named, and is nothing named on clean logs?

Every mistake is planted on simulated robots, whose descriptions are off by 20 % or lack a load, and on recorded logs.
With ``--draws N``, N mistakes of random kinds are planted on every recording, with random values and joints; results
are counted by kind, and by whether the mistake raises the held-out error by a tenth, that of the last 30 % of the log.

    python -m benchmarks.mistakes --only ur10 --json FILE
    python -m benchmarks.mistakes --draws 20 --json FILE
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import ytheta as yt
from benchmarks.recorded_logs import ROBOTS as RECORDED_ROBOTS
from benchmarks.recorded_logs import load_recorded_robot, read_recorded_logs
from benchmarks.simulated_robots import Extra, FrictionLaw, load_description, make_motion, make_true_robot, record
from ytheta.errors import YthetaError
from ytheta.identification.assessment.description_mistakes import scale_lengths
from ytheta.identification.finding_codes import CONTRADICTIONS
from ytheta.robot.parts import JointKind

CLEAN = "clean"
MOON = 1.62 / 9.81
MIN_MATERIAL_RATIO = 1.1
HOLD_OUT = 30.0  # percent


@dataclass(frozen=True)
class Recording:
    """A robot's description, a log of its motion, and arguments of ``identify``."""

    name: str
    robot: yt.Robot
    log: yt.Log
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Planted:
    """A recording with a mistake: which finding is right, and the joints that it must name."""

    robot: yt.Robot
    table: dict[str, Any]
    code: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What was said about a planted mistake."""

    recording: str
    mistake: str
    expected: str
    said: str
    right: bool
    seconds: float
    held_out: float | None = None  # percent
    clean_held_out: float | None = None

    @property
    def is_material(self) -> bool:
        """Whether the mistake raises the held-out error by a tenth, or the log is refused."""
        if self.held_out is None or self.clean_held_out is None:
            return True
        return self.held_out >= MIN_MATERIAL_RATIO * self.clean_held_out


def _make_table(log: yt.Log) -> dict[str, Any]:
    table = {"t": np.array(log.t), "q": np.array(log.q), "tau": np.array(log.tau)}
    return table if log.qd is None else {**table, "qd": np.array(log.qd)}


def _change(recording: Recording, code: str, names: Sequence[str] = (), **changes: Any) -> Planted:
    return Planted(recording.robot, {**_make_table(recording.log), **changes}, code, tuple(names))


def _describe(recording: Recording, code: str, robot: yt.Robot) -> Planted:
    return Planted(robot, _make_table(recording.log), code)


def _scale_gravity(recording: Recording, factor: float) -> Planted:
    x, y, z = (factor * value for value in recording.robot.gravity)
    return _describe(recording, "gravity", replace(recording.robot, gravity=(x, y, z)))


def _turn_gravity(recording: Recording) -> Planted:
    x, y, z = recording.robot.gravity
    return _describe(recording, "gravity", replace(recording.robot, gravity=(z, x, y)))


def _scale_torques(recording: Recording, factor: float, joint: int | None = None) -> Planted:
    tau = np.array(recording.log.tau)
    if joint is None:
        return _change(recording, "torque scale", recording.log.joints, tau=factor * tau)
    tau[:, joint] *= factor
    code = "torque sign" if factor < 0.0 else "torque scale"
    return _change(recording, code, [recording.log.joints[joint]], tau=tau)


def _reverse_position(recording: Recording, joint: int, *, torque: bool) -> Planted:
    table = _make_table(recording.log)
    for name in ("q", "qd", *(["tau"] if torque else [])):
        if name in table:
            table[name][:, joint] *= -1.0
    return Planted(recording.robot, table, "position sign", (recording.log.joints[joint],))


def _exchange(recording: Recording, first: int, second: int, quantities: str) -> Planted:
    table = _make_table(recording.log)
    for name in quantities.split():
        if name in table:
            table[name][:, [first, second]] = table[name][:, [second, first]]
    names = (recording.log.joints[first], recording.log.joints[second])
    return Planted(recording.robot, table, "joint order", names)


def _stretch_time(recording: Recording, factor: float) -> Planted:
    return _change(recording, "time scale", t=factor * np.array(recording.log.t))


def _shift_zero(recording: Recording, joint: int, angle: float) -> Planted:
    q = np.array(recording.log.q)
    q[:, joint] += angle
    return _change(recording, "position offset", [recording.log.joints[joint]], q=q)


def _delay_torques(recording: Recording, seconds: float) -> Planted:
    rows = round(seconds * recording.log.rate)
    table = _make_table(recording.log)
    table = {name: values[rows:] for name, values in table.items()}
    return Planted(recording.robot, {**table, "tau": np.array(recording.log.tau)[:-rows]}, "delay")


def _delay(recording: Recording, seconds: float, quantities: str, joint: int | None = None) -> Planted:
    """Values of some quantities, of one joint or all, are those of ``seconds`` earlier."""
    table = _make_table(recording.log)
    t = table["t"]
    for name in quantities.split():
        for k in range(table["q"].shape[1]) if name in table else ():
            if joint in (None, k):
                table[name][:, k] = np.interp(t - seconds, t, table[name][:, k])
    names = () if joint is None else (recording.log.joints[joint],)
    return Planted(recording.robot, table, "delay", names)


def _scale_lengths(recording: Recording, factor: float, *, centers: bool) -> Planted:
    robot = scale_lengths(recording.robot, factor, scale_centers=centers, scale_moments=False)
    return _describe(recording, "lengths", robot)


def _use_degrees(recording: Recording) -> Planted:
    table = _make_table(recording.log)
    turns = np.array([joint.kind is not JointKind.PRISMATIC for joint in recording.robot.merged.movable])
    turns = turns if len(turns) == table["q"].shape[1] else np.ones(table["q"].shape[1], dtype=bool)
    for name in ("q", "qd"):
        if name in table:
            table[name] = np.where(turns, np.degrees(table[name]), table[name])
    return Planted(recording.robot, table, "units")


MISTAKES: dict[str, Callable[[Recording], Planted]] = {
    "gravity of the moon": lambda r: _scale_gravity(r, MOON),
    "no gravity": lambda r: _scale_gravity(r, 0.0),
    "gravity reversed": lambda r: _scale_gravity(r, -1.0),
    "gravity along a wrong axis": _turn_gravity,
    "lengths in mm": lambda r: _scale_lengths(r, 1e3, centers=False),
    "lengths and centres in mm": lambda r: _scale_lengths(r, 1e3, centers=True),
    "torques in Nmm": lambda r: _scale_torques(r, 1e3),
    "torques in kNm": lambda r: _scale_torques(r, 1e-3),
    "gains of 1 instead of 10": lambda r: _scale_torques(r, 0.1),
    "gain of joint 2 is 10 times too small": lambda r: _scale_torques(r, 0.1, 1),
    "torque sign of joint 1": lambda r: _scale_torques(r, -1.0, 0),
    "torque sign of joint 2": lambda r: _scale_torques(r, -1.0, 1),
    "position sign of joint 2": lambda r: _reverse_position(r, 1, torque=False),
    "axis of joint 2": lambda r: _reverse_position(r, 1, torque=True),
    "joints 1 and 3 exchanged": lambda r: _exchange(r, 0, min(2, len(r.log.joints) - 1), "q qd tau"),
    "joints 2 and 3 exchanged": lambda r: _exchange(r, 1, min(2, len(r.log.joints) - 1), "q qd tau"),
    "torques of joints 1 and 2 exchanged": lambda r: _exchange(r, 0, 1, "tau"),
    "positions of joints 1 and 2 exchanged": lambda r: _exchange(r, 0, 1, "q qd"),
    "time x 2": lambda r: _stretch_time(r, 2.0),
    "time x 0.5": lambda r: _stretch_time(r, 0.5),
    "time in ms": lambda r: _stretch_time(r, 1e3),
    "zero of joint 2 off by 90 degrees": lambda r: _shift_zero(r, 1, np.pi / 2.0),
    "torques 0.1 s late": lambda r: _delay_torques(r, 0.1),
    "positions in degrees": _use_degrees,
}


def _draw_factor(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a factor between ``low`` and ``high``, or its inverse."""
    return float(np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(np.log(low), np.log(high))))


def _draw_sign(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, 1.0]))


def _draw_pair(rng: np.random.Generator, recording: Recording) -> tuple[int, int]:
    first, second = rng.choice(len(recording.log.joints), 2, replace=False)
    return int(first), int(second)


def _draw_joint(rng: np.random.Generator, recording: Recording) -> int:
    return int(rng.integers(len(recording.log.joints)))


def _draw_hinge(rng: np.random.Generator, recording: Recording) -> int:
    slides = {joint.name for joint in recording.robot.merged.movable if joint.kind is JointKind.PRISMATIC}
    return int(rng.choice([k for k, name in enumerate(recording.log.joints) if name not in slides]))


def _draw_gravity(rng: np.random.Generator, recording: Recording) -> Planted:
    x, y, z = (float(each) for each in np.roll(recording.robot.gravity, rng.integers(1, 3)) * _draw_sign(rng))
    return _describe(recording, "gravity", replace(recording.robot, gravity=(x, y, z)))


# Kinds of mistakes whose values are drawn. Ranges are those in which users were seen to make them.
DRAWN: dict[str, Callable[[np.random.Generator, Recording], Planted]] = {
    "scale of all torques": lambda rng, r: _scale_torques(r, _draw_factor(rng, 1.3, 3.0)),
    "scale of a torque": lambda rng, r: _scale_torques(r, _draw_factor(rng, 1.3, 3.0), _draw_joint(rng, r)),
    "zero offset": lambda rng, r: _shift_zero(
        r, _draw_hinge(rng, r), _draw_sign(rng) * np.radians(rng.uniform(10.0, 90.0))
    ),
    "time factor": lambda rng, r: _stretch_time(r, _draw_factor(rng, 1.05, 2.0)),
    "delay of torques": lambda rng, r: _delay(r, _draw_sign(rng) * rng.uniform(0.02, 0.15), "tau"),
    "delay of a position": lambda rng, r: _delay(
        r, _draw_sign(rng) * rng.uniform(0.02, 0.15), "q qd", _draw_joint(rng, r)
    ),
    "sign of a torque": lambda rng, r: _scale_torques(r, -1.0, _draw_joint(rng, r)),
    "sign of a position": lambda rng, r: _reverse_position(r, _draw_joint(rng, r), torque=bool(rng.random() < 0.5)),
    "exchange": lambda rng, r: _exchange(r, *_draw_pair(rng, r), str(rng.choice(["q qd", "tau", "q qd tau"]))),
    "gravity": lambda rng, r: _draw_gravity(rng, r),
}
# A planar arm in a vertical plane: gravity is along −y of its base.
PLANAR = """
format = 1
name = "planar"
gravity = [0.0, -9.81, 0.0]
[[link]]
name = "base"
[[link]]
name = "upper"
mass = 6.0
center = [0.25, 0.0, 0.0]
inertia = { xx = 0.01, yy = 0.13, zz = 0.13 }
[[link]]
name = "fore"
mass = 4.0
center = [0.2, 0.02, 0.0]
inertia = { xx = 0.008, yy = 0.06, zz = 0.06 }
[[link]]
name = "hand"
mass = 1.5
center = [0.08, 0.0, 0.0]
inertia = { xx = 0.002, yy = 0.006, zz = 0.006 }
[[joint]]
name = "shoulder"
type = "revolute"
parent = "base"
child = "upper"
axis = [0, 0, 1]
[[joint]]
name = "elbow"
type = "revolute"
parent = "upper"
child = "fore"
axis = [0, 0, 1]
frame = { xyz = [0.5, 0.0, 0.0] }
[[joint]]
name = "wrist"
type = "revolute"
parent = "fore"
child = "hand"
axis = [0, 0, 1]
frame = { xyz = [0.4, 0.0, 0.0] }
"""
# The inertia of every link of a description that nobody filled in.
PLACEHOLDER = yt.Inertia.about_center(1.0, (0.0, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
SIMULATED = ("ur10", "panda", "puma560", "stanford", "iiwa14", "planar")


def list_simulated(names: Sequence[str], seeds: int) -> Iterator[Recording]:
    """Yield recordings of simulated robots: descriptions off by 20 %, with the load or without, or placeholders."""
    for name in names:
        description = _load_planar() if name == "planar" else load_description(name)
        for seed in range(seeds):
            rng = np.random.default_rng([seed, len(name)])
            is_loaded, is_placeholder = seed % 3 == 1, seed % 3 == 2
            extra = Extra.LOAD if is_loaded else Extra.NOTHING
            truth = make_true_robot(description, rng, extra=extra, rotors=is_loaded, law=FrictionLaw.PLAIN)
            log = record(truth, make_motion(description, rng, rich=True), rng, colour_time=0.02)
            told = description
            if is_placeholder:
                told = description.with_inertias({link.name: PLACEHOLDER for link in description.links[1:]})
            yield Recording(f"{name} {seed}", told, log, {})


def _load_planar() -> yt.Robot:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planar.toml"
        path.write_text(PLANAR)
        return yt.load(path)


def list_recorded() -> Iterator[Recording]:
    """Yield the recorded logs of the shared data folder."""
    for name, recorded in RECORDED_ROBOTS.items():
        robot = load_recorded_robot(name)
        if robot is None:
            continue
        for key, log in read_recorded_logs(name, robot).items():
            yield Recording(f"{name} {key}", robot, log, recorded.options)


def judge(
    recording: Recording, mistake: str, planted: Planted | None = None, clean_held_out: float | None = None
) -> Outcome:
    """Plant a mistake, by default the one of this name, and compare what ``identify`` says with it."""
    draws, held_out = planted is not None, None
    if planted is None:
        is_clean = mistake == CLEAN
        planted = Planted(recording.robot, _make_table(recording.log), "") if is_clean else MISTAKES[mistake](recording)
    start = time.perf_counter()
    try:
        log = yt.read_log(planted.table, planted.robot)
        result = yt.identify(planted.robot, log, **recording.options, hold_out=HOLD_OUT if draws else None)
        held_out = None if result.validation is None else float(result.validation.relative_percent)
        findings = [finding for finding in result.findings if finding.code in CONTRADICTIONS]
        said = "; ".join(finding.text for finding in findings)
        right = {str(finding.code) for finding in findings} == ({planted.code} if planted.code else set())
        right = right and all(set(finding.names) == set(planted.names) for finding in findings if planted.names)
    except YthetaError as error:
        said = f"refused: {error}"
        hints = {"units": "degrees", "time scale": '"ms"', "torque scale": "torques are in Nmm"}
        right = hints.get(planted.code, "refused") in said.removeprefix("refused")
    seconds = time.perf_counter() - start
    return Outcome(recording.name, mistake, planted.code, said, right, seconds, held_out, clean_held_out)


def measure(recordings: Sequence[Recording], mistakes: Sequence[str]) -> Iterator[Outcome]:
    for recording in recordings:
        for mistake in mistakes:
            yield judge(recording, mistake)


def measure_drawn(recordings: Sequence[Recording], kinds: Sequence[str], draws: int, seed: int) -> Iterator[Outcome]:
    """Plant mistakes with random values; every recording gets all kinds in turn, and is judged without one first."""
    for recording in recordings:
        rng = np.random.default_rng([seed, *recording.name.encode()])
        clean = judge(recording, CLEAN, Planted(recording.robot, _make_table(recording.log), ""))
        yield clean
        order = rng.permutation(len(kinds))
        for k in range(draws if kinds else 0):
            kind = kinds[order[k % len(kinds)]]
            yield judge(recording, kind, DRAWN[kind](rng, recording), clean.held_out)


def print_table(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print the mistakes that were not named rightly, and the share of each kind."""
    table = Table("mistake", "right", "of", "wrong on", box=box.SIMPLE_HEAD)
    for mistake in dict.fromkeys(each.mistake for each in outcomes):
        own = [each for each in outcomes if each.mistake == mistake]
        wrong = [each.recording for each in own if not each.right]
        table.add_row(mistake, str(len(own) - len(wrong)), str(len(own)), ", ".join(wrong))
    console.print(table)
    planted = [each for each in outcomes if each.mistake != CLEAN]
    if planted:
        console.print(f"named rightly: {100.0 * np.mean([each.right for each in planted]):.1f} % of {len(planted)}")


def print_drawn(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print how many drawn mistakes were named, by kind, and how many of them raise the held-out error by a tenth."""
    table = Table("kind", "named", "of", "material: named", "of", "others: named", "of", box=box.SIMPLE_HEAD)

    def add(kind: str, own: Sequence[Outcome]) -> None:
        groups = [own, [each for each in own if each.is_material], [each for each in own if not each.is_material]]
        table.add_row(kind, *(str(n) for group in groups for n in (sum(each.right for each in group), len(group))))

    planted = [each for each in outcomes if each.mistake != CLEAN]
    for kind in dict.fromkeys(each.mistake for each in planted):
        add(kind, [each for each in planted if each.mistake == kind])
    add("all", planted)
    console.print(table)
    clean = [each for each in outcomes if each.mistake == CLEAN]
    accused = [f"{each.recording}: {each.said}" for each in clean if not each.right]
    console.print(f"clean logs accused: {len(accused)} of {len(clean)}", *accused, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Plant mistakes and count which ones are named.")
    parser.add_argument("--only", metavar="PATTERN", default="", help="recordings whose name matches")
    parser.add_argument("--mistake", metavar="PATTERN", default="", help="mistakes whose name matches")
    parser.add_argument("--draws", type=int, default=0, metavar="N", help="mistakes with random values per recording")
    parser.add_argument("--seed", type=int, default=0, help="of the random values")
    parser.add_argument("--seeds", type=int, default=3, help="simulated robots of each kind")
    parser.add_argument("--recorded", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--verbose", action="store_true", help="print every wrong outcome")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parsed = parser.parse_args()
    recordings = [*list_simulated(SIMULATED, parsed.seeds), *(list_recorded() if parsed.recorded else ())]
    recordings = [each for each in recordings if re.search(parsed.only, each.name)]
    mistakes = [each for each in (CLEAN, *MISTAKES) if re.search(parsed.mistake, each)]
    kinds = [each for each in DRAWN if re.search(parsed.mistake, each)]
    drawn = measure_drawn(recordings, kinds, parsed.draws, parsed.seed)
    outcomes = []
    for outcome in drawn if parsed.draws else measure(recordings, mistakes):
        outcomes.append(outcome)
        if parsed.verbose and not outcome.right:
            print(f"{outcome.recording} | {outcome.mistake} | {outcome.said or '-'}", flush=True)
    if parsed.json:
        parsed.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n")
    (print_drawn if parsed.draws else print_table)(outcomes, Console(width=140))


if __name__ == "__main__":
    main()
