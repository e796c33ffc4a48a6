"""The payload of a recorded pair of logs, against the figures that were published for it."""

from __future__ import annotations

import pytest

import ytheta as yt
from tests.support.paths import SHARED_DATA

FOLDER = SHARED_DATA / "ur10e"
PUBLISHED = 3.08  # kg, by a joint fit of both logs with the same torque constants; the payload weighs 2.805 kg
WEIGHED = 2.805


@pytest.mark.skipif(not FOLDER.exists(), reason=f"the shared logs {FOLDER} are not there")
def test_the_payload_of_the_ur10e() -> None:
    logs = [FOLDER / f"ur10e_50s_14harm_{kind}.parquet" for kind in ("loaded", "unloaded")]
    estimate, known = (
        yt.identify_payload(FOLDER / "ur10e.urdf", logs[0], unloaded=logs[1], rows=(307, 5071), mass=mass)
        for mass in (None, WEIGHED)
    )
    unscaled = yt.identify_payload(FOLDER / "ur10e.urdf", logs[0], unloaded=logs[1], rows=(307, 5071), torque_scale=0.0)
    assert estimate.mass == pytest.approx(PUBLISHED, rel=0.01)
    assert estimate.verdict.solved
    assert abs(estimate.mass - WEIGHED) < 1.96 * estimate.std[0]  # the scale of the torques is part of it
    assert abs(estimate.mass - WEIGHED) > 1.96 * unscaled.std[0]  # the twin: torque constants count as exact
    assert estimate.after.relative_percent < 0.15 * estimate.before.relative_percent
    assert estimate.mass != pytest.approx(WEIGHED, rel=0.01)  # the twin: torque constants are 10 % off, and it shows
    assert [finding for finding in known.findings if finding.code == "mass"]
