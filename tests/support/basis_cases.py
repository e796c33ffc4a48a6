"""Families of trajectories that the tests of ``excitation`` share."""

from __future__ import annotations

from ytheta.excitation.trajectories.b_spline import BSpline
from ytheta.excitation.trajectories.fourier import Fourier

BASES: dict[str, Fourier | BSpline] = {"fourier": Fourier(8.0, 5), "b-spline": BSpline(8.0, 11)}
