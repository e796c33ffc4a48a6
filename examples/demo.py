"""The whole story of a model in one run, which ``make demo`` starts: from a motion to adaptive control.

Each step prints its command and one line with its result. The folder contains the complete output of all commands
(demo.txt), the logs, the model, its C code and the reports.

    python -m examples.demo -o report
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ytheta as yt
from examples.adaptive_control import compute_tracking_errors, format_tracking_errors
from examples.compare_with_truth import compare, format_design, format_table, read_design, read_page
from examples.mujoco_log import write_logs
from ytheta.identification.model_file import read_identification_table

FRICTION = "viscous,coulomb,offset"
# The torque noise of the simulated drives in Nm, 0.2 % of their limits, in every one of 1000 samples per second.
NOISE = {
    "shoulder_pan_joint": 0.66,
    "shoulder_lift_joint": 0.66,
    "elbow_joint": 0.3,
    "wrist_1_joint": 0.108,
    "wrist_2_joint": 0.108,
    "wrist_3_joint": 0.108,
}
LIMITS = ("--velocity", "2", "--acceleration", "10", "--jerk", "100")
MIN_SPEED = "0.1"  # rad/s; slower samples do not follow Coulomb's law
COMPILE = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
WIDTH = "120"  # characters of the tables
SHOWN_OPTIONS = ("-o", "--to", "--validate")


@dataclass(frozen=True)
class Demo:
    """The steps; each returns its result in one line.

    Attributes
    ----------
    folder    where all files are written
    starts    random starts of the search for a motion
    polished  descents that are continued to convergence
    seconds   duration of the motion for validation
    seed      of the true parameters and of the noise
    """

    folder: Path
    starts: int = 12
    polished: int = 4
    seconds: float = 25.0
    seed: int = 2

    def tell(self) -> Iterator[str]:
        """Carry out the steps, and yield the lines to print."""
        start = time.monotonic()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._output.write_text("")
        steps = (
            ("A motion that reveals the parameters of a UR10 within its limits", self.design()),
            ("MuJoCo moves a UR10 with masses, rotors and friction that its description does not know", self.measure()),
            ("The model, from the measured motion", self.identify()),
            ("Before and after, on motion that was not used for the fit", self.compare_errors()),
            ("The truth, which only a simulation knows", self.compare_parameters()),
            ("The model as C code for a controller", self.export()),
            ("Adaptive control of the same arm in MuJoCo", self.control()),
        )
        for number, (title, lines) in enumerate(steps, start=1):
            yield f"{number}. {title}"
            for line in lines:
                yield f"   {line}"
        yield f"For a browser: {self._file('motion.html')}, {self._file('html')}; all tables: {self._output}"
        yield f"{time.monotonic() - start:.0f} s in all"

    def design(self) -> Iterator[str]:
        """Design a motion."""
        noise = [word for joint, size in NOISE.items() for word in ("--noise", f"{joint}={size}")]
        search = ("--starts", str(self.starts), "--polished", str(self.polished))
        settings = ("--rotor-inertia", "--friction", FRICTION, *search, "--rate", "1000", *noise, *LIMITS)
        files = ("-o", self._file("motion.toml"), "--report", self._file("motion.html"))
        yield from self._run("excite", "ur10", *settings, *files, "--force")
        design = read_page(self._file("motion.html"))
        unchecked = f"; not checked: {'; '.join(design['unchecked'])}" if design["unchecked"] else ""
        kept = "limits are exceeded" if design["violations"] else f"all limits are kept{unchecked}"
        yield f"→ {design['seconds']:g} s from rest to rest, condition number {design['condition_number']:.3g}; {kept}"

    def measure(self) -> Iterator[str]:
        """Simulate the logs."""
        yield "$ python -m examples.mujoco_log ur10 …"
        trajectory = yt.load_trajectory(self._file("motion.toml"))
        write_logs("ur10", self.folder, trajectory=trajectory, seconds=self.seconds, seed=self.seed)
        lengths = f"{trajectory.seconds:g} s for the fit, {self.seconds:g} s of other motion for validation"
        yield f"→ two logs, {lengths}: encoder counts, uneven time stamps, noisy torques"

    def identify(self) -> Iterator[str]:
        """Identify the model."""
        logs = (self._file("fit.parquet"), "--validate", self._file("validate.parquet"))
        files = ("-o", self._file("model.toml"), "--report", self._file("html"))
        yield from self._run(
            "identify", "ur10", *logs, "--friction", FRICTION, "--min-speed", MIN_SPEED, *files, "--force"
        )
        yield f"→ {self._read_model()['reason']}"

    def compare_errors(self) -> Iterator[str]:
        """Compare the torque errors of description and model on the validation log."""
        model, log = self._file("model.toml"), self._file("validate.parquet")
        yield f"$ ytheta predict ur10 {log} …; ytheta predict {model} {log} …"
        settings = ("--cutoff", self._read_model()["cutoff"], "--min-speed", MIN_SPEED, "--json")
        results = [json.loads(self._call_ytheta("predict", source, log, *settings)) for source in ("ur10", model)]
        errors = [result["relative_error_percent"] for result in results]
        worst = [max(result["per_joint_percent"]) for result in results]
        yield (
            f"→ torque error {errors[0]:.3g} % with the description, {errors[1]:.2g} % with the model; "
            f"worst joint {worst[0]:.3g} % and {worst[1]:.2g} %"
        )

    def compare_parameters(self) -> Iterator[str]:
        """Compare the parameters with the true ones."""
        model, truth = self._file("model.toml"), self._file("truth.json")
        yield f"$ python -m examples.compare_with_truth {model} {truth} …"
        comparison = compare(model, truth)
        *table, summary = format_table(comparison)
        self._record("\n".join([*table, format_design(comparison, read_design(self._file("motion.html")))]))
        yield f"→ {summary}"

    def export(self) -> Iterator[str]:
        """Export C code, compile it, and run its self-test."""
        folder = self.folder / "ur10_c"
        yield from self._run("export", self._file("model.toml"), "--to", "c", "-o", folder, "--force")
        compiler = shutil.which("cc")
        if compiler is None:
            yield f"→ {folder}/ur10.c, ur10.h and a self-test; it was not compiled, since there is no C compiler cc"
            return
        program = folder / "selftest"
        sources = sorted(str(path) for path in folder.glob("*.c"))
        self._call([compiler, *COMPILE, *sources, "-o", str(program), "-lm"])
        checks = self._call([str(program)]).splitlines()
        yield f"→ compiled by cc without warnings; self-test {checks[-1]}: {len(checks) - 1} results as in Python"

    def control(self) -> Iterator[str]:
        """Control the arm, with and without the model."""
        model, truth = self._file("model.toml"), self._file("truth.json")
        yield f"$ python -m examples.adaptive_control {model} {truth}"
        yield f"→ {format_tracking_errors(*compute_tracking_errors(model, truth))}"

    @property
    def _output(self) -> Path:
        return self.folder / "demo.txt"

    def _file(self, suffix: str) -> Path:
        return self.folder / f"ur10.{suffix}"

    def _read_model(self) -> dict[str, Any]:
        table = read_identification_table(self._file("model.toml"))
        if table is None:
            raise SystemExit(f"{self._file('model.toml')} is not an identified model")
        return dict(table)

    def _run(self, *arguments: object) -> Iterator[str]:
        """Run a command of ytheta; yield its command line, without settings."""
        words = [str(argument) for argument in arguments]
        shown = [k for k, word in enumerate(words) if word in SHOWN_OPTIONS]
        kept = sorted({0, 1, *shown, *(k + 1 for k in shown), *((2,) if words[0] == "identify" else ())})
        yield f"$ ytheta {shlex.join(words[k] for k in kept)}{' …' if len(kept) < len(words) else ''}"
        self._call_ytheta(*words)

    def _call_ytheta(self, *arguments: object) -> str:
        words = [str(argument) for argument in arguments]
        return self._call([sys.executable, "-m", "ytheta", *words], shown=f"ytheta {shlex.join(words)}")

    def _call(self, command: list[str], *, shown: str | None = None) -> str:
        """Run a program, record its output, and return what it printed; stop if it fails."""
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": WIDTH})
        self._record(f"$ {shown or shlex.join(command)}\n{result.stdout}{result.stderr}")
        if result.returncode:
            raise SystemExit(
                f"{shown or shlex.join(command)}\nended with exit code {result.returncode}: see {self._output}"
            )
        return result.stdout

    def _record(self, text: str) -> None:
        with self._output.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Design, measure, identify, export and control, in one run.")
    parser.add_argument("-o", "--output", type=Path, default=Path("report"), metavar="FOLDER")
    for line in Demo(parser.parse_args().output).tell():
        print(line, flush=True)


if __name__ == "__main__":
    main()
