"""Arguments of excite whose types are wrong: the type checker of the tests would refuse them earlier."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.design_cases import Floor
from ytheta.errors import InputError
from ytheta.excitation.arguments import check_paths


@pytest.mark.parametrize(("paths", "words"), [([1], "one of paths is 1"), (1, "paths is 1"), ("a", "paths is 'a'")])
def test_path_constraints_have_margins(paths: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(words)}; give a list of constraints"):
        check_paths(paths)
    floor = Floor(4, 0.9)
    assert check_paths([floor]) == (floor,)
