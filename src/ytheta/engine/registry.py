"""Engines by their names."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ytheta.engine.dask import cluster_at, own_cluster
from ytheta.engine.engine import Engine
from ytheta.engine.local import Local, processors
from ytheta.errors import InputError, UnknownNameError, suggest_names

NAMES = ("local", "dask", "dask://HOST:PORT")
SCHEMES = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}


def open_engine(name: str | Engine = "local", *, threads: int | None = None) -> AbstractContextManager[Engine]:
    """Open an engine; what it started ends with the ``with`` block. One that is open already is used as it is.

    "local": threads of this process. "dask": processes of this machine, one thread each. "dask://HOST:PORT", in Dask's
    own words "tcp://HOST:PORT" or "tls://HOST:PORT": a cluster that runs already. ``threads``: how many threads or
    processes of this machine, all its processors unless given.
    """
    if not isinstance(name, str):
        if threads is not None:
            raise InputError(f"{threads} threads with an engine that is open already; give them when it is opened")
        return nullcontext(name)
    if name == "local":
        return nullcontext(Local(threads))
    if name == "dask":
        return own_cluster(processors(threads))
    scheme, _, place = name.partition("://")
    if scheme not in SCHEMES:
        raise UnknownNameError(f"there is no engine {name!r}{suggest_names(name, NAMES)}")
    if not place:
        raise InputError(f"the engine {name!r} has no address; give one such as dask://10.0.0.5:8786")
    if threads is not None:
        raise InputError(f"{threads} threads with the engine {name!r}: a cluster has its own; leave threads out")
    return cluster_at(f"{SCHEMES[scheme]}://{place}")
