"""Table I of Ha, Ko and Kwon: the estimators on the printed model of a SCARA robot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import smooth_motion
from ytheta.identifiability import ha
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimator import get_estimator
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.papers.ha1989 import SYMMETRIC
from ytheta.robot.inertia import Inertia

TABLE = np.array([5.0, 1.0, 1.0, 2.5, 1.0, 0.3, 0.7, 0.7, 3.0, 0.3, 0.3, 0.5, 0.3, 0.3])


def evaluate_printed_regressor(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return U of (59) and (60), as printed."""
    U = np.zeros((len(q), 4, 14))
    (v1, v2, v3, v4), (a1, a2, a3, a4), C2, S2 = qd.T, qdd.T, np.cos(q[:, 1]), np.sin(q[:, 1])
    U[:, 0, 0], U[:, 0, 3], U[:, 0, 11] = a1, a2, a4
    U[:, 0, 4] = -2 * v1 * v2 * S2 - v2**2 * S2 + (2 * a1 + a2) * C2
    U[:, 0, 5] = -2 * v1 * v2 * C2 - v2**2 * C2 - (2 * a1 + a2) * S2
    U[:, 1, 3], U[:, 1, 4], U[:, 1, 5] = a1 + a2, a1 * C2 + v1**2 * S2, -a1 * S2 + v1**2 * C2
    U[:, 1, 11], U[:, 2, 8], U[:, 3, 11] = a4, a3 - 9.8, a1 + a2 + a4
    for joint, (first, rate) in enumerate(zip((1, 6, 9, 12), (v1, v2, v3, v4), strict=True)):
        U[:, joint, first], U[:, joint, first + 1] = rate, np.sign(rate)
    return U


@pytest.mark.parametrize("name", ["sequential", "lin", "least-squares"])
def test_table_1_without_measurement_errors(name: str) -> None:
    """From torques of the printed model, the estimators find the values of the table; the description has no masses."""
    scara = ytheta.load("ha-scara")
    grouped = ha.regroup_lagrangian(scara, zero=SYMMETRIC)
    massless = scara.with_inertias({link.name: Inertia() for link in scara.links})
    base = ytheta.base_parameters(massless, friction=("viscous", "coulomb"))
    motion = smooth_motion(4, 400)
    U = evaluate_printed_regressor(motion.q, motion.qd, motion.qdd)

    def identify_table(truth: np.ndarray) -> np.ndarray:
        source = ArraySource(replace(motion, tau=U @ truth), 100.0)
        beta = get_estimator(name).fit(EstimationProblem(Differential(base), (source,))).beta
        names, lengths = scara.parameter_names, {name: float(value or 0.0) for name, value in scara.lengths}
        X = np.zeros((sum(grouped.counts), len(names)))
        for row, combination in zip(X, (c for joint in grouped.combinations for c in joint), strict=True):
            for parameter, powers, factor in combination.terms:
                product = math.prod(lengths[symbol] ** power for symbol, power in powers)
                row[names.index(parameter)] += float(factor) * product
        unit = np.eye(len(names))
        forms = np.concatenate([base.K, unit[[names.index(p) for p in SYMMETRIC]]])
        C = np.linalg.lstsq(forms.T, X.T, rcond=None)[0].T
        np.testing.assert_allclose(C @ forms, X, atol=1e-12)
        combinations = iter(C[:, : len(base)] @ beta)
        friction = [[beta[base.names.index(f"joint{i}.{p}")] for p in ("fv", "fc")] for i in (1, 2, 3, 4)]
        return np.concatenate(
            [[*(next(combinations) for _ in range(n)), *friction[i]] for i, n in enumerate(grouped.counts)]
        )

    np.testing.assert_allclose(identify_table(TABLE), TABLE, rtol=1e-9)
    other = TABLE * np.linspace(0.9, 1.1, 14)
    np.testing.assert_allclose(identify_table(other), other, rtol=1e-9)
    assert not np.allclose(identify_table(other), TABLE, rtol=1e-3)
