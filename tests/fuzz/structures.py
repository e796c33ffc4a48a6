"""Mutations of structure: depth, keys, tags and declared sizes, which libraries believe before they read anything."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutation import ODD_NUMBERS, ODD_WORDS, mutate_bytes, mutate_text

DEPTHS = (2, 8, 31, 32, 33, 100, 1000, 20_000)
KEYS = ("a", '"a"', "'a'", "a ", "extends", "name", "0", "-", '""')
OPENINGS = (("[", "]"), ("{a = ", "}"), ("[[", "]]"), ("[{a = ", "}]"))
VALUES = (
    *("[]", "{}", "''", "true", "1979-05-27", "07:32:00", "[[]]", "[{}]", "nan", "-inf", "0x0", "'''", '"""', '""""'),
    *('"x.xacro"', '"../x.toml"', '"x.sdf"', "['a', 1]", "[[1, 2], 3]", "{a.b.c = 1}", '"""a"""""'),
)
TAGS = ("timestamp", "int", "float", "bool", "null", "binary", "set", "omap", "pairs", "python/name:os.system", "merge")
SIZES = (0, 1, 2, 30, 31, 10_000, 10_001, 10**6, 10**8, 2**31 - 1, 30 * 10**9, 2**62)
QUOTES = (b',"', b'"', b'""', b'","', b'"\n', b'""",""', b";'", b"\x00", b"\r", b',",\n', b'"a"b', b"\xff\xfe")


def mutate_toml(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change keys, values and depth; otherwise any text."""
    if rng.random() < 0.5:
        return mutate_text(rng, content, others)
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 1, 2))):
        k = rng.randrange(len(lines) + 1)
        depth, key, value = rng.choice(DEPTHS), rng.choice(KEYS), rng.choice(VALUES)
        match rng.randrange(6):
            case 0:
                new = f"{'.'.join([key] * depth)} = {value}"
            case 1:
                new = f"[{'.'.join([key] * depth)}]"
            case 2:
                start, end = rng.choice(OPENINGS)
                new = f"{key} = {start * depth}{value}{end * rng.choice((depth, depth - 1, 0))}"
            case 3:
                new = "\n".join(f"[[{key.strip()}]]\n{key}{j} = {value}" for j in range(rng.choice((1, 3, 300))))
            case 4:
                new = f"{key} = {value}"
            case _:
                line = lines[min(k, len(lines) - 1)].decode("utf-8", "replace")
                name, sign, _ = line.partition("=")
                new = f"{name}{sign} {value}" if sign else f"{line}\n{key} = {value}"
                k = min(k, len(lines) - 1)
                del lines[k]
        lines.insert(k, new.encode())
    return b"\n".join(lines)


def mutate_yaml(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Add tags, anchors, odd scalars and depth; otherwise any text."""
    if rng.random() < 0.5:
        return mutate_text(rng, content, others)
    depth = rng.choice(DEPTHS)
    line = rng.choice(("name_mot", "type", "closed_loop", "joint_name", "a"))
    scalar = rng.choice((*ODD_NUMBERS, *ODD_WORDS, b"1:1:1", b"2001-99-99", b"0o9", b"yes"))[:5000]
    match rng.randrange(6):
        case 0:
            new = f"{line}: !!{rng.choice(TAGS)} ".encode() + scalar
        case 1:
            new = f"{line}: ".encode() + rng.choice((b"[", b"{a: ", b"[{a: ", b"!!set {")) * depth
        case 2:
            new = b"- " * depth + scalar
        case 3:
            new = f"{line}: &x [*x, *x]\n<<: *x".encode()
        case 4:
            new = b"\n".join(b" " * j + b"a:" for j in range(min(depth, 300)))
        case _:
            new = f"? [{line}]\n: ".encode() + scalar
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), new)
    return b"\n".join(lines)


def mutate_table(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change quotes and separators of a text table; otherwise any text."""
    if rng.random() < 0.7:
        return mutate_text(rng, content, others)
    place = rng.randrange(len(content) + 1)
    keep = rng.choice((0, 5, 50, len(content)))
    return (
        content[:place][-keep:] * bool(keep) + rng.choice(QUOTES) * rng.choice((1, 1, 3, 500)) + content[place:][:keep]
    )


def mutate_hdf5(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Add an array whose shape, type and chunks are odd, of which nothing is stored; otherwise change bytes."""
    if rng.random() < 0.5:
        return mutate_bytes(rng, content, others)
    import h5py

    file = io.BytesIO(content)
    try:
        with h5py.File(file, "r+") as archive:
            for _ in range(rng.choice((1, 1, 3, 50))):
                name = rng.choice(("wide", "q", "t", "tau", "run/q", "demo_0/q", "a" * 300))
                if name in archive:
                    del archive[name]
                shape = tuple(rng.choice(SIZES) for _ in range(rng.randint(1, 3)))
                chunks = tuple(max(1, min(size, 10)) for size in shape)
                kind = rng.choice(("f8", "f4", "i8", "u1", "S5"))
                archive.create_dataset(name, shape, chunks=chunks, maxshape=(None,) * len(shape), dtype=kind)
    except (OSError, ValueError, KeyError, RuntimeError, TypeError):  # HDF5 itself refuses some shapes
        return mutate_bytes(rng, content, others)
    return file.getvalue()


def mutate_mat(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change the dimensions that a matrix declares; otherwise change bytes."""
    head = struct.pack("<II", 5, 8)  # the tag of two dimensions: 32-bit integers, eight bytes
    places = [k for k in range(128, len(content) - 16, 8) if content[k : k + 8] == head]
    if not places or rng.random() < 0.5:
        return mutate_bytes(rng, content, others)
    changed = bytearray(content)
    for place in rng.sample(places, rng.randint(1, min(2, len(places)))):
        sizes = [min(rng.choice(SIZES), 2**31 - 1) for _ in range(2)]
        old = struct.unpack_from("<ii", changed, place + 8)
        keep = rng.randrange(3)
        struct.pack_into("<ii", changed, place + 8, *[old[j] if keep == j else sizes[j] for j in range(2)])
    return bytes(changed)
