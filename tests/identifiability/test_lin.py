"""Theorem 2 of Lin against published counts, the rank of regressors on random motions, and its own printed form."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import ytheta
from tests.support import example_robots
from tests.support.base_checks import explains, published_counts, regressors
from tests.support.driven_robots import coupled_robot
from tests.support.formulation_cases import fork, robot_without_joints
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from tests.support.serial_arms import GRAVITY_DOWN, NO_GRAVITY, RULES, P, R, X, Y, Z, arm
from tests.support.vendor_urdfs import gen3
from ytheta.errors import InputError, UnsetLengthError
from ytheta.files.lengths import Scalar, symbol
from ytheta.identifiability import lin
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.modified_dh import TOLERANCE
from ytheta.robot.parts import Joint, Link
from ytheta.robot.robot import Robot

CATALOG = (
    "ha-scara",
    "iiwa14",
    "lu-puma4",
    "lu-two-link",
    "panda",
    "puma560",
    "puma560-mdh",
    "rx90",
    "stanford",
    "ur10",
)
URDFS = ("ur10_robot.urdf", "tiago_no_hand.urdf", "talos_left_arm.urdf", "finger_edu.urdf", "xarm7.urdf", "solo12.urdf")


def bases(robot: Robot) -> tuple[ytheta.BaseParameters, ytheta.BaseParameters]:
    """Without and with rotor inertia."""
    return lin.base_parameters(robot), lin.base_parameters(robot, rotor_inertia=True)


def counts(robot: Robot) -> tuple[int, int]:
    without, with_rotors = bases(robot)
    return len(without), len(with_rotors)


def motions(robot: Robot) -> np.ndarray:
    """Pinocchio's regressors of enough random motions to see every parameter, with columns for the rotors."""
    size, names = len(robot.movable), robot.parameter_names
    count = 40 + 4 * len(names) // size
    q, qd, qdd = np.random.default_rng(5).uniform(-2.0, 2.0, (3, count, size))
    twin = peer(robot)
    Y = np.zeros((count, size, len(names)))
    for sample in range(count):
        Y[sample, :, : twin.carry.shape[1]] = twin.regressor(q[sample], qd[sample], qdd[sample])
    for k, joint in enumerate(robot.movable):
        Y[:, k, names.index(f"{joint.name}.Ia")] = qdd[:, k]
    return Y


def rank(Y: np.ndarray, base: ytheta.BaseParameters) -> int:
    """The rank of the columns asked about, with a gap that leaves no doubt."""
    asked = [name in base.selected for name in base.robot.parameter_names]
    W = Y.reshape(-1, Y.shape[2])[:, asked]
    sizes = np.linalg.norm(W, axis=0)
    felt = sizes > 1e-12 * sizes.max()
    values = np.linalg.svd(np.linalg.qr(W[:, felt] / sizes[felt], mode="r"), compute_uv=False)
    assert not ((values > 1e-11) & (values < 1e-6)).any(), "no clear gap: another geometry would tell more"
    return int(np.count_nonzero(values > 1e-6))


def ranks(robot: Robot) -> tuple[int, int]:
    Y = motions(robot)
    without, with_rotors = (rank(Y, base) for base in bases(robot))
    return without, with_rotors


def right(robot: Robot) -> bool:
    """All motions are explained, without and with rotor inertia, by as many parameters as the rank; so by no fewer."""
    Y = motions(robot)
    for base in bases(robot):
        asked = np.where([name in base.selected for name in robot.parameter_names], Y, 0.0)
        if len(base) != rank(Y, base) or not explains(asked, base, base.K):
            return False
    return True


# --- counts and spans -----------------------------------------------------------------------------------------------


def test_published_counts(shared_data: Path) -> None:
    rows = published_counts(shared_data)
    assert {row.name: counts(row.robot) for row in rows} == {row.name: (row.rigid, row.with_rotors) for row in rows}
    assert len(rows) >= 10


