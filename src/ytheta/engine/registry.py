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
    """Open an engine for a ``with`` block; threads or processes that the engine starts end with the block.

    ``name``: "local" (threads of this process), "dask" (processes of this machine with one thread each), or a running
    cluster: "dask://HOST:PORT", or with Dask's own schemes "tcp://HOST:PORT" or "tls://HOST:PORT". An engine that is
    already open is used as it is. ``threads``: the number of threads or processes of this machine, by default one
    per processor.
    """
    if not isinstance(name, str):
        if threads is not None:
            raise InputError(f"threads is {threads}, but the engine is already open; set threads where it is opened")
        return nullcontext(name)
    if name == "local":
        return nullcontext(Local(threads))
    if name == "dask":
        return start_cluster(choose_workers(threads))
    scheme, _, address = name.partition("://")
    if scheme not in SCHEMES:
        raise UnknownNameError(f"there is no engine {name!r}{suggest_names(name, NAMES)}")
    if not address:
        raise InputError(f"the engine {name!r} has no address; add one, as in dask://10.0.0.5:8786")
    if threads is not None:
        raise InputError(
            f"threads is {threads}, but the running cluster {name!r} has its own number of threads; leave threads out"
        )
    return connect_cluster(f"{SCHEMES[scheme]}://{address}")
