"""Names and texts of a robot in C: valid unique identifiers, and comments that nothing can end."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_PREFIX_LENGTH = 32  # characters
# Names of files that Windows does not accept, with any extension.
_RESERVED_FILES = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}


def make_prefix(text: str) -> str:
    """Return a lower-case identifier from any text; it is the stem of the files and the start of all names.

    It never starts with a digit or an underscore, so that together with a suffix it is neither a keyword nor reserved.
    """
    words = _join_words(text).lower()[:MAX_PREFIX_LENGTH].strip("_")
    if not words:
        return "robot"
    if words[0].isdigit() or words in _RESERVED_FILES:
        return f"robot_{words}"[:MAX_PREFIX_LENGTH].rstrip("_")
    return words


def make_constants(prefix: str, names: Iterable[str], taken: set[str]) -> list[str]:
    """Return one upper-case identifier for each name, different from all others in ``taken``, which is extended."""
    constants = []
    for name in names:
        stem = f"{prefix}_{_join_words(name) or 'unnamed'}".upper()
        constant, number = stem, 2
        while constant in taken:
            constant, number = f"{stem}_{number}", number + 1
        taken.add(constant)
        constants.append(constant)
    return constants


def clean_comment(text: str) -> str:
    """Return any text as one line of printable ASCII that neither ends a comment nor contains trigraphs."""
    line = " ".join(text.split()).replace("²", "^2").replace("·", " ").replace("—", "-").replace("–", "-")
    line = "".join(c if c.isascii() and c.isprintable() and c != "\\" else "_" for c in line)
    line = re.sub(r"\?(?=\?)", "? ", line)
    return re.sub(r"\*(?=/)|/(?=\*)", lambda match: f"{match.group()} ", line)


def _join_words(text: str) -> str:
    """Return the letters and digits of a text, with one underscore in place of everything between them."""
    return "_".join(re.findall(r"[A-Za-z0-9]+", text))