@pytest.mark.parametrize("name", [*CATALOG, *URDFS])
def test_it_explains_every_motion_and_nothing_less_does(name: str) -> None:
    assert right(ytheta.load(example_robots.urdf(name)) if name.endswith(".urdf") else ytheta.load(name))


@pytest.mark.parametrize("name", ["stanford", "ha-scara"])
def test_no_base_parameter_can_be_left_out(name: str) -> None:
    """On our own kernel."""
    base = lin.base_parameters(ytheta.load(name), rotor_inertia=True)
    Y = regressors(base.robot, base.selected)
    assert explains(Y, base, base.K)
    for row in range(len(base)):
        fewer = base.K.copy()
        fewer[row] = 0.0
        assert not explains(Y, base, fewer)


def test_all_of_the_catalog_is_taken_or_refused_for_a_reason() -> None:
    names = {path.stem for path in (Path(ytheta.__file__).parent / "robot" / "catalog").glob("*.toml")}
    assert {name for name in names if lin.accepts(ytheta.load(name)) is None} == set(CATALOG)


def test_rounded_angles_give_the_textbook_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "gen3.urdf"
    file.write_text(gen3())
    assert counts(ytheta.load(file)) == (43, 48)
    rounded = ytheta.load(file, snap=0.0)
    with pytest.raises(InputError, match=r"but for less than 2e-05, .*; method qr takes it"):
        lin.base_parameters(rounded)
    monkeypatch.setattr(lin, "ROUNDED", TOLERANCE)  # the twin: rules that trust rounded angles count them
    assert len(lin.base_parameters(rounded)) > 43


@st.composite
def trees(draw: st.DrawFn, *, serial: bool) -> Robot:
    """Arms and trees with parallel, perpendicular and skew axes, zero offsets, slides, loads and any gravity."""
    angle = st.sampled_from([0.0, 0.0, math.pi / 2, -math.pi / 2, math.pi, 0.7])
    offset = st.sampled_from([0.0, 0.0, 0.3, -0.5])
    axis = st.sampled_from([Z, Z, Z, X, (0.0, 0.6, 0.8)])
    count = draw(st.integers(1, 6 if serial else 5))
    joints: list[Joint] = []
    for k in range(1, count + 1):
        parent = k - 1 if serial else draw(st.integers(0, k - 1))
        normal = Frame.turn(X, draw(angle)) @ Frame.shift(draw(offset))
        own = Frame.turn(Z, draw(angle)) @ Frame.shift(z=draw(offset))
        seat = draw(st.sampled_from([Frame(), Frame.shift(0.3, -0.2, 0.4) @ Frame.from_rpy(0.4, math.pi / 2, 0.1)]))
        kind = draw(st.sampled_from([R, R, P]))
        above = f"link{parent}" if parent else "base"
        joints.append(Joint(f"joint{k}", kind, above, f"link{k}", normal @ own, draw(axis), seat))
    gravity = draw(st.sampled_from([GRAVITY_DOWN, (0.0, 9.81, 0.0), (-9.81, 0.0, 0.0), NO_GRAVITY, NO_GRAVITY, (2.0, 3.0, -9.0)]))
    robot = Robot("drawn", (Link("base"), *(Link(joint.child) for joint in joints)), tuple(joints), gravity=gravity)
    if draw(st.booleans()):
        return robot
    return robot.with_load(Inertia(), on=draw(st.sampled_from(robot.links)).name, frame=Frame.shift(0.1, 0.2, 0.3))


@given(trees(serial=True))
@settings(max_examples=25)
def test_drawn_arms(robot: Robot) -> None:
    assert right(robot)


@given(trees(serial=False))
@settings(max_examples=25)
def test_drawn_trees(robot: Robot) -> None:
    assert right(robot)


def test_branches_and_loads() -> None:
    assert right(fork())


