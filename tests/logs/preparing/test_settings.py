"""Settings of a preparation: single arguments replace single defaults."""

from __future__ import annotations

import pytest

from ytheta.errors import InputError
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, PreparationSettings, merge_settings


def test_arguments_replace_single_settings() -> None:
    assert merge_settings(None) == DEFAULT_SETTINGS
    assert merge_settings(None, cutoff=None, derivative=None) == DEFAULT_SETTINGS
    assert merge_settings(None, cutoff=5.0) == PreparationSettings(cutoff=5.0)
    fitted = PreparationSettings(cutoff=7.0, derivative="spline")
    assert merge_settings(None, defaults=fitted, cutoff=5.0) == PreparationSettings(cutoff=5.0, derivative="spline")
    assert merge_settings(DEFAULT_SETTINGS, defaults=fitted, cutoff=None) == DEFAULT_SETTINGS
    with pytest.raises(InputError, match=r"cutoff is given as an argument and in settings; .*\(cutoff=5\.0\)"):
        merge_settings(DEFAULT_SETTINGS, cutoff=5.0)
    with pytest.raises(InputError, match="cutoff is -5; give a positive number of Hz"):
        merge_settings(None, cutoff=-5.0)
