"""Mutations of binary logs that keep the rest of the file valid: headers and sizes of NPZ, numbers of Parquet."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutation import ODD_INTEGERS, mutate_bytes

LOCAL_MAGIC, CENTRAL_MAGIC = b"PK\x03\x04", b"PK\x01\x02"
ODD_TYPES = (
    *["<f8", ">f8", "<f4", "<i8", "|b1", "|O", "<c16", "<U5", "<M8[s]", "|V8", "<f16", "x", "<f999999999999", "<i0"],
    "",
)
ODD_SHAPES = (
    *[
        "(1000000000000,)",
        "(-5,)",
        "()",
        "(0,)",
        "(3,0)",
        "(99999,99999,99999)",
        "(True,)",
        "(1.5,)",
        "'a'",
        "(2**3,)",
        "[30]",
        "(30,2)",
        "(30,)",
    ],
    *["None", "(9223372036854775807,2)", "(5,(3,))", "((("],
    f"({70 * '1,'})",
)
ODD_NAMES = (
    *["t.npy", "q.npy", "tau.npy", "q1.npy", "x", "../t.npy", "a/b.npy", "t.npy/", ".npy", "é.npy"],
    300 * "n" + ".npy",
)
MAX_TAIL = 4096  # bytes at the end of a Parquet file that contain its footer


def mutate_npz(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change the header of an array, the name or compression of a member, a field of the archive, or any bytes."""
    match rng.randrange(5):
        case 0 | 1:
            return _rewrite_archive(rng, content)
        case 2:
            return _change_field(rng, content)
        case 3:
            return _change_field(rng, _rewrite_archive(rng, content))
        case _:
            return mutate_bytes(rng, content, others)


def mutate_parquet(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change numbers of the footer or of the headers of pages, or any bytes."""
    changed = bytearray(content)
    first = max(4, len(content) - MAX_TAIL) if rng.random() < 0.7 else 4
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(first, max(first + 1, len(changed) - 8))
        match rng.randrange(6):
            case 0:
                changed[place : place + 1] = _encode_number(rng.choice(ODD_INTEGERS))
            case 1:
                changed[place : place + 1] = bytes([rng.randrange(256)])
            case 2:
                number = _encode_number(rng.choice(ODD_INTEGERS))
                changed[place : place + len(number)] = number
            case 3:
                changed[place] = (changed[place] & 0xF0) | rng.randrange(16)  # the type of a field
            case 4:
                changed[place] ^= 1 << rng.randrange(8)
            case _:
                return mutate_bytes(rng, bytes(changed), others)
    if rng.random() < 0.7:  # with the right length of the footer, damage further inside is reached
        grown = len(changed) - len(content)
        (size,) = struct.unpack("<I", content[-8:-4])
        changed[-8:-4] = struct.pack("<I", max(0, size + grown) & 0xFFFFFFFF)
    return bytes(changed)


def _encode_number(number: int) -> bytes:
    """Encode as in Thrift's compact protocol: seven bits per byte, the lowest first."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


def _rewrite_archive(rng: Random, content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w") as archive:
        members = [(member.filename, source.read(member)) for member in source.infolist()]
        for k in rng.sample(range(len(members)), rng.randint(1, min(2, len(members)))):
            name, data = members[k]
            match rng.randrange(5):
                case 0:
                    members[k] = name, _change_header(rng, data)
                case 1:
                    members[k] = rng.choice(ODD_NAMES), data
                case 2:
                    members[k] = name, mutate_bytes(rng, data, [data])
                case 3:
                    members.append((rng.choice((name, *ODD_NAMES)), data))
                case _:
                    members[k] = name, b""
        for name, data in members:
            kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
            with warnings.catch_warnings(action="ignore"):  # two members with the same name
                archive.writestr(zipfile.ZipInfo(name), data, kind)
    return target.getvalue()


def _change_header(rng: Random, data: bytes) -> bytes:
    """Write another header before the numbers of an array."""
    order = rng.choice(("False", "True", "3", "'C'"))
    kind, shape = rng.choice(ODD_TYPES), rng.choice(ODD_SHAPES)
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    if rng.random() < 0.2:
        text = rng.choice((b"", b"{", b"(" * 300, b"{'shape': (1,)}", b"\xff\xfe", text + b"\0", b"9" * 5000))
    version = rng.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x04\x00", b"\x00\x00"))
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", rng.choice((len(text), len(text), 0, 65535)))
    return b"\x93NUMPY" + version + size + text + data[128:]


def _change_field(rng: Random, content: bytes) -> bytes:
    """Change a field of a local or central header of an archive: flags, method, checksum, sizes, offset."""
    changed = bytearray(content)
    magic, offsets = rng.choice(
        ((LOCAL_MAGIC, (4, 6, 8, 14, 18, 22, 26, 28)), (CENTRAL_MAGIC, (6, 8, 10, 16, 20, 24, 28, 42)))
    )
    places = [k for k in range(len(changed) - 46) if changed[k : k + 4] == magic] if len(changed) < 10_000 else []
    start = rng.choice(places) if places else max(0, content.find(magic))
    place = start + rng.choice(offsets)
    number = struct.pack("<Q", rng.choice((*ODD_INTEGERS, zlib.crc32(content), 9, 12, 14, 95)))
    changed[place : place + rng.choice((2, 4))] = number[: rng.choice((2, 4))]
    return bytes(changed)
