"""Identified base parameters beside the true ones: how far they are off, in standard deviations.

    python -m examples.compare_with_truth report/ur10.model.toml report/ur10.truth.json
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ytheta as yt
from ytheta.identify.model_file import read_model


@dataclass(frozen=True, eq=False)
class Comparison:
    """Base parameters of a model and of the truth; ``std`` is what the model says of its own certainty."""

    names: tuple[str, ...]
    identified: np.ndarray
    true: np.ndarray
    std: np.ndarray

    @property
    def deviations(self) -> np.ndarray:
        """How far each is off, in standard deviations."""
        return abs(self.identified - self.true) / self.std

    def within(self, deviations: float) -> int:
        """How many are this near to the truth."""
        return int((self.deviations <= deviations).sum())


def compare(model_file: Path, truth_file: Path) -> Comparison:
    """Base parameters of the truth are K times its standard parameters, with the K of the model."""
    model, truth = read_model(model_file), json.loads(truth_file.read_text())
    kinds, rotors = model.table["friction"], model.table["rotor_inertia"]
    base = yt.base_parameters(model.robot, rotor_inertia=rotors, friction=kinds)
    assert base.names == model.names
    theta = np.array([truth[name] for name in model.robot.parameter_names])
    std = np.array([row["std"] for row in model.table["parameters"]])
    return Comparison(model.names, model.beta, base.K @ theta, std)