def test_the_unit_of_length_does_not_matter() -> None:
    """The same arm in kilometres and in micrometres: lengths are small only against one another."""
    arms = [arm((R, Z, (0, 0, h)), (P, X, (h, 0, 0)), (R, Y, (h, 0, h)), (R, Y, (0, h, 0))) for h in (1e-6, 0.3, 1e3)]
    assert len({counts(robot) for robot in arms}) == 1
    assert len({lin.base_parameters(robot, rotor_inertia=True).independent for robot in arms}) == 1


# --- the rules one by one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    robot, rigid, with_rotors = RULES[rule]
    assert counts(robot) == (rigid, with_rotors)
    assert ranks(robot) == (rigid, with_rotors)


def test_a_wrong_rule_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins: delta always 1, sigma always 1, no meeting point, rotors that always or never merge."""

    def broken(place: str, value: object, robot: Robot) -> bool:
        with monkeypatch.context() as change:
            change.setattr(lin, place, value) if place.startswith("_") else change.setattr(lin._Geometry, place, value)
            try:
                return not right(robot)
            except ArithmeticError:
                return True

    assert broken("gravity_along", lambda *_: False, RULES["vertical axis"][0])
    assert broken("gravity_along", lambda *_: True, RULES["horizontal axis"][0])
    assert broken("parallel", lambda *_: True, RULES["square s"][0])
    assert broken("perpendicular", lambda *_: True, RULES["skew s"][0])
    assert broken("gravity_across", lambda *_: True, RULES["lift"][0])
    assert broken("meet", lambda *_: True, RULES["parallel"][0])
    assert broken("_meeting", lambda *_: None, RULES["meeting axes"][0])
    assert not broken("_meeting", lambda *_: None, RULES["meeting axes, weight"][0])


def test_mounting_is_seen() -> None:
    upright = ytheta.load("ur10")
    assert counts(upright) == (36, 40)
    assert counts(replace(upright, mounting=Frame.turn(Y, math.pi / 2))) == (38, 42)
    assert counts(replace(upright, gravity=(9.81, 0.0, 0.0))) == (38, 42)
    assert counts(replace(upright, gravity=NO_GRAVITY)) == (34, 38)


# --- the paper's own form -------------------------------------------------------------------------------------------


def named(robot: Robot) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in lin.minimal_combinations(robot):
        found.setdefault(each.link, []).append(each.name)
    return found


def test_the_stanford_arm() -> None:
    """The paper's example: r = 1, s = 2, joint 3 slides."""
    robot = ytheta.load("stanford")
    free = ["U33", "U11-U22", "U12", "U13", "U23", "kx", "ky"]
    expected = {"link1": ["U33"], "link3": ["m", "kx", "ky", "kz"]} | {f"link{k}": free for k in (2, 4, 5, 6)}
    assert named(robot) == expected


def test_slides_between_r_and_s() -> None:
    assert named(RULES["slide skew to r"][0]) == {"link1": ["U33"], "link2": ["m", "kappa1", "kappa2"]}
    kappa1, kappa2 = lin.minimal_combinations(RULES["slide across r"][0])[2:]
    # z of the joint frame along x of the link, so u_r = z across it: (86) is ± m y, (87) is m x.
    names = RULES["slide across r"][0].parameter_names
    assert {name: abs(e) for name, e in zip(names, kappa1.row, strict=True) if e != 0} == {"link2.my": 1}
    assert {name: e for name, e in zip(names, kappa2.row, strict=True) if e != 0} == {"link2.mx": 1}


def test_the_paper_s_constants_of_a_two_link_arm() -> None:
    robot = RULES["parallel"][0]
    written = {
        (each.link, each.name): {n: e for n, e in zip(robot.parameter_names, each.row, strict=True) if e != 0}
        for each in lin.minimal_combinations(robot, rotor_inertia=True)
    }
    assert written == {
        ("link1", "U33"): {"link1.Izz": 1, "link2.Izz": 1, "link2.m": 0.25, "joint1.Ia": 1},
        ("link2", "U33"): {"link2.Izz": 1},
        ("link2", "kx"): {"link2.mx": 1},
        ("link2", "ky"): {"link2.my": 1},
        ("link2", "Ia"): {"joint2.Ia": 1},
    }


