"""Writing tables as CSV or Parquet. Polars reports a full disk as an error of its own; here it becomes an OSError."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ytheta.files.own_files import MARK

_ERROR_NUMBER = re.compile(r"\(os error (\d+)\)")


def write_table(columns: Mapping[str, Any], path: Path, *, suffix: str, content: str) -> None:
    """Write columns as the format of ``suffix``, ".csv" or ".parquet"; ``content`` is what Parquet's mark says.

    The name of the path itself may be that of a temporary file.
    """
    import polars as pl

    table = pl.DataFrame(dict(columns))
    try:
        if suffix.lower() == ".parquet":
            table.write_parquet(path, metadata={MARK: content})
        else:
            table.write_csv(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        number = _ERROR_NUMBER.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None
