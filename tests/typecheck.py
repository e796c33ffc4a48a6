"""The run-time type checker of the tests: beartype, with whole numbers allowed where floats are asked for."""

from __future__ import annotations

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