def test_rows_of_k_and_of_theorem_2_span_the_same() -> None:
    robot = ytheta.load("stanford")
    K = lin.base_parameters(robot).K
    rows = np.array([each.row for each in lin.minimal_combinations(robot)], dtype=float)
    assert np.linalg.matrix_rank(np.concatenate([K, rows])) == len(K) == len(rows)


# --- symbolic lengths -----------------------------------------------------------------------------------------------


def test_two_links_in_words() -> None:
    robot = ytheta.load("lu-two-link")
    base = lin.base_parameters(robot)
    assert set(base.expressions) == {
        "link1.Izz + l1^2·link2.m + l1^2·load.m",
        "link1.mx + l1·link2.m + l1·load.m",
        "link1.my",
        "link2.Izz + l2^2·load.m + 2·l2·load.mx + load.Izz",
        "link2.mx + l2·load.m + load.mx",
        "link2.my + load.my",
    }


def test_scara_in_words() -> None:
    robot = ytheta.load("ha-scara")
    base = lin.base_parameters(robot)
    assert set(base.expressions) == {
        "link1.Izz + a1^2·link1.m + 2·a1·link1.mx + a1^2·link2.m",
        "link2.mx + a2·link2.m + link3.mx",
        "link2.my + link3.my",
        "link2.Izz - a2^2·link2.m + link3.Izz",
        "link3.m + link4.m",
        "link4.mx",
        "link4.my",
        "link4.Izz",
    }


def without_values(robot: Robot) -> Robot:
    return replace(robot, lengths=tuple((name, None) for name, _ in robot.lengths))


@pytest.mark.parametrize("name", ["lu-two-link", "ha-scara"])
def test_lengths_without_values_stay_symbols(name: str) -> None:
    known = ytheta.load(name)
    base = lin.base_parameters(without_values(known))
    assert base.expressions == lin.base_parameters(known).expressions
    with pytest.raises(UnsetLengthError):
        _ = base.K


def symbolic() -> Robot:
    """Rotations that are no quarter turns, a slide, seats, and lengths everywhere."""
    a, b, c = symbol("a"), symbol("b"), symbol("c")
    places: list[Frame] = [
        Frame.shift(a, 0.0, b),
        Frame.turn(X, 0.7) @ Frame.shift(b + 0.2, a, c * 0.3),
        Frame.turn(Y, math.pi / 3) @ Frame.shift(c, 0.1, a - b),
        Frame.turn(X, -math.pi / 2) @ Frame.shift(a * 2.0, c, 0.0),
    ]
    seats = [Frame(), Frame.shift(0.0, c, 0.1) @ Frame.turn(X, 0.3), Frame(), Frame.shift(a, b, c)]
    joints = tuple(
        Joint(f"joint{k}", kind, f"link{k - 1}" if k > 1 else "base", f"link{k}", place, Z, seat)
        for k, (kind, place, seat) in enumerate(zip((R, R, P, R), places, seats, strict=True), start=1)
    )
    links = (Link("base"), *(Link(f"link{k}") for k in range(1, 5)))
    return Robot("symbolic", links, joints, lengths=(("a", 0.4), ("b", -0.3), ("c", 0.9)))


def agree(symbols: ytheta.BaseParameters, numbers: ytheta.BaseParameters) -> bool:
    return symbols.independent == numbers.independent and np.allclose(symbols.K, numbers.K, rtol=0.0, atol=1e-12)


def test_symbols_and_numbers_agree() -> None:
    for robot in (symbolic(), ytheta.load("ha-scara"), ytheta.load("lu-two-link")):
        base = lin.base_parameters(robot, rotor_inertia=True)
        assert any(isinstance(entry, sympy.Expr) for entry in base.entries.ravel())
        assert agree(base, lin.base_parameters(robot.numeric, rotor_inertia=True))
        assert right(robot)
        longer = robot.with_lengths(**{robot.lengths[0][0]: 1.3})
        assert not agree(base, lin.base_parameters(longer.numeric, rotor_inertia=True))  # the twin


