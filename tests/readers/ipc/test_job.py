"""Jobs and limits say what is wrong with them where they are made."""

from __future__ import annotations

import pytest

from conformance.readers.ipc import Job, JobLimits


def test_unknown_kind() -> None:
    """A kind outside the vocabulary is refused."""
    with pytest.raises(ValueError, match="expected kind to be one of message, stream, file, tensor but got 'flie'"):
        Job("1", "flie", b"")


def test_unknown_option() -> None:
    """A misspelt option is not taken for an option that nobody has."""
    with pytest.raises(ValueError, match=r"expected options among .*codec.* but got \['codex'\] in job 1"):
        Job("1", "stream", b"", options={"codex": "lz4"})


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"memory": 0}, {"values": -1}, {"reuse": 0}, {"cpu": -1}])
def test_limits(wrong: dict[str, int]) -> None:
    """A limit is positive."""
    [name] = wrong
    with pytest.raises(ValueError, match=f"expected {name} to be positive"):
        JobLimits(**wrong)


def test_processor_seconds() -> None:
    """Without a limit of processor time, a loop of one thread meets the deadline first."""
    assert JobLimits(seconds=3).cpu_seconds == 6
    assert JobLimits(seconds=3, cpu=1).cpu_seconds == 1


@pytest.mark.parametrize(("given", "clock"), [({}, 6), ({"waits": 10}, 20)])
def test_the_clock_is_no_limit_of_work(given: dict[str, float], clock: float) -> None:
    """A program that waits has longer than one that computes."""
    limits = JobLimits.of_work(2, **given)

    assert (limits.cpu_seconds, limits.seconds) == (2, clock)
