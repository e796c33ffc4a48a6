"""The public function: formats, options and existing files."""

from __future__ import annotations

from pathlib import Path

import pytest

import ytheta as yt
from ytheta.errors import InputError, UnknownNameError
from ytheta.exporting.export import FORMATS, find_format


@pytest.mark.parametrize("name", ["rust", "C", ""])
def test_an_unknown_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="there is no export format"):
        yt.export("ur10", to=name, path=tmp_path / "arm")


def test_options_of_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"for 'c', give COptions\(…\) or None"):
        yt.export("ur10", to="c", path=tmp_path / "arm", options=yt.CasadiOptions())


def test_existing_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "arm.casadi"
    options = yt.CasadiOptions(functions=("gravity",))
    path.write_bytes(b"mine")
    with pytest.raises(InputError, match="exists"):
        yt.export("lu-two-link", to="casadi", path=path, options=options)
    assert path.read_bytes() == b"mine"
    yt.export("lu-two-link", to="casadi", path=path, options=options, force=True)
    assert path.read_bytes() != b"mine"


def test_a_wrong_path_is_refused() -> None:
    with pytest.raises(InputError, match="the path of the export is empty"):
        yt.export("ur10", to="c", path="")


def test_every_format_has_options_and_a_writer() -> None:
    for form in map(find_format, FORMATS):
        form.options()
        assert callable(form.render)
