"""Model files that were edited or damaged are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.arm_logs import identified_arm
from tests.support.command import refused
from ytheta.errors import InputError
from ytheta.identification.model_file import read_model, save_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    return save_model(identified_arm(folder)[0], folder / "arm.model.toml")


EDITED = {  # a pattern in the file, its replacement, and the error message
    "cut-off": (r"cutoff = .*", "cutoff = -4", "the cutoff of its identification is -4"),
    "cut-off as text": (r"cutoff = .*", 'cutoff = "ten"', "the cutoff of its identification is 'ten'"),
    "infinite cut-off": (r"cutoff = .*", "cutoff = inf", "the cutoff of its identification is inf"),
    "older min_speed": (r"(cutoff = .*)", r"\1\nslowest = [0.1, 0.1]", "rename this key"),
    "min_speed": (r"min_speed = .*", "min_speed = [-1.0, 0.0]", "min_speed of its identification"),
    "min_speed as text": (r"min_speed = .*", 'min_speed = "slow"', "min_speed of its identification"),
    "min_speed of another length": (
        r"min_speed = .*",
        "min_speed = [0.1, 0.2, 0.3]",
        "min_speed of its identification has 3 numbers, but the robot has 2 actuated coordinates; write one for each",
    ),
    "huge cut-off": (
        r"cutoff = .*",
        "cutoff = 1" + 400 * "0",
        "the cutoff of its identification is an integer of more",
    ),
    "huge min_speed": (r"min_speed = .*", f"min_speed = [1{400 * '0'}, 0]", "min_speed of its identification"),
    "huge value": (r'(name = "link1.mx\*", value = )[^,]+', rf"\g<1>1{400 * '0'}", "parameters is too large"),
    "huge covariance": (r"(covariance = \[\n.*\n    \[)[^,]*", r"\g<1>1e308", "a negative eigenvalue"),
    "tiny variance": (r"(covariance = \[\n    )\[[^]]*\]", r"\1[5e-324]", "a negative eigenvalue"),
    "noise": (r"noise = .*", "noise = [1, 2, 3]", "noise of its identification has 3 numbers"),
    "between_logs": (r"between_logs = .*", "between_logs = [1, 2, 3]", "between_logs of its identification has 3 num"),
    "negative between_logs": (
        r"between_logs = .*",
        "between_logs = [-1.0, 1.0]",
        "between_logs of its identification is a list of 2; write one non-neg",
    ),
    "noise as text": (r"noise = .*", 'noise = ["a"]', "noise of its identification is a list of 1; write one non-neg"),
    "digests": (
        r"log_digests = .*",
        "log_digests = 3",
        "log_digests of its identification is 3; write a list of texts",
    ),
    "digests as numbers": (
        r"log_digests = .*",
        "log_digests = [1]",
        "log_digests of its identification is a list of 1",
    ),
    "rows": (r"log_rows = .*", "log_rows = [[0]]", "log_rows of its identification is a list of 1; write a list of fi"),
    "rows as one number": (r"log_rows = .*", "log_rows = 3", "log_rows of its identification is 3"),
    "friction": (r"friction = \[.*", "friction = 3", "friction of its identification is 3; write a list of names"),
    "rotor inertia": (
        r"(?m)^rotor_inertia = .*",
        "rotor_inertia = []",
        "rotor_inertia .* is a list of 0; write true or fal",
    ),
    "name": (r'name = "link1.mx\*"', 'name = "linc1.mx*"', "no parameter 'linc1.mx[*]'; did you mean 'link1.mx'"),
    "name twice": (r'name = "link2.mx\*"', 'name = "link1.mx*"', "twice"),
    "value": (r'(name = "link1.mx\*", value = )[^,]+', r"\1nan", "the value of link1.mx[*] is not finite"),
    "std": (r'(name = "link1.mx\*".* std = )[^,]+', r"\g<1>0.5", "std of link1.mx[*] is not the root"),
    "std below zero": (r'(name = "link1.mx\*".* std = )[^,]+', r"\1-inf", "std of link1.mx[*] is not the root"),
    "variance": (r"(covariance = \[\n    )\[[^]]*\]", r"\1[-1.0]", "the variance of link1.mx[*] is negative"),
    "covariance that is not finite": (r"(covariance = \[\n    )\[[^]]*\]", r"\1[nan]", "not finite"),
    "covariance with a negative eigenvalue": (
        r"(covariance = \[\n.*\n    \[)[^,]*",
        r"\g<1>9.9",
        "a negative eigenvalue",
    ),
}


@pytest.mark.parametrize("case", EDITED)
def test_edited_models_are_refused(model: Path, tmp_path: Path, case: str) -> None:
    pattern, replacement, message = EDITED[case]
    text, count = re.subn(pattern, replacement, model.read_text(), count=1)
    assert count == 1
    edited = tmp_path / "edited.toml"
    edited.write_text(text)
    with pytest.raises(InputError, match=message):
        read_model(edited)
    if "cut-off" in case or "min_speed" in case:
        assert re.search(message, refused("predict", str(edited), str(model.parent / "b.npz")))
