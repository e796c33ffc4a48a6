"""Options that all commands share, and how they print."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command import process, refused, ytheta
from tests.support.urdf_arm import ARM
from ytheta.cli.options import parse_xacro_arguments, print_json
from ytheta.errors import InputError


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("--at", "q5=nan", "write NAME=NUMBER with a finite number"),
        ("--at", "q5=-inf", "write NAME=NUMBER with a finite number"),
        ("--at", "=1", "write NAME=NUMBER"),
        ("--length", "l1=nan", "write NAME=NUMBER with a finite number"),
        ("--length", "self=1", "has no length 'self'"),
        ("--angle", "l1=1", "has no angle 'l1'"),
        ("--angle", "alpha=2*beta", "write NAME=NUMBER with a finite number"),
    ],
)
def test_values_are_finite(option: str, text: str, reason: str) -> None:
    assert reason in refused("inspect", "walker" if option == "--at" else "lu-two-link", option, text)


def test_values_are_given_once() -> None:
    message = refused("inspect", "walker", "--at", "q5=0.7", "--at", "q5=0.8")
    assert "--at 'q5=0.8': 'q5' was already set to 0.7; keep one of the two" in message
    message = refused("inspect", "lu-two-link", "--length", "l1=1", "--length", "l1=1")
    assert "'l1' was already set to 1" in message


@pytest.mark.parametrize("text", ["", " ", ",", " , "])
def test_an_empty_lock_is_refused(text: str) -> None:
    assert "no joint is named; write NAME or NAME=VALUE" in refused("inspect", "ur10", "--lock", text)


def test_xacro_arguments_are_written_as_here_or_as_for_ros() -> None:
    assert parse_xacro_arguments(["hand:=false", "arm_id = fr3", "url:=a=b:=c", "none="]) == {
        "hand": "false",
        "arm_id": "fr3",
        "url": "a=b:=c",
        "none": "",
    }
    for text, reason in {"hand": "write NAME=VALUE", ":=1": "write NAME=VALUE"}.items():
        with pytest.raises(InputError, match=reason):
            parse_xacro_arguments([text])
    with pytest.raises(InputError, match="'hand' was already given"):
        parse_xacro_arguments(["hand:=1", "hand=2"])


def test_names_are_not_markup(tmp_path: Path) -> None:
    text = ARM.replace('name="arm"', 'name="[/x]"').replace('"upper"', '"l[red]k"').replace('"q1"', '":boom:[b]"')
    (tmp_path / "odd.urdf").write_text(text.replace('izz="1"', 'izz="3"'))
    result = ytheta("inspect", "odd.urdf", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("[/x]")
    assert ":boom:[b] R z ─ l[red]k 2 kg" in result.stdout
    assert "l[red]k: triangle inequality violated" in result.stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(r'name = "a\u001b[2Jb\nc"' + "\n[[link]]\nname = 'base'\n")
    result = ytheta("inspect", "odd.toml", cwd=tmp_path)
    assert result.stdout.startswith(r"a\x1b[2Jb\nc")


def test_output_into_a_file_is_wide() -> None:
    command, environment = process("inspect", "panda")
    text = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
    assert text.splitlines()[6] == ytheta("inspect", "panda").stdout.splitlines()[6]
    assert 80 < max(len(line) for line in text.splitlines()) <= 120


def test_json_escapes_what_changes_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x9b31m\u202eb\u2028\u200fé"
    print_json({"name": name})
    text = capsys.readouterr().out
    assert "\\u009b31m\\u202eb\\u2028\\u200fé" in text
    assert json.loads(text) == {"name": name}
