"""Compare identified base parameters with the true ones, and their standard deviations with those of the design.

python -m examples.compare_with_truth report/ur10.model.toml report/ur10.truth.json --design report/ur10.motion.html
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ytheta as yt
from ytheta.identification.model_file import read_identification_table

KINDS = {"Ia": "rotor inertia", "fv": "viscous friction", "fc": "Coulomb friction", "fo": "offset"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Identified and true base parameters; ``std`` are the standard deviations that the model states."""

    names: tuple[str, ...]
    identified: np.ndarray
    std: np.ndarray
    true: np.ndarray

    @property
    def deviations(self) -> np.ndarray:
        """The error of each parameter, in standard deviations."""
        return abs(self.identified - self.true) / self.std

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each parameter, such as Coulomb friction."""
        return np.array([KINDS.get(name.rpartition(".")[2], "links") for name in self.names])


def compare(model: Path, truth: Path) -> Comparison:
    """Compare with K theta, where theta are the true parameters, and K belongs to the description of the robot."""
    table, true = read_identification_table(model), json.loads(truth.read_text())
    if table is None:
        raise SystemExit(f"{model} is not an identified model; write one with ytheta identify -o {model}")
    robot = yt.load(true["robot"])
    base = yt.base_parameters(robot, rotor_inertia=table["rotor_inertia"], friction=table["friction"])
    theta = np.array([true["parameters"][name] for name in robot.parameter_names])
    rows = {row["name"]: row for row in table["parameters"]}
    identified, std = (np.array([rows[name][key] for name in base.names]) for key in ("value", "std"))
    return Comparison(base.names, identified, std, base.K @ theta)


def format_table(comparison: Comparison) -> Iterator[str]:
    """Yield one line for each kind of parameter, with its largest error, and one line for all parameters."""
    z, kinds = comparison.deviations, comparison.kinds
    yield f"{'':18}{'within 2 std':>14}   furthest from the truth"
    for kind in dict.fromkeys(kinds.tolist()):
        rows = np.flatnonzero(kinds == kind)
        k = rows[np.argmax(z[rows])]
        value = f"{comparison.identified[k]:.4g} ± {comparison.std[k]:.2g}, truly {comparison.true[k]:.4g}"
        within_two = f"{(z[rows] <= 2.0).sum()} of {len(rows)}"
        yield f"{kind:18}{within_two:>14}   {comparison.names[k]} {value}: {z[k]:.2g} std off"
    one, two, three = ((z <= limit).sum() for limit in (1.0, 2.0, 3.0))
    yield f"of {len(z)} base parameters {one} are within one std of the truth, {two} within two, {three} within three"


def read_design(page: Path) -> dict[str, float]:
    """Return the expected standard deviations, by name, from the page that ``ytheta excite --report`` wrote."""
    return {row["name"]: row["std"] for row in read_page(page)["parameters"]}


def read_page(page: Path) -> dict[str, Any]:
    """Return the data of a page of ytheta, which are those of ``--json``."""
    found = re.search(r'<script type="application/json" id="ytheta">(.*?)</script>', page.read_text(), re.DOTALL)
    if found is None:
        raise SystemExit(f"{page} is not a page of ytheta; write one with ytheta excite --report {page}")
    data: dict[str, Any] = json.loads(found[1])
    return data


def format_design(comparison: Comparison, expected: Mapping[str, float]) -> str:
    """Return one line: identified standard deviations relative to those that the design promised."""
    pairs = zip(comparison.names, comparison.std, strict=True)
    ratios = np.array([std / expected[name] for name, std in pairs if name in expected])
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    spread = f"half of them between {low:.2f} and {high:.2f}"
    return f"std relative to those that excite expected: median {median:.2f}, {spread}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare an identified model with the true parameters of a simulated arm."
    )
    parser.add_argument("model", type=Path, help="the model written by ytheta identify")
    parser.add_argument("truth", type=Path, help="the truth written by examples.mujoco_log")
    parser.add_argument("--design", type=Path, metavar="HTML", help="the page written by ytheta excite")
    arguments = parser.parse_args()
    comparison = compare(arguments.model, arguments.truth)
    print("\n".join(format_table(comparison)))
    if arguments.design is not None:
        print(format_design(comparison, read_design(arguments.design)))


if __name__ == "__main__":
    main()
