"""Designs of trajectories: condition numbers, expected deviations and time, beside random search of the same time.

20 s at a base frequency of 0.1 Hz, five harmonics, rigid-body base parameters, full speed, limits of the catalog. Run
it on an idle machine; it prints the load that it saw.

    python -m benchmarks.excite --robots panda iiwa14 --friction
    python -m benchmarks.excite --robots panda --seconds 5 --seeds 1        # a short run

Random search keeps the same limits, but not the clearances, which makes it easier.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import ytheta as yt
from ytheta.excitation.constraints import Constraints, RobotKernels
from ytheta.excitation.criteria import MotionInformation, PlainCondition
from ytheta.excitation.solver import Design, Exploration
from ytheta.excitation.trajectories import Fourier, RestToRest

CRITERIA = ("balanced", "plain", "scaled")
FRICTION = ("viscous", "coulomb", "offset")


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    robot: str
    what: str
    columns: str
    plain: float
    scaled: float
    mean: float
    worst: float
    slow: float
    seconds: float
    first_seconds: float
    feasible: str
    violations: int


def design(name: str, criterion: str, seed: int, **options: Any) -> tuple[Line, yt.Excitation]:
    result = yt.excite(yt.load(name), criterion=criterion, rng=seed, **options)
    assert result.design is not None
    compared, work = result.relative_to_d_optimal, result.design.statistics
    line = Line(
        name,
        f"{criterion}, seed {seed}",
        result.columns,
        result.condition_number,
        result.scaled_condition_number,
        math.nan if compared is None else compared.mean,
        math.nan if compared is None else compared.worst,
        result.slowed[-1].condition_number,
        work.seconds,
        work.first_seconds,
        f"{work.feasible} of {work.starts}",
        len(result.violations),
    )
    return line, result


def search_randomly(name: str, result: yt.Excitation, seconds: float) -> Line:
    """Draw random trajectories within the same limits for the same time; keep the best of each number."""
    base = result.base
    constraints = Constraints(result.bounds, RobotKernels(yt.load(name), base))
    bounds, period = result.bounds, result.trajectory.basis.period
    space = RestToRest(bounds.joints, Fourier(period, 5), 2, bounds.middle, bounds.half_range, False, 100)
    conditioning = MotionInformation.unweighted(len(bounds.joints), len(base))
    drawing = Exploration(Design(space, constraints, PlainCondition(conditioning)), seed=0)
    begin, count, best = time.monotonic(), 0, np.full(2, np.inf)
    while time.monotonic() - begin < seconds:
        candidate = drawing.draw(count)
        count += 1
        if candidate is not None:
            grams = drawing.design.compute_grams(space.build(candidate.x)).sum(axis=0)
            scale = 1.0 / np.sqrt(np.diag(grams))
            pair = np.sqrt([np.linalg.cond(grams), np.linalg.cond(grams * scale[:, None] * scale)])
            best = np.minimum(best, pair)
    nan = math.nan
    what = f"random, best of each of {count}"
    return Line(name, what, "", best[0], best[1], nan, nan, nan, seconds, nan, f"{count} of {count}", 0)


def measure(robots: list[str], *, friction: bool, seeds: int, seconds: float | None) -> Iterator[Line]:
    for name in robots:
        for seed in range(seeds):
            line, result = design(name, "balanced", seed, time_limit=seconds)
            yield line
            if seed == 0:
                yield search_randomly(name, result, line.seconds)
            for criterion in CRITERIA[1:]:
                yield design(name, criterion, seed, time_limit=seconds)[0]
            if friction:
                yield design(name, "balanced", seed, time_limit=seconds, friction=FRICTION)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", default=["panda", "iiwa14"])
    parser.add_argument("--friction", action="store_true", help="also with friction columns")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="number of random seeds, beginning with 0")
    parser.add_argument("--seconds", type=float, metavar="S", help="time limit of each design; by default none")
    arguments = parser.parse_args()
    heads = ("robot", "criterion", "columns", "plain", "scaled", "mean std / D", "worst std / D", "plain at 25 %")
    table = Table(*heads, "s", "first s", "feasible", "violations", box=box.SIMPLE_HEAD)
    console = Console(width=200)
    options = {"friction": arguments.friction, "seeds": arguments.seeds, "seconds": arguments.seconds}
    for line in measure(arguments.robots, **options):
        numbers = (line.plain, line.scaled, line.mean, line.worst, line.slow, line.seconds, line.first_seconds)
        texts = [f"{value:.3g}" if math.isfinite(value) else "" for value in numbers]
        table.add_row(line.robot, line.what, line.columns, *texts, line.feasible, str(line.violations))
        console.print(f"{line.robot} {line.what}: {line.plain:.4g}; {line.scaled:.4g} in {line.seconds:.1f} s")
    console.print(table)
    console.print(f"load average {', '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
