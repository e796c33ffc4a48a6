"""Simulated robots of the calibration: consistent bodies, exact derivatives, planted friction and noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulated_robots import RATE, Description, Extra, FrictionLaw

import ytheta as yt
from benchmarks import simulated_robots as simulated
from ytheta.identification.consistency.reference import make_plausible_reference


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_descriptions_are_consistent(name: str) -> None:
    assert not all(link.inertia.consistency() for link in yt.load(name).merged.links[1:])
    assert all(link.inertia.consistency() for link in simulated.load_description(name).links[1:])


def test_a_consistent_inertia_is_not_repaired() -> None:
    inertia = yt.load("ur10").merged.links[2].inertia
    np.testing.assert_allclose(simulated.repair_inertia(inertia, 0.0).vector, inertia.vector, atol=1e-12)


def test_perturbed_links_are_consistent_and_differ_by_a_fifth() -> None:
    rng, inertia = np.random.default_rng(0), simulated.load_description("ur10").links[2].inertia
    perturbed = [simulated.perturb_inertia(inertia, rng) for _ in range(200)]
    assert all(each.consistency() for each in perturbed)
    masses = np.array([each.mass for each in perturbed]) / inertia.mass
    assert 0.8 <= masses.min() < 0.83
    assert 1.17 < masses.max() <= 1.2


@pytest.mark.parametrize("rich", [True, False])
def test_derivatives_of_the_motion(rich: bool) -> None:
    motion = simulated.make_motion(simulated.load_description("stanford"), np.random.default_rng(0), rich=rich)
    for value, derivative in ((motion.q, motion.qd), (motion.qd, motion.qdd)):
        difference = 0.5 * RATE * (value[2:] - value[:-2])
        np.testing.assert_allclose(difference, derivative[1:-1], atol=2e-3 * abs(derivative).max())
        assert abs(difference - 1.01 * derivative[1:-1]).max() > 2e-3 * abs(derivative).max()  # the twin


def test_load_and_rotors_are_added() -> None:
    description = simulated.load_description("ur10")
    robots = {}
    for extra in (False, True):
        rng = np.random.default_rng(3)
        truth = simulated.make_true_robot(
            description, rng, extra=Extra.LOAD if extra else Extra.NOTHING, rotors=extra, law=FrictionLaw.PLAIN
        )
        robots[extra] = truth.robot
    names = {name.rpartition(".")[0] for name in robots[True].parameter_names if name.endswith(".Ia")}
    assert all(dict(robots[True].drives)[name].rotor_inertia > 0.0 for name in names)
    assert all(dict(robots[False].drives)[name].rotor_inertia == 0.0 for name in names)
    heavier = [
        new.name for old, new in zip(robots[False].links, robots[True].links, strict=True) if new.inertia != old.inertia
    ]
    assert len(heavier) == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_gripper_is_at_the_last_link(seed: int) -> None:
    robot = simulated.load_description("iiwa14")
    loaded = simulated.add_extra(robot, Extra.GRIPPER, np.random.default_rng(seed))
    assert [a.name for a, b in zip(robot.links, loaded.links, strict=True) if a.inertia != b.inertia] == ["link7"]
    total = sum(link.inertia.mass for link in robot.links[1:])
    share = (loaded.links[-1].inertia.mass - robot.links[-1].inertia.mass) / total
    lightest, heaviest = simulated.GRIPPER_MASS_SHARES
    assert lightest <= share <= heaviest
    assert loaded.links[-1].inertia.consistency()


@pytest.mark.parametrize("seed", range(4))
def test_descriptions_of_all_kinds(seed: int) -> None:
    robot = simulated.load_description("ur10")
    design, placeholders, scaled = (
        simulated.describe(robot, each, np.random.default_rng(seed))
        for each in (Description.DESIGN, Description.PLACEHOLDERS, Description.WRONG_MATERIAL)
    )
    assert design is robot
    ratios = scaled.theta[: 10 * 6][robot.theta[: 10 * 6] != 0.0] / robot.theta[: 10 * 6][robot.theta[: 10 * 6] != 0.0]
    assert ratios == pytest.approx(ratios[0])
    assert ratios[0] != pytest.approx(1.0, abs=1e-3)
    links = {link.name for link in robot.links[1:]}
    assert make_plausible_reference(placeholders).placeholders == links
    assert make_plausible_reference(scaled).placeholders == frozenset()  # nothing in the file shows it


@pytest.mark.parametrize("law", [FrictionLaw.SQUARE_ROOT, FrictionLaw.LOAD])
def test_planted_friction_brakes(law: FrictionLaw) -> None:
    rng, description = np.random.default_rng(0), simulated.load_description("ur10")
    truth = simulated.make_true_robot(description, rng, rotors=False, law=law)
    motion = simulated.make_motion(description, rng, rich=True)
    added = truth.compute_torque(motion) - yt.inverse_dynamics(truth.robot)(motion.q, motion.qd, motion.qdd)
    assert (added * motion.qd >= 0.0).all()
    assert abs(added).max() > 0.0


def test_load_friction_is_that_of_a_robot() -> None:
    """Rotor inertias belong to the torque on which load-dependent friction of a robot depends."""
    rng, description = np.random.default_rng(0), simulated.load_description("ur10")
    truth = simulated.make_true_robot(description, rng, rotors=True, law=FrictionLaw.LOAD)
    motion = simulated.make_motion(description, rng, rich=True)
    coefficients = dict(zip(truth.robot.actuated, truth.coefficients.tolist(), strict=True))

    def compute_torque(robot: yt.Robot) -> np.ndarray:
        return np.asarray(yt.inverse_dynamics(robot)(motion.q, motion.qd, motion.qdd))

    expected = compute_torque(truth.robot.with_drives(lambda name, drive: replace(drive, load=coefficients[name])))
    np.testing.assert_allclose(truth.compute_torque(motion), expected, rtol=0.0, atol=1e-9 * abs(expected).max())
    assert abs(compute_torque(truth.robot) - expected).max() > 1e-2 * abs(expected).max()  # the twin


def test_noise_has_the_stated_size_and_colour() -> None:
    rng, description = np.random.default_rng(0), simulated.load_description("ur10")
    truth = simulated.make_true_robot(description, rng, rotors=False, law=FrictionLaw.PLAIN)
    motion = simulated.make_motion(description, rng, rich=True, seconds=60.0)
    tau = truth.compute_torque(motion)
    log = simulated.record(truth, motion, rng, colour_time=0.02)
    assert log.tau is not None
    noise = (log.tau - tau) / simulated.compute_rms(tau)
    np.testing.assert_allclose(noise.std(axis=0), np.sqrt(2.0) * 0.01, rtol=0.1)
    lag = round(0.02 * RATE)  # after one time constant, 1/e of the coloured half of the variance remains correlated
    correlation = np.mean(noise[lag:] * noise[:-lag]) / np.mean(noise**2)
    assert correlation == pytest.approx(0.5 * np.exp(-1.0), abs=0.02)
    assert abs(log.q - motion.q).max() <= 0.5001 * simulated.ENCODER_STEP
