"""The simulation of fernandez2000 sec. 5: Slotine–Li on a PUMA with six joints and the paper's gains, Fig. 1 to 4.

    python -m examples.fernandez2000_control -o report

The paper gives Lambda = 39, Gamma = 0.075 (its inverse is the gain in (31)) and K_D = 35. It does not give the data of
its PUMA 600, the points of its polynomial trajectories, the initial estimate or the initial position. For Fig. 4 it
refers to another publication. Chosen here:

- the PUMA 560 of the catalog,
- random points half a second apart, with a stop at each point,
- an initial estimate of half of every parameter of the description,
- a start on the reference trajectory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import ytheta as yt
from examples.paper_comparison import Agreement, PaperComparison, Row, evaluate_lyapunov, main, plot_joints, rms
from ytheta.plots import Axis, Line
from ytheta.report.figures_page import Figure
from ytheta.report.line_plot import line_plot
from ytheta.shapes import Float

LAMBDA, GAMMA, K_D = 39.0, 0.075, 35.0  # from the paper
STEP = 5e-4  # s
SECONDS, PLOTTED_SECONDS = 30.0, 8.0  # time plotted in Fig. 4, and in the other figures
POINT_INTERVAL = 0.5  # s, between two points of the trajectory
JOINTS = tuple(f"joint {k}" for k in range(1, 7))
ABOUT = (
    "J. C. Fernández, L. Peñalver, V. Hernández and J. Tornero (2000), section 5. Λ = 39, Γ = 0.075 and K_D = 35 are "
    "from the paper. It does not give the data of its PUMA 600, the points of the trajectory or the initial "
    "estimate. Chosen here: the PUMA 560 of the catalog, random points half a second apart, and an initial estimate of "
    "half of every parameter."
)


def make_point_to_point_reference(
    seed: int, joints: int, seconds: float, *, reach: float = 0.6
) -> yt.ReferenceTrajectory:
    """Return quintic polynomials between random points, one every half second, with a stop at each point."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-reach, reach, (int(seconds / POINT_INTERVAL) + 2, joints))

    def evaluate(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = np.minimum((t / POINT_INTERVAL).astype(int), len(points) - 2)
        s, difference = (t / POINT_INTERVAL - k)[:, None], points[k + 1] - points[k]
        q = points[k] + difference * (10 * s**3 - 15 * s**4 + 6 * s**5)
        qd = difference * (30 * s**2 - 60 * s**3 + 30 * s**4) / POINT_INTERVAL
        return q, qd, difference * (60 * s - 180 * s**2 + 120 * s**3) / POINT_INTERVAL**2

    return evaluate


def make_puma_law(adaptation: float = 1.0 / GAMMA) -> yt.control.SlotineLi:
    """Return the law with 60 unknown parameters, those of the links; friction and rotor inertia are known."""
    return yt.control.SlotineLi(yt.load("puma560"), convergence=LAMBDA, damping=K_D, adaptation=adaptation)


@dataclass(frozen=True, eq=False)
class TrackingRun:
    """A run, its reference trajectory, and its estimates."""

    law: yt.control.SlotineLi
    trajectory: yt.ReferenceTrajectory
    runs: yt.Runs

    @property
    def t(self) -> Float[np.ndarray, "instants"]:
        return self.runs.t

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.trajectory(self.t)

    @cached_property
    def motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, qd and qdd."""
        q, qd = self.runs.q[0], self.runs.qd[0]
        return q, qd, yt.forward_dynamics(self.law.robot)(q, qd, self.runs.tau[0])

    @cached_property
    def base(self) -> tuple[Float[np.ndarray, "instants base"], Float[np.ndarray, "base"]]:
        """Estimated and true base parameters: the combinations of the 60 parameters that have an effect."""
        unknowns = self.law.unknowns
        K = yt.base_parameters(self.law.robot).K[:, list(unknowns.indices)]  # noqa: N806
        return self.runs.estimate[0] @ K.T, K @ unknowns.nominal

    @cached_property
    def lyapunov(self) -> Float[np.ndarray, "instants"]:
        return evaluate_lyapunov(self.law, self.runs, self.reference)

    def rms_error(self, derivative: int, begin: float, end: float) -> float:
        """Return the rms error of q, qd or qdd of all joints between two times."""
        within = (self.t >= begin) & (self.t < end)
        return float(rms((self.motion[derivative] - self.reference[derivative])[within]))


def simulate(law: yt.control.SlotineLi, seconds: float) -> TrackingRun:
    trajectory = make_point_to_point_reference(1, 6, SECONDS, reach=1.2)
    loop = yt.ClosedLoop(plant=law.robot, controller=law, period=STEP, continuous=True)
    q, qd, _ = trajectory(np.zeros(1))
    start = loop.init(q, qd, estimate=0.5 * law.unknowns.nominal[None])
    return TrackingRun(law, trajectory, loop.run(start, trajectory, seconds, every=10))


def compare_with_paper() -> PaperComparison:
    run, twin = simulate(make_puma_law(), SECONDS), simulate(make_puma_law(1e-9), PLOTTED_SECONDS)
    return PaperComparison(
        "fernandez2000: Slotine–Li on a PUMA with six joints",
        ABOUT,
        tuple(_compare_statements(run, twin)),
        (*_make_motion_figures(run), *_make_parameter_figures(run)),
    )


def _compare_statements(run: TrackingRun, twin: TrackingRun) -> Iterator[Row]:
    last = float(run.runs.seconds)
    yield Row(
        "parameters of the links, 10 n",
        "60",
        f"{len(run.law.unknown_names)}, of which {len(run.base[1])} combinations have an effect",
        Agreement.of(agrees=len(run.law.unknown_names) == 60),
    )
    kinds = (("1", "positions", 1e3, "mrad"), ("2", "velocities", 1e3, "mrad/s"), ("3", "accelerations", 1.0, "rad/s²"))
    for derivative, (figure, quantity, scale, unit) in enumerate(kinds):
        first, late, end = (
            scale * run.rms_error(derivative, *times)
            for times in ((0.0, 1.0), (PLOTTED_SECONDS - 1.0, PLOTTED_SECONDS), (last - 1.0, last))
        )
        yield Row(
            f"Fig. {figure}: {quantity} follow",
            "yes, in a figure",
            f"rms {first:.3g}, {late:.2g}, {end:.2g} {unit} in second 1, {PLOTTED_SECONDS:.0f}, {last:.0f}",
            Agreement.of(agrees=late < 0.5 * first and end < 0.1 * first),
            "the data of the robot, the points and the start are not given, so only the kind of result is compared"
            if figure == "1"
            else "",
        )
    late, constant = (1e3 * simulated.rms_error(0, PLOTTED_SECONDS - 1.0, PLOTTED_SECONDS) for simulated in (run, twin))
    yield Row(
        "… because of the adaptation",
        "-",
        f"without it {constant:.2g} instead of {late:.2g} mrad in second {PLOTTED_SECONDS:.0f}",
        Agreement.of(agrees=late < 0.25 * constant),
    )
    error = _compute_base_parameter_error(run)
    yield Row(
        "Fig. 4: parameters converge",
        "yes, in a figure",
        f"base parameters {100 * error[0]:.0f} % off at the start, {100 * error[-1]:.1f} % at the end",
        Agreement.of(agrees=bool(error[-1] < 0.1)),
        f"after {last:.0f} s of exciting motion. The standard parameters do not converge and are "
        f"{100 * _compute_standard_parameter_error(run)[-1]:.0f} % off: "
        f"{len(run.law.unknown_names) - len(run.base[1])} of their combinations have no effect. For this figure, the "
        "paper refers to another publication",
    )
    yield Row(
        "the Lyapunov function falls",
        "proven in its references",
        f"from {run.lyapunov[0]:.3g} to {run.lyapunov[-1]:.3g} without a rise",
        Agreement.of(agrees=bool((np.diff(run.lyapunov) <= 0.0).all())),
    )


def _compute_base_parameter_error(run: TrackingRun) -> np.ndarray:
    estimate, truth = run.base
    return np.linalg.norm(estimate - truth, axis=1) / np.linalg.norm(truth)


def _compute_standard_parameter_error(run: TrackingRun) -> np.ndarray:
    truth = run.law.unknowns.nominal
    return np.linalg.norm(run.runs.estimate[0] - truth, axis=1) / np.linalg.norm(truth)


def _make_motion_figures(run: TrackingRun) -> Iterator[Figure]:
    plotted = run.t <= PLOTTED_SECONDS
    kinds = (
        ("positions", "position", "rad"),
        ("velocities", "velocity", "rad/s"),
        ("accelerations", "acceleration", "rad/s²"),
    )
    for k, (title, quantity, unit) in enumerate(kinds):
        values, reference = run.motion[k][plotted], run.reference[k][plotted]
        yield Figure(
            f"Fig. {k + 1}: {title} and references",
            "Dashed: the reference. Below: the error.",
            plot_joints(
                run.t[plotted],
                values,
                JOINTS,
                Axis(quantity, unit),
                reference=reference,
                below=(values - reference, Axis("error")),
            ),
        )
    yield Figure(
        "Torques",
        "Not in the paper.",
        plot_joints(run.t[plotted], run.runs.tau[0][plotted], JOINTS, Axis("torque", "N m")),
    )


def _make_parameter_figures(run: TrackingRun) -> Iterator[Figure]:
    estimate, truth = run.base
    names = yt.base_parameters(run.law.robot).names
    largest = np.argsort(-np.abs(truth))[:6]
    yield Figure(
        "Fig. 4: inertial parameters converge",
        "The six largest base parameters, each divided by its true value. All start at half of it.",
        line_plot(
            run.t,
            [
                *(Line(names[k], estimate[:, k] / truth[k]) for k in largest),
                Line("true", np.ones(len(run.t)), dashed=True, colour=7),
            ],
            [Axis("estimate / truth")],
        ),
    )
    yield Figure(
        "Fig. 4: distance from the truth",
        "Norm of the error divided by the norm of the truth. Torques depend on 36 combinations of the 60 parameters. "
        "The estimates of these combinations converge, those of the single parameters cannot.",
        line_plot(
            run.t,
            [
                Line("36 base parameters", _compute_base_parameter_error(run)),
                Line("60 standard parameters", _compute_standard_parameter_error(run)),
            ],
            [Axis("relative distance", log=True)],
        ),
    )
    yield Figure(
        "Lyapunov function", "It never rises.", line_plot(run.t, [Line("V", run.lyapunov)], [Axis("V", log=True)])
    )


if __name__ == "__main__":
    main(compare_with_paper, "fernandez2000.html")
