"""Processes of this machine, or of many, by Dask.

The work is sent once to every worker and stays there while its items come: what it makes on the way, such as kernels,
is made once per worker. Items wait with the scheduler, a few for every thread of the cluster.

Workers of a cluster of our own are new processes that import the program which started them. A script that opens an
engine must do so under ``if __name__ == "__main__":``, as with ``multiprocessing``.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ytheta.engine.engine import AHEAD, Engine, Item, Result
from ytheta.engine.local import one_blas_thread
from ytheta.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE = 5.0  # seconds that a scheduler and its workers have to answer
QUIET = {
    "distributed.admin.large-graph-warning-threshold": "1TiB",  # items are as large as they are
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@dataclass(frozen=True, eq=False)
class Dask:
    """The workers that a client knows."""

    client: Client

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        distributed = _distributed()
        sent = self.client.scatter(work, broadcast=True, hash=False)
        ahead = AHEAD * max(1, sum(self.client.nthreads().values()))
        waiting: deque[Future] = deque()
        try:
            for item in items:
                waiting.append(self.client.submit(_done, sent, item, pure=False))
                if len(waiting) >= ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except (distributed.KilledWorker, distributed.CancelledError) as error:
            raise InputError(f"the cluster lost its workers, perhaps for want of memory: {error}") from None
        finally:  # after an error or an interruption nothing new is begun
            self.client.cancel([*waiting, sent], force=True)


@contextmanager
def own_cluster(workers: int) -> Iterator[Engine]:
    """Processes of this machine, one thread each; they end with the ``with`` block."""
    distributed = _distributed()
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(_UNGUARDED)
    with _quiet(), _cluster(workers) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield Dask(client)


@contextmanager
def cluster_at(address: str) -> Iterator[Engine]:
    """The workers of a scheduler that runs already, such as ``tcp://10.0.0.5:8786``; they live on."""
    distributed = _distributed()
    with _quiet():
        _knock(address)
        with distributed.Client(address, set_as_default=False) as client:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise InputError(
                    f"the scheduler at {address} has no workers; start some with: dask worker {address}"
                ) from None
            yield Dask(client)


_UNGUARDED = (
    "a script that starts processes is run by each of them once more; put what opens the engine under: "
    'if __name__ == "__main__":'
)


def _done(work: Callable[[Item], Result], item: Item) -> Result:
    with one_blas_thread():
        return work(item)


def _cluster(workers: int) -> Any:
    try:
        return _distributed().LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # without one it would ask for a port that another cluster may have
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            preload=["ytheta.engine.worker"],
            silence_logs=logging.CRITICAL,
        )
    except RuntimeError as error:
        raise InputError(f"no cluster could be started ({error}); {_UNGUARDED}") from None


def _knock(address: str) -> None:
    """Refuse an address where no scheduler is: a client would go on trying, even while it is thrown away."""
    distributed = _distributed()

    async def identity() -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            async with distributed.rpc(address, timeout=PATIENCE) as there:
                return await there.identity()

    try:
        with ThreadPoolExecutor(1) as pool:  # this thread may have a loop of its own, as in notebooks
            found = pool.submit(asyncio.run, identity()).result()
    except (OSError, ValueError, RuntimeError) as error:
        why = str(error) or f"nothing was heard for {PATIENCE:g} s"
        raise InputError(f"no scheduler of Dask answers at {address}: {why}; start one with: dask scheduler") from None
    if found.get("type") != "Scheduler":
        raise InputError(
            f"at {address} is no scheduler of Dask but a {found.get('type')}; give the scheduler's address"
        )


def _quiet() -> Any:
    import dask

    return dask.config.set(QUIET)


def _distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError:
        raise MissingExtraError("Dask is not installed; run: pip install 'ytheta[dask]'") from None
    return distributed
