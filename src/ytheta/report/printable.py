"""Text from outside, made safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """A text for one line of a terminal: control characters are spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
