"""Families of trajectories that the tests of ``excitation`` share."""

from __future__ import annotations

from ytheta.excitation.trajectories import BSpline, Fourier

BASES: dict[str, Fourier | BSpline] = {"fourier": Fourier(8.0, 5), "b-spline": BSpline(8.0, 11)}
