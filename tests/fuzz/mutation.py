"""Mutations of inputs: bytes, words and lines of any text, elements of XML.

Every function takes a random generator, the content and the contents of other seeds, and returns the changed content.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]

CHANGES = (1, 1, 1, 2, 3)  # of one input; after many, a reader sees only the first of them
MAX_SIZE = 1 << 20  # bytes of an input
NUMBER = re.compile(rb"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
QUOTED = re.compile(rb'"[^"\n]*"|\'[^\'\n]*\'')
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")
ELEMENT = re.compile(rb"<(\w+)\b[^<>]*?/>|<(\w+)\b[^<>]*>")
ATTRIBUTE = re.compile(rb"\s([\w:]+)=(\"[^\"]*\"|'[^']*')")
ODD_NUMBERS = (
    *b"0 -0.0 1 -1 2 0.5 1e-9 1e6 -1e6 1e-300 5e-324 1e-310 1e150 1e200 -1e200 1e300 -1e300 1.7e308 1e15 1e18".split(),
    *b"nan inf -inf +inf NaN 1e309 1e400 9223372036854775807 9223372036854775808 -9223372036854775809".split(),
    *b"1000000000000 0x7fffffff 0b1 1_000 1__0 1. .5 1,5 pi -pi/2 pi*1e300 3.14159265 1.5708 0.1.2 1e 1e+".split(),
    *"１ ٣ ½ −1 1e３".encode().split(),
    b"1" + 400 * b"0",
    b"0." + 400 * b"0" + b"1",
    5000 * b"9",
)
ODD_WORDS = (
    *b"true false null none unset auto [] {} [[]] [1,2] {a=1} '' \"\" 1979-05-27 07:32:00 name lambda".split(),
    *b"../../x /etc/passwd package://x file:///etc/passwd &amp; &lt; &#0; %s {} {0} __import__".split(),
    *b"\x00 \xff \xef\xbb\xbf \xed\xa0\x80".split(),
    *"é ℓ 関節 \u202e \U0001f916 \u2028".encode().split(),
    3000 * b"a",
    200_000 * b"x",
    600 * b"[",
    600 * b"(",
    600 * b"<a>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    50 * b"\n",
)
ODD_INTEGERS = (
    0,
    1,
    127,
    128,
    255,
    256,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


def mutate_bytes(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change bytes without regard to their meaning."""
    changed = bytearray(content or b"\0")
    for _ in range(rng.choice(CHANGES)):
        first = rng.randrange(len(changed) + 1)
        last = min(len(changed), first + rng.choice((1, 1, 2, 4, 8, 64, 1024)))
        match rng.randrange(8):
            case 0:
                if changed:
                    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            case 1:
                changed[first:last] = rng.randbytes(last - first)
            case 2:
                del changed[first:last]
            case 3:
                changed[first:first] = changed[first:last] * rng.choice((1, 1, 2, 50))
            case 4:
                changed[first:first] = rng.randbytes(rng.choice((1, 4, 16)))
            case 5:
                number = struct.pack("<Q", rng.choice(ODD_INTEGERS))[: rng.choice((1, 2, 4, 8))]
                changed[first : first + len(number)] = number if rng.random() < 0.7 else number[::-1]
            case 6:
                other = rng.choice(others)
                start = rng.randrange(len(other) + 1)
                changed[first:last] = other[start : start + rng.choice((8, 64, 512))]
            case _:
                if rng.random() < 0.3:
                    del changed[first:]
        changed = changed[:MAX_SIZE]
    return bytes(changed)


