"""``ytheta export`` as its user meets it: identified models to files, and every kind of bad input."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.command import read_json, refused, ytheta
from tests.support.exported_robots import (
    compute_mujoco_torque,
    compute_pinocchio_torque,
    compute_torque,
    measure_difference,
)
from ytheta.identification.model_file import RecordedStates, read_states


@pytest.fixture(scope="module")
def models(folder: Path) -> Path:
    """A folder with the description arm.urdf, and a model that was identified from it."""
    text = ytheta("export", "lu-two-link", "--to", "urdf", "-o", "arm.urdf", cwd=folder)
    assert (text.returncode, text.stdout) == (0, "arm.urdf\n")
    edited = (folder / "arm.urdf").read_text().replace("</robot>", "  <!-- by the vendor -->\n</robot>")
    (folder / "arm.urdf").write_text(edited)
    assert ytheta("identify", "arm.urdf", "a.npz", "-o", "arm.model.toml", cwd=folder).returncode in (0, 1)
    return folder


def compute_percent(model: yt.Model, torque: np.ndarray, states: RecordedStates) -> float:
    """The difference of torques from those of a model at its states, relative to them, in percent."""
    expected = compute_torque(model.robot, (states.q, states.qd, states.qdd))
    return float(100.0 * np.linalg.norm((expected - torque) * states.used) / np.linalg.norm(expected * states.used))


def test_an_identified_model_as_urdf_starts_from_the_file_beside_it(models: Path, tmp_path: Path) -> None:
    answer = read_json(models, "export", "arm.model.toml", "--to", "urdf", "-o", str(tmp_path / "new.urdf"))
    assert answer["format"] == "urdf"
    assert answer["files"] == [str(tmp_path / "new.urdf")]
    assert "<!-- by the vendor -->" in (tmp_path / "new.urdf").read_text()
    lost = [finding["text"] for finding in answer["findings"]]
    assert any("cannot express the torque offset of joint1, joint2" in text for text in lost)
    model = yt.read_model(models / "arm.model.toml")
    states = read_states(model.table, model.robot)
    assert states is not None
    (error,) = (finding["fields"] for finding in answer["findings"] if finding["code"] == "torque error")
    motion = (states.q, states.qd, states.qdd)
    percents = [
        compute_percent(model, compute_pinocchio_torque(path, model.robot, motion), states)
        for path in (tmp_path / "new.urdf", models / "arm.urdf")
    ]
    assert percents[0] == pytest.approx(error["difference_percent"], rel=1e-6)
    assert percents[1] > 10.0 * percents[0]  # the twin: the description
    assert error["before_percent"] == model.table["fit"]["relative_error_percent"]
    assert error["after_percent"] == pytest.approx(np.hypot(error["before_percent"], percents[0]), rel=1e-6)
    assert error["motion"] == "identification"


def test_an_identified_model_in_every_format(models: Path, tmp_path: Path) -> None:
    model = yt.read_model(models / "arm.model.toml")
    for to, name in (("mjcf", "arm.xml"), ("toml", "arm.toml"), ("friction-table", "arm.csv"), ("c", "code")):
        result = ytheta("export", "arm.model.toml", "--to", to, "-o", str(tmp_path / name), cwd=models)
        assert result.returncode == 0, result.stderr
        assert all(Path(line).is_file() for line in result.stdout.splitlines())
        assert ("torque error" in result.stderr) is (to == "mjcf")  # the others express all of the model
    expected = compute_torque(model.robot)
    assert measure_difference(expected, compute_torque(yt.load(tmp_path / "arm.toml"))) == 0.0
    states = read_states(model.table, model.robot)
    assert states is not None
    torque = compute_mujoco_torque(tmp_path / "arm.xml", model.robot, states=(states.q, states.qd, states.qdd))
    stated = re.search(r"torque error ([\d.]+) % → ([\d.]+) %", (tmp_path / "arm.xml").read_text(encoding="utf-8"))
    assert stated is not None
    after = np.hypot(model.table["fit"]["relative_error_percent"], compute_percent(model, torque, states))
    assert float(stated[2]) == pytest.approx(after, rel=5e-3)  # three digits


def test_what_a_format_cannot_express_is_named(folder: Path, tmp_path: Path) -> None:
    result = ytheta("export", "five-bar", "--to", "mjcf", "-o", str(tmp_path / "a.xml"), "--force", cwd=folder)
    assert result.returncode == 0
    data = read_json(folder, "export", "ur10", "--to", "urdf", "-o", str(tmp_path / "ur10.urdf"), "--force")
    assert all(finding["code"] in ("not written", "torque error") for finding in data["findings"])


def test_nothing_is_overwritten_without_force(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "panda.urdf"
    path.write_text("precious")
    line = refused("export", "panda", "--to", "urdf", "-o", str(path), cwd=folder)
    assert line == f"error: {path} exists; choose another name, or use --force to overwrite it"
    assert path.read_text() == "precious"
    assert ytheta("export", "panda", "--to", "urdf", "-o", str(path), "--force", cwd=folder).returncode == 0
    line = refused("export", str(path), "--to", "urdf", "-o", str(path), "--force", cwd=folder)
    assert "would be overwritten" in line
    (tmp_path / "link.urdf").symlink_to(path)
    assert "would be overwritten" in refused(
        "export", str(path), "--to", "urdf", "-o", str(tmp_path / "link.urdf"), "--force", cwd=folder
    )


def test_bad_input_is_one_sentence(models: Path, tmp_path: Path) -> None:
    def refuse(*arguments: str) -> str:
        return refused("export", *arguments, cwd=models)

    target = str(tmp_path / "new.urdf")
    assert "there is no export format 'udf'; did you mean 'urdf'?" in refuse("panda", "--to", "udf", "-o", target)
    assert "there is no robot 'pandas' in the catalog" in refuse("pandas", "--to", "urdf", "-o", target)
    assert "No such file" in refuse("panda", "--to", "urdf", "-o", "none/none/new.urdf")
    assert "is a folder" in refuse("panda", "--to", "urdf", "-o", str(tmp_path))
    assert "need the extension .toml" in refuse("panda", "--to", "toml", "-o", target)
    for to, extensions in (("urdf", ".urdf or .xml"), ("mjcf", ".xml or .mjcf")):
        for name in ("arm.txt", "arm", "arm.toml"):
            line = refuse("panda", "--to", to, "-o", str(tmp_path / name))
            assert line.endswith(f"{name}: files in {to.upper()} need the extension {extensions}; change the name")
        assert list(tmp_path.iterdir()) == []
    line = refuse("panda", "--to", "urdf", "-o", target, "--precision", "float")
    assert "the format 'urdf' has no setting 'precision'; it has no settings" in line
    line = refuse("puma560", "--to", "urdf", "-o", target)
    assert "'puma560' is not physically consistent" in line
    assert line.endswith("or use --force to export it nevertheless")
    assert "arm.urdf has no joint" in refuse("panda", "--to", "urdf", "-o", target, "--description", "arm.urdf")
    assert "does not exist" in refuse("panda", "--to", "urdf", "-o", target, "--description", "none.urdf")
    assert "has the loop 'q8'" in refuse("walker", "--to", "urdf", "-o", target, "--force")
    assert not Path(target).exists()


def test_models_that_should_not_be_exported_are_refused(models: Path, tmp_path: Path) -> None:
    text = (models / "arm.model.toml").read_text()
    target = str(tmp_path / "new.urdf")

    def refuse(pattern: str, replacement: str) -> str:
        changed, count = re.subn(pattern, replacement, text, count=1, flags=re.MULTILINE)
        assert count == 1
        path = models / "edited.model.toml"
        path.write_text(changed)
        return refused("export", "edited.model.toml", "--to", "urdf", "-o", target, cwd=models)

    assert "update ytheta" in refuse(r'^ytheta = ".*"', 'ytheta = "99.0.0"')
    assert "'ytheta' of its identification is" in refuse(r'^ytheta = ".*"', "ytheta = 3")
    line = refuse(r'^verdict = ".*"', 'verdict = "unusable"')
    assert "is 'unusable'" in line
    assert line.endswith("or use --force to export it nevertheless")
    assert "the key 'covariance' of its identification" in refuse(r"^covariance = ", "covariances = ")
    assert "the key 'value' of parameter 1 of its identification" in refuse(r"value = ", 'value = "a", x = ')
    assert "is not the root of its variance" in refuse(r"\bstd = ", "std = 7")
    half = models / "half.model.toml"
    half.write_text(text[: text.index("covariance") + 40])
    assert "not valid TOML" in refused("export", half.name, "--to", "urdf", "-o", target, cwd=models)
    assert not Path(target).exists()
    (models / "edited.model.toml").write_text(re.sub(r'^verdict = ".*"', 'verdict = "unusable"', text, flags=re.M))
    assert ytheta("export", "edited.model.toml", "--to", "urdf", "-o", target, "--force", cwd=models).returncode == 0


def test_unknown_geometry_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "unset.toml").write_text('format = 1\nextends = "lu-two-link"\n[lengths]\nl1 = "unset"\n')
    arguments = ("export", "unset.toml", "--to", "toml", "-o", str(tmp_path / "a.toml"))
    assert "'l1' of 'lu-two-link' has no value; set it with lengths" in refused(*arguments, cwd=folder)
    assert ytheta(*arguments, "--length", "l1=0.5", cwd=folder).returncode == 0
