"""Exchanged joints are named, and the remedy, typed into a mapping, mends them."""

from __future__ import annotations

import re
import tomllib

import numpy as np

import ytheta as yt
from tests.support.diagnosis_runs import simulate_run
from ytheta.identification.assessment.suspects import list_permutations
from ytheta.identification.finding_codes import CONTRADICTIONS


def test_the_remedy_of_exchanged_joints_mends_them() -> None:
    run = simulate_run("ur10")
    motion, order = run.motion, [2, 1, 0, 3, 4, 5]
    assert motion.tau is not None
    table = {"t": motion.t}
    for k, column in enumerate(order):
        table[f"q{k + 1}"], table[f"tau{k + 1}"] = motion.q[:, column], motion.tau[:, column]
    wrong = yt.identify(run.robot, yt.read_log(table, run.robot))
    (finding,) = (finding for finding in wrong.findings if finding.code in CONTRADICTIONS)
    assert finding.code == "joint order"
    assert finding.names == (run.robot.actuated[0], run.robot.actuated[2])
    entries = "\n".join(re.findall(r"(?:q|tau) = \[[^]]*\]", finding.remedy))
    mapping = {"columns": tomllib.loads(entries)}
    mended = yt.identify(run.robot, yt.read_log(table, run.robot, mapping=mapping))
    assert not any(finding.code in CONTRADICTIONS for finding in mended.findings)
    assert mended.fit.relative_percent < 0.2 * wrong.fit.relative_percent


def test_orders_are_permutations_without_repetition() -> None:
    orders = {tuple(order) for order in list_permutations(("b", "a", "d", "c"))}
    assert len(orders) == len(list_permutations(("b", "a", "d", "c")))
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert (0, 1, 2, 3) not in orders
    assert (1, 0, 3, 2) in orders  # by name
    assert tuple(np.arange(4)[::-1]) in orders
