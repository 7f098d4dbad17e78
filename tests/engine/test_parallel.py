"""Shards of one run in parallel: their logs are merged, and a shard that could not run says why."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.contain.child import Child
from conformance.engine import parallel
from conformance.engine.events import CaseJudged, RunEnded, RunStarted
from conformance.engine.log import LogWriter
from conformance.engine.parallel import PartError, run_parts
from conformance.engine.shards import Shard
from tests.engine.samples import judged, passing, started


def shell(script: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], str]]:
    """Let each shard be this script, of $1, the number of the shard, and $2, its log; returns what was started."""
    asked: list[tuple[Sequence[str], str]] = []

    def run(arguments: Sequence[str], shard: Shard, log: Path) -> Child:
        asked.append((arguments, str(shard)))
        index = str(shard).partition("/")[0]
        return Child(["/bin/sh", "-c", script, "sh", index, str(log)], environment={}, errors_only=True)

    monkeypatch.setattr(parallel, "_started", run)
    return asked


def saved(folder: Path) -> Path:
    """The logs of both shards of a run of two cases, under their numbers."""
    for index, name in enumerate("ab", start=1):
        start = dataclasses.replace(started("framing.x", cases=[name]), shard=f"{index}/2")
        with LogWriter(folder / str(index)) as log:
            for event in (start, judged(name, passing(name, "framing.x")), RunEnded(2.0)):
                log.write(event)
    return folder


@pytest.mark.parametrize("status", [0, 1])
def test_the_logs_of_the_shards_are_one_run(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not the target passes, every shard has judged its cases."""
    asked = shell(f'while read -r line; do echo "$line"; done < {saved(tmp_path)}/$1 > $2; exit {status}', monkeypatch)

    events = run_parts(["--seed", "7"], 2, tmp_path / "parts", say=pytest.fail)

    assert asked == [(["--seed", "7"], "1/2"), (["--seed", "7"], "2/2")]
    assert isinstance(events[0], RunStarted)
    assert events[0].shard == ""
    assert [event.case_id for event in events if isinstance(event, CaseJudged)] == ["a", "b"]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "part-1-of-2.jsonl",
        "part-2-of-2.jsonl",
    ]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'Error: no such target' >&2; exit 2", "no such target\n"),
        ("exit 2", "the process exited with status 2"),
        (": > $2; exit 130", "the process exited with status 130"),
        ("exit 0", "the process exited with status 0"),
        (": > $2; kill -9 $$", "the process was ended by SIGKILL"),
    ],
)
def test_a_shard_that_could_not_run_says_why(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own words without the label, or else the way in which it ended; a log that is not there counts too."""
    shell(script, monkeypatch)

    with pytest.raises(PartError) as raised:
        run_parts([], 2, tmp_path, say=pytest.fail)

    assert str(raised.value).strip() == said.strip()


def test_all_shards_are_asked_to_end_before_one_is_waited_for() -> None:
    """They end side by side, within the time that one of them has."""
    heard: list[str] = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def terminate(self) -> None:
            heard.append(f"end {self.name}")

        def wait_for_exit(self, seconds: float) -> bool:
            heard.append(f"wait for {self.name}" if 0 <= seconds <= parallel.GRACE else f"{seconds} s")
            return True

    parallel._end_in_order([Part("a"), Part("b")])  # type: ignore[list-item]  # all of a process that is asked for

    assert heard == ["end a", "end b", "wait for a", "wait for b"]


@pytest.mark.parametrize("lines", [1, 2])
def test_a_shard_that_a_signal_ended_costs_only_its_own_cases(
    lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What all shards have judged is kept, and the run has no end: its report is incomplete."""
    whole = f"[ $1 = 1 ] && {{ cat {saved(tmp_path)}/1 > $2; exit 0; }}"
    shell(f"{whole}; head -n {lines} {tmp_path}/2 > $2; kill -9 $$", monkeypatch)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    said: list[str] = []

    events = run_parts([], 2, tmp_path / "parts", say=said.append)

    assert [event.case_id for event in events if isinstance(event, CaseJudged)] == ["a", "b"][:lines]
    assert not any(isinstance(event, RunEnded) for event in events)
    assert said == ["shard 2/2: the process was ended by SIGKILL; the report is incomplete"]
