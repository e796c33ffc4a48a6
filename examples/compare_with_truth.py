"""Identified base parameters beside the true ones: how far they are off, in their standard deviations.

python -m examples.compare_with_truth report/ur10.model.toml report/ur10.truth.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ytheta as yt
from ytheta.identification.model_file import read_identification_table

KINDS = {"Ia": "rotor inertia", "fv": "viscous friction", "fc": "Coulomb friction", "fo": "offset"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Base parameters of a model and of the truth; ``std`` is what the model says of its own certainty."""

    names: tuple[str, ...]
    identified: np.ndarray
    std: np.ndarray
    true: np.ndarray

    @property
    def deviations(self) -> np.ndarray:
        """How far each is off, in standard deviations."""
        return abs(self.identified - self.true) / self.std

    @property
    def kinds(self) -> np.ndarray:
        """What each is about."""
        return np.array([KINDS.get(name.rpartition(".")[2], "links") for name in self.names])


def compare(model: Path, truth: Path) -> Comparison:
    """Base parameters of the truth are K theta, with the K of the description that the model was learnt with."""
    table, told = read_identification_table(model), json.loads(truth.read_text())
    if table is None:
        raise SystemExit(f"{model} is no identified model; write one with ytheta identify -o {model}")
    robot = yt.load(told["robot"])
    base = yt.base_parameters(robot, rotor_inertia=table["rotor_inertia"], friction=table["friction"])
    theta = np.array([told["parameters"][name] for name in robot.parameter_names])
    rows = {row["name"]: row for row in table["parameters"]}
    identified, std = (np.array([rows[name][key] for name in base.names]) for key in ("value", "std"))
    return Comparison(base.names, identified, std, base.K @ theta)


def lines(found: Comparison) -> Iterator[str]:
    """A line for each kind of parameter with the one that is furthest off, and one for all."""
    z, kinds = found.deviations, found.kinds
    yield f"{'':18}{'within 2 std':>14}   furthest from the truth"
    for kind in dict.fromkeys(kinds.tolist()):
        own = np.flatnonzero(kinds == kind)
        k = own[np.argmax(z[own])]
        value = f"{found.identified[k]:.4g} ± {found.std[k]:.2g}, truly {found.true[k]:.4g}"
        counted = f"{(z[own] <= 2.0).sum()} of {len(own)}"
        yield f"{kind:18}{counted:>14}   {found.names[k]} {value}: {z[k]:.2g} std off"
    one, two, three = ((z <= limit).sum() for limit in (1.0, 2.0, 3.0))
    yield f"of {len(z)} base parameters {one} are within one std of the truth, {two} within two, {three} within three"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare an identified model with the truth about a simulated arm.")
    parser.add_argument("model", type=Path, help="what ytheta identify wrote")
    parser.add_argument("truth", type=Path, help="what examples.mujoco_log wrote")
    given = parser.parse_args()
    print("\n".join(lines(compare(given.model, given.truth))))


if __name__ == "__main__":
    main()
