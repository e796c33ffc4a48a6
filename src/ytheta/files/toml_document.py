"""Parsing TOML: every text that is not a valid document gives an InputError of one sentence."""

from __future__ import annotations

import tomllib
from typing import Any

from ytheta.errors import InputError


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """Return the tables of a TOML document; ``name`` is the name of its file in error messages."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: this is not text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: this is not valid TOML: {error}; correct it") from None
    except RecursionError:
        raise InputError(f"{name}: lists or tables are nested too deeply; flatten them") from None
    except (ValueError, OverflowError):
        raise InputError(f"{name}: a number has too many digits; write it as a float such as 1.5e3") from None
