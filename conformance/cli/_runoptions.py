"""The options of ``conformance run`` as a record, and the arguments that hand them to a shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from conformance.cli._outputs import Outputs
from conformance.disk.files import data_file
from conformance.report.gatefile import Gate

__all__ = ["RunOptions"]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the user asked of ``conformance run``; each field is the value of an option or of a group of options."""

    target: str
    """The name, path or address of the target."""
    select: tuple[str, ...]
    """Globs of case ids."""
    clause: tuple[str, ...]
    """Globs of clause ids."""
    capability: tuple[str, ...]
    """Globs of capabilities that a case needs."""
    level: str
    generated: int | None
    """How many drawn cases; ``None`` if the user did not say."""
    scenarios: int | None
    """How many drawn scenarios; ``None`` if the user did not say."""
    seed: int
    scenario: str | None
    """A scenario of Arrow's integration tests."""
    form: str
    """The data format of the rows, or that of every format."""
    shard: str | None
    parallel: int
    repeat: int
    exchanges: bool
    shrink: bool
    readers: bool
    reader: tuple[str, ...]
    """Globs of names of readers."""
    smoke: bool
    deadline_multiplier: float
    project: str | None
    max_bytes: int | None
    only_estimate: bool
    log: Path | None
    gate: tuple[Path, Gate] | None
    corpus: Path
    outputs: Outputs

    def __post_init__(self) -> None:
        """Refuse options that exclude one another; raises `click.UsageError`."""
        if self.parallel > 1 and self.shard is not None:
            raise click.UsageError("expected --parallel or --shard, got both: a shard cannot be divided again")
        if self.gate is not None and self.shard is not None:
            raise click.UsageError("expected --gate without --shard: give it to `report` with the logs of all shards")
        if self.exchanges and (self.repeat > 1 or self.parallel > 1):
            raise click.UsageError(
                "expected --exchanges without --repeat and --parallel: a log has one exchange of each case"
            )

    def arguments(self, *, generated: int, scenarios: int, max_bytes: int | None) -> Iterator[str]:
        """The arguments of this run for each of its shards, without the options for sharding and for report files."""
        if self.scenario is not None:
            yield from ("--scenario", self.scenario)
        for option in ("target", "level", "seed", "deadline_multiplier", "repeat"):
            yield from (f"--{option.replace('_', '-')}", str(getattr(self, option)))
        yield from ("--data-format", self.form)
        if self.corpus != data_file("cases"):  # a directory that is named is taken whole, whatever a target speaks
            yield from ("--corpus", str(self.corpus))
        yield from ("--cases", str(generated), "--scenarios", str(scenarios))
        if self.project is not None:
            yield from ("--project", self.project)
        if max_bytes is not None:
            yield from ("--max-bytes", str(max(1, max_bytes)))
        for option in ("select", "clause", "capability", "reader"):
            for glob in getattr(self, option):
                yield from (f"--{option}", glob)
        for option in ("shrink", "readers", "smoke"):
            yield f"--{option}" if getattr(self, option) else f"--no-{option}"
