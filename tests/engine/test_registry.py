"""Engines by name: errors for wrong names and options."""

from __future__ import annotations

import sys

import pytest

from ytheta.engine.local import Local
from ytheta.engine.registry import open_engine
from ytheta.errors import InputError, MissingExtraError, UnknownNameError


def test_wrong_names_and_options_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no engine 'dusk'; did you mean 'dask'"):
        open_engine("dusk")
    with pytest.raises(InputError, match=r"the running cluster .* has its own number of threads; leave threads out"):
        open_engine("dask://127.0.0.1:8786", threads=2)
    with pytest.raises(InputError, match="threads is 2, but the engine is already open"):
        open_engine(Local(), threads=2)
    with pytest.raises(InputError, match="threads is 0"):
        open_engine("dask", threads=0)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[dask\]'"), open_engine("dask"):
        pass
