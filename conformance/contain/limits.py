"""What a process may use, set from inside it: address space, processor time, file sizes.

Standard library only: workers under another interpreter, with an old pyarrow and nothing else, import it.
Limits count from what the process has used or mapped when they are set: gRPC and polars reserve far more address
space than they use, and a limit on the total would raise false alarms.
"""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Final

__all__ = ["limit_cpu", "limit_files", "limit_memory", "mapped_bytes", "no_core_dump", "unlimit_memory"]

_STATM: Final = Path("/proc/self/statm")


def mapped_bytes() -> int:
    """The address space that this process maps, in bytes; 0 where the platform does not tell."""
    return int(_STATM.read_text().split()[0]) * resource.getpagesize() if _STATM.exists() else 0


def limit_memory(headroom: int) -> None:
    """Let the process map ``headroom`` bytes beyond what it maps now, where the platform tells how much that is."""
    mapped = mapped_bytes()
    if mapped:
        _limit(resource.RLIMIT_AS, mapped + headroom)


def unlimit_memory() -> None:
    """Let the process map what it may by its hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def limit_cpu(seconds: float) -> None:
    """Let the process use ``seconds`` of processor time from now on; SIGXCPU ends it then."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime + seconds) + 1)


def limit_files(size: int) -> None:
    """Let no file that the process writes grow beyond ``size`` bytes, the one behind its standard error included."""
    _limit(resource.RLIMIT_FSIZE, size)


def no_core_dump() -> None:
    """Let a crash leave no file behind."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _limit(kind: int, soft: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