def mutate_text(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change numbers, quoted texts, words and lines; sometimes bytes."""
    for _ in range(rng.choice(CHANGES)):
        match rng.randrange(10):
            case 0 | 1 | 2 | 3:
                content = _replace(rng, content, NUMBER, rng.choice(ODD_NUMBERS))
            case 4:
                content = _exchange(rng, content, QUOTED)
            case 5:
                content = _exchange(rng, content, WORD)
            case 6:
                content = _replace(rng, content, rng.choice((NUMBER, QUOTED, WORD)), rng.choice(ODD_WORDS))
            case 7 | 8:
                content = _change_lines(rng, content, others)
            case _:
                content = mutate_bytes(rng, content, others)
    return content[:MAX_SIZE]


def mutate_xml(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change attributes and elements; sometimes any text."""
    for _ in range(rng.choice(CHANGES)):
        match rng.randrange(9):
            case 0:
                content = _replace(rng, content, ATTRIBUTE, b"")
            case 1:
                content = _exchange(rng, content, ATTRIBUTE)
            case 2:
                content = _change_numbers_of_attribute(rng, content)
            case 3 | 4:
                content = _change_element(rng, content, others)
            case _:
                content = mutate_text(rng, content, others)
    return content[:MAX_SIZE]


def _find_spans(rng: Random, content: bytes, pattern: re.Pattern[bytes], count: int) -> list[tuple[int, int]]:
    """Return the places of some matches, which follow a random place of the content."""
    start = rng.randrange(len(content) + 1)
    spans: list[tuple[int, int]] = []
    while len(spans) < count:
        match = pattern.search(content, start)
        if match is None or match.end() == match.start():
            break
        spans.append(match.span())
        start = match.end() + rng.randrange(200)
        if start > len(content):
            break
    return spans


def _replace(rng: Random, content: bytes, pattern: re.Pattern[bytes], text: bytes) -> bytes:
    for first, last in _find_spans(rng, content, pattern, 1):
        return content[:first] + text + content[last:]
    return content


def _exchange(rng: Random, content: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """Exchange two matches, or copy one over the other."""
    spans = _find_spans(rng, content, pattern, 2)
    if len(spans) < 2:
        return content
    (a, b), (c, d) = spans
    second = content[a:b] if rng.random() < 0.5 else content[c:d]
    return content[:a] + content[c:d] + content[b:c] + second + content[d:]


def _change_lines(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    lines = content.split(b"\n")
    k = rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[k : k + rng.choice((1, 1, 3, 10))]
        case 1:
            lines[k:k] = lines[k : k + rng.choice((1, 1, 5))]
        case 2:
            j = rng.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
        case 3:
            lines[k:k] = rng.choice(rng.choice(others).split(b"\n"))[:500], b""
        case _:
            lines[k] = lines[k].replace(
                *rng.choice(((b"=", b""), (b",", b";"), (b" ", b"\t"), (b"]", b""), (b'"', b"")))
            )
    return b"\n".join(lines)


def _change_numbers_of_attribute(rng: Random, content: bytes) -> bytes:
    """Give a list of numbers another length or the same odd number everywhere."""
    for first, last in _find_spans(rng, content, ATTRIBUTE, 1):
        name, _, value = content[first:last].partition(b"=")
        numbers = value.strip(b"\"'").split()
        odd = rng.choice(ODD_NUMBERS)
        numbers = rng.choice((numbers[:-1], [*numbers, odd], [odd] * len(numbers), [odd, *numbers[1:]], numbers * 300))
        return content[:first] + name + b'="' + b" ".join(numbers) + b'"' + content[last:]
    return content


def _find_element(rng: Random, content: bytes) -> bytes:
    """Return a random element with all that it contains, or nothing."""
    for first, last in _find_spans(rng, content, ELEMENT, 1):
        tag = content[first:last]
        if tag.endswith(b"/>"):
            return tag
        name = WORD.search(tag)
        end = -1 if name is None else content.find(b"</" + name.group() + b">", last)
        if name is not None and end >= 0:
            return content[first : end + len(name.group()) + 3]
    return b""


def _change_element(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Remove, repeat or nest an element, or put one of another file in its place."""
    element = _find_element(rng, content)
    if not element:
        return content
    match rng.randrange(4):
        case 0:
            new = b""
        case 1:
            new = element * rng.choice((2, 2, 5, 40))
        case 2:
            new = _find_element(rng, rng.choice(others))
        case _:
            head = element[: element.find(b">") + 1].replace(b"/>", b">")
            name = WORD.search(head)
            depth = rng.choice((1, 3, 30, 600))
            new = head * depth + element + (b"</" + name.group() + b">" if name else b"") * depth
    return content.replace(element, new, 1)
