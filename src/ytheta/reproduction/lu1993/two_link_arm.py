"""The arm of lu1993 III-C at random states in rational numbers: its Jacobians, regressors and recursion.

The angles have rational sines and cosines, and lengths, gravity and parameters are rational, too. The formulations
accept any scalar, so that their results at these states are exact.

Notation      code      paper                                meaning
              COLUMNS   theta = [m2, m3, m3 px, m3 px², Izz] the columns that the example keeps
              A, Pi     A tilde of (82), Pi tilde of (84)    force and moment per unit of each parameter
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations import lagrange, newton_euler
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS, L
from ytheta.dynamics.mechanism import Mechanism, Motion, build_mechanism
from ytheta.dynamics.vectors import array, dot, skew, zeros
from ytheta.robot.reading.load import load
from ytheta.shapes import Shaped

SIXTEEN = len(SIXTEEN_PARAMETERS)
LINK1, LINK2, LOAD = range(3)  # bodies
LOAD_COLUMNS = [SIXTEEN * LOAD + SIXTEEN_PARAMETERS.index(name) for name in ("m", "mpx", "mpxpx", "Izz")]  # (62)
COLUMNS = [SIXTEEN * LINK2, *LOAD_COLUMNS]
STATES = 3
LARGEST_NUMBER = 40  # of numerators and denominators

Matrix: TypeAlias = Shaped[np.ndarray, "_ _"]


@dataclass(frozen=True, eq=False)
class TwoLinkArm:
    """The arm at one state; ``values`` has the values of all names in the printed formulas."""

    values: Mapping[str, Any]

    @cached_property
    def mechanism(self) -> Mechanism:
        l1, l2, g = (self.values[name] for name in ("l1", "l2", "g"))
        arm = build_mechanism(load("lu-two-link"))
        link1, link2, held = arm.bodies
        bodies = (link1, replace(link2, p=array([l1, 0, 0])), replace(held, p=array([l2, 0, 0])))
        return replace(arm, bodies=bodies, gravity=array([0, -g, 0]))

    @cached_property
    def motion(self) -> Motion:
        return self.move(self._pick("qd"), self._pick("qdd"))

    def move(self, qd: np.ndarray, qdd: np.ndarray) -> Motion:
        """Return a motion with the same angles."""
        return Motion(self._pick("q"), self._pick("c"), self._pick("s"), qd, qd, qdd)

    @property
    def without_gravity(self) -> Mechanism:
        return replace(self.mechanism, gravity=zeros(3))

    @property
    def theta(self) -> Shaped[np.ndarray, "5"]:
        """The parameter vector of the example."""
        m2, m3, px, Izz = (self.values[name] for name in ("m2", "m3", "px", "Izz"))
        return array([m2, m3, m3 * px, m3 * px**2, Izz])

    # --- closed form, section III ------------------------------------------------------------------------------------

    def jacobian(self, link: str) -> Matrix:
        return lagrange.link_jacobian(self.mechanism, self.motion, link)

    @cached_property
    def center_jacobian(self) -> Matrix:
        """The Jacobian of the load's centre of mass: of a frame that is p_x further along the same axis."""
        *links, held = self.mechanism.bodies
        moved = replace(held, p=held.p + array([self.values["px"], 0, 0]))
        return lagrange.link_jacobian(replace(self.mechanism, bodies=(*links, moved)), self.motion, "load")

    @cached_property
    def regressor(self) -> Matrix:
        return lagrange.regressor_sixteen(self.mechanism, self.motion)

    @cached_property
    def inertial_part(self) -> Matrix:
        """The columns of H q̈."""
        motion = self.move(zeros(2), self._pick("qdd"))
        return lagrange.regressor_sixteen(self.without_gravity, motion)[:, COLUMNS]

    @cached_property
    def inertia_columns(self) -> tuple[Matrix, ...]:
        """The columns of H e_1 and of H e_2: their rows are h_11 and h_12, and h_12 and h_22."""
        units = array(np.eye(2, dtype=int))
        motions = [self.move(zeros(2), unit) for unit in units]
        return tuple(lagrange.regressor_sixteen(self.without_gravity, motion)[:, COLUMNS] for motion in motions)

    @cached_property
    def velocity_part(self) -> Matrix:
        """Y_c: the columns of C q̇."""
        return lagrange.regressor_sixteen(self.without_gravity, self.move(self._pick("qd"), zeros(2)))[:, COLUMNS]

    @cached_property
    def gravity_part(self) -> Matrix:
        """Y_G: the columns of G."""
        return lagrange.regressor_sixteen(self.mechanism, self.move(zeros(2), zeros(2)))[:, COLUMNS]

    @cached_property
    def momentum(self) -> Matrix:
        """W of (30), sixteen columns per body."""
        return self.widen(lagrange.momentum(self.mechanism, self.motion))

    @cached_property
    def remainder(self) -> Matrix:
        """Y hat of (47), sixteen columns per body."""
        return self.widen(lagrange.remainder(self.mechanism, self.motion))

    def widen(self, ten: Matrix) -> Matrix:
        """Return sixteen columns per body instead of ten."""
        return dot(ten, array(np.kron(np.eye(len(self.mechanism.bodies)), L).astype(int)))

    # --- recursion, section IV ---------------------------------------------------------------------------------------

    @cached_property
    def _recursion(self) -> tuple[list[Matrix], list[Matrix]]:
        """A tilde and Pi tilde of every body, sixteen columns per body."""
        poses, twists = newton_euler.propagate_outward(self.mechanism, self.motion)
        A, Pi = ([zeros(3, SIXTEEN * len(twists)) for _ in twists] for _ in range(2))
        for i in reversed(range(len(twists))):
            block = slice(SIXTEEN * i, SIXTEEN * (i + 1))
            force, moment = newton_euler.compute_sixteen_columns(twists[i])
            A[i][:, block], Pi[i][:, block] = force, moment  # (78), (80)
            if i + 1 < len(twists):
                R, p = poses[i + 1]
                A[i] = A[i] + dot(R, A[i + 1])  # (82)
                Pi[i] = Pi[i] + dot(R, Pi[i + 1]) + dot(skew(p), dot(R, A[i + 1]))  # (84)
        return A, Pi

    def force_columns(self, body: int) -> Matrix:
        """A tilde of a body."""
        return self._recursion[0][body]

    def moment_columns(self, body: int) -> Matrix:
        """Pi tilde of a body."""
        return self._recursion[1][body]

    @cached_property
    def recursive_regressor(self) -> Matrix:
        return newton_euler.regressor_sixteen(self.mechanism, self.motion)

    def _pick(self, name: str) -> np.ndarray:
        return array([self.values[f"{name}{k}"] for k in (1, 2)])


def draw_arms(seed: int = 0) -> list[TwoLinkArm]:
    """Return the arm at random states, with random lengths, gravity and parameters."""
    rng = np.random.default_rng(seed)
    return [TwoLinkArm(_draw_values(rng)) for _ in range(STATES)]


def _draw_values(rng: np.random.Generator) -> dict[str, Any]:
    import sympy

    def draw() -> Any:
        return sympy.Rational(*(int(number) for number in rng.integers(1, LARGEST_NUMBER, 2)))

    names = ("l1", "l2", "g", "px", "m2", "m3", "Izz", "qd1", "qd2", "qdd1", "qdd2")
    values = {name: draw() for name in names}
    for k in (1, 2):
        half = draw()  # tan(q/2)
        cos, sin = (1 - half**2) / (1 + half**2), 2 * half / (1 + half**2)
        values |= {f"q{k}": 2 * sympy.atan(half), f"c{k}": cos, f"s{k}": sin}
    c1, s1, c2, s2 = (values[name] for name in ("c1", "s1", "c2", "s2"))
    values |= {"c12": c1 * c2 - s1 * s2, "s12": s1 * c2 + c1 * s2}
    return values
