"""Gains that differ between runs: a batch is compared with controllers that have these gains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.simulate_cases import LEARN, PUMA, make_puma_loop, make_slotine_li, sample_starts, swing
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.errors import InputError, UnknownNameError
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors import Sensor, Sensors

FACTORS = {"damping": np.array([1.0, 0.6, 1.7]), "adaptation": np.array([0.5, 2.0, 1.0])}
NOISE = Sensors(q=Sensor(noise=1e-4), qd=Sensor(noise=1e-3, delay=1e-3), qdd=Sensor(noise=0.1), tau=Sensor(noise=0.1))
CRAIG = Craig(PUMA, stiffness=100.0, damping=20.0, filtering=1.0, adaptation=2.0, learn=LEARN)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"sensors": NOISE},
    {"continuous": True},
    {"controller": CRAIG, "sensors": NOISE, "varied": ("load.m",)},
]


class OneStream(np.random.Generator):
    """Returns the stream of one run."""

    def __init__(self, run: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.stream = np.random.default_rng(4).spawn(3)[run]

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        return [self.stream][:n_children]


def _scale_gains(law: Law, run: int) -> Law:
    """Return the law with the gains of a run."""
    return replace(law, **{name: getattr(law, name) * float(factor[run]) for name, factor in FACTORS.items()})


def _compute_difference(batch: Runs, run: int, alone: Runs) -> float:
    names = (
        "q",
        "qd",
        "tau",
        "controller_state",
        "read_q",
        "read_qd",
        "read_tau",
        "final_q",
        "final_controller_state",
        "rms",
    )
    return max(float(np.abs(getattr(batch, name)[run] - getattr(alone, name)[0]).max()) for name in names)


@pytest.mark.parametrize("settings", SETTINGS, ids=["exact", "sensors", "continuous", "craig"])
def test_factors_act_like_gains_of_the_controller(settings: dict[str, Any]) -> None:
    loop = make_puma_loop(**settings)
    loop = replace(loop, varied_gains=(loop.controller.gain_names[0], *FACTORS))
    q, qd = sample_starts(PUMA, 3)
    batch = loop.run(loop.init(q, qd, gains=FACTORS), swing(PUMA), 0.1, rng=np.random.default_rng(4))
    assert batch.finished.all()
    for run in (1, 2):  # each is a kernel of its own
        alone = replace(loop, controller=_scale_gains(loop.controller, run), varied_gains=())  # type: ignore[arg-type]
        initial = alone.init(q[run : run + 1], qd[run : run + 1])
        single = alone.run(initial, swing(PUMA), 0.1, rng=OneStream(run))
        # The same products in another order; torques are of the order of ten.
        assert _compute_difference(batch, run, single) < 1e-12 * 100.0
        if loop.sensors is not None:
            twin = alone.run(initial, swing(PUMA), 0.1, rng=OneStream((run + 1) % 3))
            assert _compute_difference(batch, run, twin) > 1e-5
    initial = replace(loop, varied_gains=()).init(q, qd)
    unscaled = replace(loop, varied_gains=()).run(initial, swing(PUMA), 0.1, rng=np.random.default_rng(4))
    assert np.abs(unscaled.final_q - batch.final_q).max() > 1e-5  # the twin: gains matter


def test_the_plain_loop_agrees_with_a_batch() -> None:
    loop = make_puma_loop(varied_gains=tuple(FACTORS), sensors=NOISE)
    q, qd = sample_starts(PUMA, 3)
    batch = loop.run(loop.init(q, qd, gains=FACTORS), swing(PUMA), 0.1, rng=np.random.default_rng(4))
    law = _scale_gains(make_slotine_li(PUMA, LEARN), 1)
    plain = PlainLoop(plant=OwnPlant.of(PUMA), controller=law, sensors=NOISE)
    slow = plain.run(q[1], qd[1], swing(PUMA), 0.1, rng=OneStream(1))
    assert _compute_difference(batch, 1, slow) < 1e-9


def test_the_default_factor_is_one() -> None:
    q, qd = sample_starts(PUMA, 2)
    loop, plain = make_puma_loop(varied_gains=("damping", "convergence")), make_puma_loop()
    initial = loop.init(q, qd, gains={"convergence": np.array([1.0, 1.1])})
    np.testing.assert_array_equal(initial.factors, [[1.0, 1.0], [1.0, 1.1]])
    scaled = loop.run(initial, swing(PUMA), 0.05)
    unscaled = plain.run(plain.init(q, qd), swing(PUMA), 0.05)
    np.testing.assert_allclose(scaled.final_q[0], unscaled.final_q[0], rtol=0.0, atol=1e-13)
    assert np.abs(scaled.final_q[1] - unscaled.final_q[1]).max() > 1e-6


def test_invalid_factors_are_rejected() -> None:
    q, qd = sample_starts(PUMA, 2)
    with pytest.raises(InputError, match="'damping' is not an input of this closed loop; add it to ``varied_gains``"):
        make_puma_loop().init(q, qd, gains={"damping": np.ones(2)})
    loop = make_puma_loop(varied_gains=("damping",))
    with pytest.raises(InputError, match="damping contains numbers that are not finite"):
        loop.init(q, qd, gains={"damping": np.array([1.0, np.inf])})
    with pytest.raises(InputError, match="factor of damping in run 1 is 0; give one above 0"):
        loop.init(q, qd, gains={"damping": np.array([1.0, 0.0])})
    with pytest.raises(UnknownNameError, match="slotine-li has no gain 'dumping'; did you mean 'damping'"):
        _ = make_puma_loop(varied_gains=("dumping",)).kernel


def test_craig_rejects_factors_as_it_rejects_gains() -> None:
    q, qd = sample_starts(PUMA, 3)
    loop = ClosedLoop(plant=PUMA, controller=CRAIG, varied_gains=("damping", "filtering"))
    loop.init(q, qd, gains={"damping": np.array([1.0, 0.06, 1.0]), "filtering": np.array([1.0, 1.0, 19.0])})
    with pytest.raises(InputError, match=r"damping 1 of 'joint1' in run 1 is not greater than filtering 1: .* proof"):
        loop.init(q, qd, gains={"damping": np.array([1.0, 0.05, 1.0])})
    with pytest.raises(InputError, match=r"damping 20 of 'joint1' in run 2 is not greater than filtering 21"):
        loop.init(q, qd, gains={"filtering": np.array([1.0, 1.0, 21.0])})
    with pytest.raises(InputError, match=r"damping 1 of 'joint1' is not greater than filtering 1"):
        replace(CRAIG, damping=1.0)
