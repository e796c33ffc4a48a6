"""The engines by name."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ytheta.engine.dask import connect_cluster, start_cluster
from ytheta.engine.engine import Engine
from ytheta.engine.local import Local, choose_workers
from ytheta.errors import InputError, UnknownNameError, suggest_names

NAMES = ("local", "dask", "dask://HOST:PORT")
SCHEMES = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}


def open_engine(name: str | Engine = "local", *, threads: int | None = None) -> AbstractContextManager[Engine]:
    """Open an engine for a ``with`` block, which ends the threads or processes that it starts.

    An engine that is already open is used as it is. "local": threads of this process. "dask": processes of this
    machine, one thread each. "dask://HOST:PORT", or with Dask's own schemes "tcp://HOST:PORT" or "tls://HOST:PORT": a
    running cluster. ``threads``: the number of threads or processes of this machine, by default all its processors.
    """
    if not isinstance(name, str):
        if threads is not None:
            raise InputError(f"{threads} threads with an engine that is already open; give threads when it is opened")
        return nullcontext(name)
    if name == "local":
        return nullcontext(Local(threads))
    if name == "dask":
        return start_cluster(choose_workers(threads))
    scheme, _, address = name.partition("://")
    if scheme not in SCHEMES:
        raise UnknownNameError(f"there is no engine {name!r}{suggest_names(name, NAMES)}")
    if not address:
        raise InputError(f"the engine {name!r} has no address; give one such as dask://10.0.0.5:8786")
    if threads is not None:
        raise InputError(
            f"{threads} threads with the engine {name!r}: a running cluster has its own; leave threads out"
        )
    return connect_cluster(f"{SCHEMES[scheme]}://{address}")
