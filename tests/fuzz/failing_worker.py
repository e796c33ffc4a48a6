"""A worker with a reader that fails in every way that a campaign has to notice, one input after the other."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from pathlib import Path
from random import Random
from unittest import mock

from tests.fuzz import readers, worker
from tests.fuzz.outcomes import MAX_MEMORY
from ytheta.errors import InputError

NUMBERS = itertools.count()
DEADLY_PREDECESSOR = 4  # the worker that has read this input dies before it begins with the next


def _count(_rng: Random, _content: bytes, _others: object) -> bytes:
    """Return the next number: the inputs are made one after the other."""
    number = next(NUMBERS)
    if number == DEADLY_PREDECESSOR + 1 != jobs[0][2]:
        os.abort()
    return str(number).encode()


def _fail(path: Path) -> object:
    match int(path.read_bytes()):
        case 0:
            raise KeyError("foreign")
        case 1:
            time.sleep(60.0)
        case 2:
            try:
                return bytes(100 * MAX_MEMORY)
            except MemoryError:
                raise InputError("too large") from None
        case 3:
            os.abort()
        case 4:
            return None
    raise InputError("refused")


if __name__ == "__main__":
    jobs = json.loads(sys.argv[3])
    NUMBERS = itertools.count(jobs[0][2])
    reader = readers.Reader("failing", "number", _count, _fail, 1)
    with mock.patch.dict(readers.READERS, {"failing": reader}):
        worker.main(Path(sys.argv[1]), int(sys.argv[2]), jobs)
