"""The limits that a process sets for itself: each counts from now, and none exceeds the hard limit."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest


def limit_after(kind: str, *statements: str) -> tuple[int, int]:
    """The soft and the hard limit of a new process that has run the statements."""
    shown = f"print(resource.getrlimit(resource.RLIMIT_{kind}))"
    program = "\n".join(["import resource", "from conformance.contain.limits import *", *statements, shown])
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    soft, hard = ast.literal_eval(run.stdout)
    return int(soft), int(hard)


def test_a_file_may_not_grow_beyond_its_limit() -> None:
    """The limit is on the size of one file, in bytes."""
    assert limit_after("FSIZE", "limit_files(4096)")[0] == 4096


def test_processor_time_counts_from_now() -> None:
    """The limit is the time that the process has used, plus the seconds."""
    soft, _ = limit_after("CPU", "limit_cpu(1000)")

    assert 1000 <= soft <= 1100


@pytest.mark.parametrize(
    ("used", "seconds", "limit"), [(0.02, 2, 2), (0.4, 2, 2), (0.6, 2, 3), (1.4, 2, 3), (0.9, 0.5, 2), (0.1, 0.5, 1)]
)
def test_processor_time_is_the_nearest_second(used: float, seconds: float, limit: int) -> None:
    """Rounded up, a process that has used nothing would get a second more; at least half of the seconds is left."""
    fake = f"resource.getrusage = lambda _: resource.struct_rusage(({used}, 0.0, *[0] * 14))"

    assert limit_after("CPU", fake, f"limit_cpu({seconds})")[0] == limit


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports what a process maps")
def test_memory_counts_from_what_is_mapped() -> None:
    """The headroom comes on top of what the process maps at that moment."""
    soft, _ = limit_after("AS", "limit_memory(1 << 40)")

    assert (1 << 40) < soft < (1 << 40) + (1 << 33)


def test_memory_may_be_given_back() -> None:
    """The limit of a worker is not that of the program that it becomes."""
    soft, hard = limit_after("AS", "limit_memory(1 << 40)", "unlimit_memory()")

    assert soft == hard


def test_a_crash_leaves_no_file() -> None:
    """A core dump would hold what the process had read."""
    assert limit_after("CORE", "no_core_dump()")[0] == 0


def test_a_lower_hard_limit_stands() -> None:
    """A limit that somebody else has set is not raised, and asking for more is no error."""
    lowered = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"

    assert limit_after("FSIZE", lowered, "limit_files(4096)") == (1000, 1000)


def test_garbage_is_collected_after_ten_thousand_objects() -> None:
    """Most collections in a process with a corpus in memory would free nothing."""
    program = "import gc; from conformance.contain.limits import *; collect_seldom(); print(gc.get_threshold()[0])"

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout == "10000\n"


def test_garbage_is_not_collected_at_the_end() -> None:
    """The system frees the memory of a process that ends; a search for cycles in it takes a while."""
    cycle = "A = type('A', (), {'__del__': lambda self: print('collected')}); a = A(); a.self = a; del a"
    program = f"from conformance.contain.limits import *; collect_seldom(); {cycle}"

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other allocators, and no /proc")
def test_large_memory_goes_back_to_the_system() -> None:
    """A block of 20 MiB that was freed while a later one is held is not in the process any more."""
    lines = (
        "from conformance.contain.limits import release_large",
        "release_large()",
        "for _ in range(3): blocks = [bytearray(20 << 20) for _ in range(9)]; kept = blocks.pop(); del blocks",
        "small = bytearray(1000)",
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmRSS')))",
    )

    run = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)

    assert int(run.stdout) < 80 << 10