def test_a_length_of_zero_is_zero() -> None:
    """What a length is worth decides; without a value it is not zero."""
    robot = ytheta.load("ha-scara")
    folded = robot.with_lengths(a1=0.0)
    assert (
        len(lin.base_parameters(folded)) == len(lin.base_parameters(folded.numeric)) < len(lin.base_parameters(robot))
    )
    assert agree(lin.base_parameters(folded), lin.base_parameters(folded.numeric))


def test_axes_that_meet_at_a_symbolic_height() -> None:
    robot = symbolic_wrist()
    base = lin.base_parameters(robot)
    assert len(base) == 6
    assert agree(base, lin.base_parameters(robot.numeric))
    assert right(robot)
    assert any("h·link2.m" in text for text in base.expressions)


def symbolic_wrist() -> Robot:
    h: Scalar = symbol("h")
    joints = (
        Joint("joint1", R, "base", "link1", Frame.shift(0.1, 0.2, 0.3)),
        Joint("joint2", R, "link1", "link2", Frame.shift(h, 0.0, 0.5), X),
    )
    links = (Link("base"), Link("link1"), Link("link2"))
    return Robot("wrist", links, joints, gravity=NO_GRAVITY, lengths=(("h", 0.4),))


@given(robots(loops=False))
@settings(max_examples=15)
def test_drawn_lengths(robot: Robot) -> None:
    """Symbols everywhere: in placements of fixed and moving joints, next to numbers, at odd angles."""
    robot = replace(robot, couplings=(), motors=(), actuated=(), home=())
    if not robot.symbols or lin.accepts(robot) is not None:
        return
    known = robot.with_lengths(**{name: 0.3 + 0.2 * k for k, (name, _) in enumerate(robot.lengths)})
    base = lin.base_parameters(known, rotor_inertia=True)
    assert agree(base, lin.base_parameters(known.numeric, rotor_inertia=True))
    unknown = lin.base_parameters(without_values(robot), rotor_inertia=True)
    assert unknown.expressions == base.expressions


# --- words, time, refusals ------------------------------------------------------------------------------------------


def read_back(text: str, base: ytheta.BaseParameters) -> np.ndarray:
    """The coefficients that an expression stands for, lengths replaced by their values."""
    names = base.robot.parameter_names
    parameters = {name: sympy.Symbol(f"p{k}") for k, name in enumerate(names)}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, parameters[name].name)
    form = sympy.sympify(text.replace("·", "*").replace("^", "**")).subs(dict(base.robot.lengths))
    found = sympy.Poly(form, *parameters.values())
    return np.array([float(found.coeff_monomial(symbol)) for symbol in parameters.values()])


@pytest.mark.parametrize("name", ["lu-puma4", "ha-scara", "lu-two-link"])
def test_words_evaluate_to_k(name: str) -> None:
    base = lin.base_parameters(ytheta.load(name), rotor_inertia=True)
    rows = [read_back(text, base) for text in base.format_expressions(digits=17)]
    np.testing.assert_allclose(rows, base.K, rtol=1e-14)


def test_numbers_need_no_sympy() -> None:
    script = (
        "import sys, ytheta; from ytheta.identifiability import lin; "
        "print(len(lin.base_parameters(ytheta.load('panda'))), 'sympy' in sys.modules, 'casadi' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["43", "False", "False"]


def test_who_is_refused() -> None:
    for robot, reason in (
        (ytheta.load("five-bar"), "closed loops, for which Theorem 2 has no rule; method qr takes it"),
        (ytheta.load("palletiser"), "method qr takes it"),
        (coupled_robot(), "a coupled joint, .*method qr takes it"),
        (robot_without_joints(), "no moving joint"),
    ):
        with pytest.raises(InputError, match=reason):
            lin.base_parameters(robot)
    assert lin.accepts(fork()) is None
