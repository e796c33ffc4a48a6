"""Reuse of numerical bases: found again bit by bit, computed again for anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ytheta.identifiability import numeric
from ytheta.identifiability.numeric import NumericalBasis, decode_basis, encode_basis
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot


@pytest.fixture
def computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The robots whose bases were computed, in this order, with a new cache."""
    names: list[str] = []
    compute = numeric.compute_basis

    def compute_basis(robot: Robot, selected: Sequence[str]) -> NumericalBasis:
        names.append(robot.name)
        return compute(robot, selected)

    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path))
    monkeypatch.setattr(numeric, "fingerprint_sources", lambda *_: "sources")
    monkeypatch.setattr(numeric, "compute_basis", compute_basis)
    return names


@pytest.mark.parametrize("name", ["lu-two-link", "five-bar"])
def test_a_basis_is_computed_once(name: str, computed: list[str]) -> None:
    cold = base_parameters(load(name), method="qr", friction=["viscous"])
    warm = base_parameters(load(name), method="qr", friction=["viscous"])
    assert computed == [name]
    assert (warm.independent, warm.selected, warm.gap) == (cold.independent, cold.selected, cold.gap)
    assert warm.K.tobytes() == cold.K.tobytes()
    assert warm.expressions == cold.expressions


def test_other_robots_and_parameters_are_computed(computed: list[str]) -> None:
    robot = load("lu-two-link")
    tilted = replace(robot, gravity=(9.81, 0.0, 0.0))
    longer = robot.with_lengths(**{robot.lengths[0][0]: 0.7})
    requests = [{}, {"friction": ["viscous"]}, {"friction": ["coulomb"]}, {"rotor_inertia": True}]
    for _ in range(2):
        for options in requests:
            base_parameters(robot, method="qr", **options)  # type: ignore[arg-type]
        base_parameters(tilted, method="qr")
        base_parameters(longer, method="qr")
    assert len(computed) == len(requests) + 2


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b'{"K": [[1]], "shape": [2, 2]}', None])
def test_a_damaged_basis_is_computed_again(damage: bytes | None, tmp_path: Path, computed: list[str]) -> None:
    cold = base_parameters(load("lu-two-link"), method="qr")
    (path,) = tmp_path.glob("*.basis")
    content = path.read_bytes()
    if damage is None:
        path.write_bytes(content[:-3])
    else:
        assert decode_basis(damage) is None
        path.write_bytes(damage)
    warm = base_parameters(load("lu-two-link"), method="qr")
    assert len(computed) == 2
    assert warm.K.tobytes() == cold.K.tobytes()
    assert path.read_bytes() == content


def test_unknown_sources_are_not_stored(tmp_path: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric, "fingerprint_sources", lambda *_: None)
    for _ in range(2):
        base_parameters(load("lu-two-link"), method="qr")
    assert len(computed) == 2
    assert not list(tmp_path.glob("*.basis"))


def test_an_empty_basis_keeps_its_shape() -> None:
    basis = decode_basis(encode_basis(NumericalBasis((), np.zeros((0, 7)), (0.0, 1e-300))))
    assert basis is not None
    assert basis.K.shape == (0, 7)
    assert basis.gap == (0.0, 1e-300)
