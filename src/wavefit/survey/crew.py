"""Who does the work: this process, processes of this machine, or a Dask cluster, all as Executors.

None of them schedules anything here: a Crew says how many pieces may be under way, gives the Executors, and
runs a function alone, so that it is known whose death it was.
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from importlib import import_module
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

T = TypeVar("T")
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""Of glibc's mallopt(3)."""
Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments."""


class Died(Exception):
    """The worker that made a call alone is gone; the text says how."""


class NoCluster(ValueError):
    """A cluster that cannot be used; one line says why."""


class Crew(Protocol):
    """`window` calls may be under way; `broken` is what a call raises where its worker died.

    `alone` makes calls while nothing else of ours is under way: the results in order, Died where one died.
    """

    window: int
    walks: int
    broken: tuple[type[BaseException], ...]

    def reader(self) -> Executor: ...

    def walker(self, number: int) -> Executor: ...

    def renew(self) -> None: ...

    def alone(self, calls: Sequence[Call]) -> Iterator[Any]: ...

    def close(self) -> None: ...


class Here(Executor):
    """This process: a call is done when it is made."""

    window, walks = 1, 1
    broken: tuple[type[BaseException], ...] = ()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def reader(self) -> Executor:
        return self

    def walker(self, number: int) -> Executor:
        return self

    def renew(self) -> None:
        """Nothing: this process does not break and live on."""

    def alone(self, calls: Sequence[Call]) -> Iterator[Any]:
        for function, arguments in calls:
            try:
                yield function(*arguments)
            except MemoryError:
                yield Died("ran out of memory")

    def close(self) -> None:
        """Nothing to end."""


class Processes(AbstractContextManager["Processes"]):
    """`jobs` processes of this machine that read, and one that walks large files, from when it is needed."""

    broken: tuple[type[BaseException], ...] = (BrokenProcessPool,)
    walks = 1

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self.window = 2 * jobs + 2
        self._pools: dict[str, ProcessPoolExecutor] = {}
        if _context().get_start_method() == "forkserver":
            from multiprocessing import forkserver

            forkserver.ensure_running()  # it loads while this process does

    def _pool(self, name: str, size: int) -> Executor:
        if name not in self._pools:
            self._pools[name] = ProcessPoolExecutor(size, mp_context=_context())
        return self._pools[name]

    def reader(self) -> Executor:
        return self._pool("reader", self._jobs)

    def walker(self, number: int) -> Executor:
        return self._pool("walker", 1)

    def renew(self) -> None:
        """New processes, from the next call on."""
        self.close()

    def alone(self, calls: Sequence[Call]) -> Iterator[Any]:
        """In a process of their own, one after the other; a new one after each death."""
        context = _context()
        at = 0
        while at < len(calls):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(theirs, calls[at:]), daemon=True)
            process.start()
            theirs.close()
            with ours:
                try:
                    while at < len(calls):
                        result = ours.recv()
                        if isinstance(result, Exception):
                            raise result
                        at += 1
                        yield result
                except EOFError:
                    process.join()
                    at += 1
                    yield Died(_how(process.exitcode))
            process.join()

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        self._pools.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _context() -> SpawnContext | ForkServerContext:
    """New processes that share nothing with this one; where it can be, they begin with our modules loaded."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["wavefit.survey.ready"])
    return context


def keep_memory() -> None:
    """Has freed memory kept for what comes next: each bundle's window of up to 128 MiB is new pages else.

    For processes that are ours alone; elsewhere than glibc it does nothing.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 256 << 20)
        mallopt(_TRIM_THRESHOLD, 512 << 20)


def _configured() -> bool:
    """Whether Dask's own configuration has a certificate to show."""
    config: Any = import_module("dask.config")
    return bool(config.get("distributed.comm.tls.client.cert", None))


def _send(pipe: Connection, calls: Sequence[Call]) -> None:
    for function, arguments in calls:
        try:
            pipe.send(function(*arguments))
        except MemoryError:
            raise SystemExit(_NO_MEMORY) from None
        except Exception as error:
            pipe.send(error)


_NO_MEMORY = 137


def _how(code: int | None) -> str:
    """What became of a process that gave no result."""
    if code == _NO_MEMORY:
        return "ran out of memory"
    if code is not None and code < 0:
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"
    return f"ended with status {code}"


class Cluster(AbstractContextManager["Cluster"]):
    """The workers of a Dask scheduler, `tcp://host:8786` or `tls://host:8786`; Dask places what is submitted.

    `tls` are the files of the authority, the certificate and the key; without them Dask's own configuration
    counts. Raises NoCluster.
    """

    def __init__(self, address: str, tls: tuple[str, str, str] | None = None) -> None:
        try:
            dask: Any = import_module("distributed")
        except ImportError as error:
            raise NoCluster(f"{address}: a cluster needs Dask: pip install 'wavefit[cluster]'") from error
        self.broken: tuple[type[BaseException], ...] = (dask.KilledWorker,)
        security = None
        if tls:
            ca, cert, key = tls
            security = dask.Security(
                tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True
            )
        elif address.startswith("tls://") and not _configured():
            raise NoCluster(f"{address}: needs --tls-ca, --tls-cert and --tls-key, or Dask's configuration")
        try:
            self.client: Any = dask.Client(address, security=security, timeout=20, set_as_default=False)
            self._workers = sorted(self.client.nthreads())
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise NoCluster(f"{address}: {(str(error).splitlines() or [repr(error)])[0]}") from error
        if not self._workers:
            self.client.close()
            raise NoCluster(f"{address}: the cluster has no workers")
        threads = sum(self.client.nthreads().values())
        self.jobs, self.window, self.walks = threads, 2 * threads + 2, max(1, threads)
        self._reader: Executor = self.client.get_executor(pure=False)

    def reader(self) -> Executor:
        return self._reader

    def walker(self, number: int) -> Executor:
        """The worker that goes on with this walk; another one where that is gone."""
        workers = [self._workers[number % len(self._workers)]]
        found: Executor = self.client.get_executor(pure=False, workers=workers, allow_other_workers=True)
        return found

    def renew(self) -> None:
        """Its nannies start workers again."""
        self._workers = sorted(self.client.nthreads()) or self._workers

    def alone(self, calls: Sequence[Call]) -> Iterator[Any]:
        """One after the other, each on any worker; Dask tries some before it gives up."""
        for function, arguments in calls:
            try:
                yield self._reader.submit(function, *arguments).result()
            except self.broken:
                yield Died("died with every worker that tried")
            except MemoryError:
                yield Died("ran out of memory")

    def close(self) -> None:
        self.client.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
