"""Limits on address space, processor time and file sizes, which a process sets for itself (getrlimit(2)).

Standard library only: workers under another interpreter, with an old pyarrow and nothing else, import it.
Limits on memory and time count from the use at the moment when they are set: gRPC and polars reserve far more address
space than they use, so that a limit on the total would cause false alarms.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import math
import os
import resource
from typing import Final

__all__ = [
    "address_space",
    "collect_seldom",
    "data_space",
    "limit_cpu",
    "limit_files",
    "limit_memory",
    "mapped_bytes",
    "no_core_dump",
    "release_large",
    "unlimit_memory",
]

_STATM: Final = "/proc/self/statm"
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3


def address_space() -> float:
    """The bytes that this process may map; infinite without a limit."""
    return _soft(resource.RLIMIT_AS)


def data_space() -> float:
    """The bytes that this process may map for itself alone and write; infinite without a limit."""
    return _soft(resource.RLIMIT_DATA)


def _soft(limit: int) -> float:
    soft, _ = resource.getrlimit(limit)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def mapped_bytes() -> int:
    """The address space that this process maps, in bytes; 0 if the platform has no ``/proc/self/statm`` (proc(5))."""
    try:
        descriptor = os.open(_STATM, os.O_RDONLY)  # each time: a fork would read the size of its parent from another
    except FileNotFoundError:
        return 0
    try:
        return int(os.read(descriptor, 64).split()[0]) * resource.getpagesize()
    finally:
        os.close(descriptor)


def limit_memory(headroom: int) -> None:
    """Let the process map ``headroom`` bytes more than now; no limit if :func:`mapped_bytes` is unknown."""
    mapped = mapped_bytes()
    if mapped:
        _limit(resource.RLIMIT_AS, mapped + headroom)


def unlimit_memory() -> None:
    """Let the process map as much as its hard limit allows."""
    # A process may always raise its soft limit up to the hard limit (getrlimit(2)).
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def limit_cpu(seconds: float) -> None:
    """Let the process use ``seconds`` of processor time from now on; then SIGXCPU ends it.

    The system limits whole seconds of all that the process has used. The limit is the nearest of them, but no less than
    half of ``seconds``.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    _limit(resource.RLIMIT_CPU, max(round(used + seconds), math.ceil(used + seconds / 2)))


def limit_files(size: int) -> None:
    """Limit every file that the process writes to ``size`` bytes, including a file that is its standard error."""
    _limit(resource.RLIMIT_FSIZE, size)


def collect_seldom() -> None:
    """Collect cyclic garbage after ten thousand new objects instead of seven hundred, and not at the process's end.

    A process with a corpus or a client library in memory spends a tenth of its time on collections that free nothing.
    At its end Python would collect several times more, for a fifth of a second, what the system frees at once.
    """
    gc.set_threshold(10_000)
    # Python looks for garbage among the objects that are not frozen; files are closed by their owners.
    atexit.register(gc.freeze)


def release_large() -> None:
    """Give memory of 4 MiB and more back to the system as soon as it is free, where the C library is glibc.

    Of itself, glibc no longer does so once it has freed something large (mallopt(3), M_MMAP_THRESHOLD): after a target
    with large messages, a process holds several times what it keeps of them.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    mallopt(_M_MMAP_THRESHOLD, 4 << 20)
    mallopt(_M_TRIM_THRESHOLD, 8 << 20)  # it stays at 128 KiB otherwise, which makes small memory slow


def no_core_dump() -> None:
    """Let a crash write no core file."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _limit(kind: int, soft: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
