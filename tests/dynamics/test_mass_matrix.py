"""The mass matrix by composite bodies, against Pinocchio."""

from __future__ import annotations

import pytest

from tests.support.formulation_cases import ALL_ROBOTS, link_parameters, load
from tests.support.pinocchio_peer import peer
from tests.support.states import close, state
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.dynamics.rigid_body import mass_matrix


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_mass_matrix_equals_pinocchio(name: str) -> None:
    robot = load(name)
    mech = build_mechanism(robot)
    q, qd, qdd = state(mech.joints)
    M = mass_matrix(mech, numeric_motion(q, qd, qdd), link_parameters(mech))
    assert close(M, peer(robot).mass_matrix(q))


def test_a_twin_with_other_inertias_fails() -> None:
    mech = build_mechanism(load("panda"))
    q, qd, qdd = state(mech.joints)
    M = mass_matrix(mech, numeric_motion(q, qd, qdd), 1.001 * link_parameters(mech))
    assert not close(M, peer(load("panda")).mass_matrix(q))
