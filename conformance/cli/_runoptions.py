"""The options of ``conformance run`` as a record that writes its own arguments, for its shards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import click

from conformance.cli._outputs import Outputs
from conformance.report.gatefile import Gate

__all__ = ["OF_THE_WHOLE", "RunOptions"]

OF_THE_WHOLE: Final = frozenset({"exchanges", "gate", "log", "only_estimate", "outputs", "parallel", "shard"})
"""What a run as a whole has, and none of its shards."""


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

    def arguments(self) -> Iterator[str]:
        """The arguments of this run for each of its shards: every option that is not the default and not of a run as a
        whole. To be called in the command.
        """
        context = click.get_current_context()
        for parameter in context.command.params:
            name = parameter.name or ""
            if name not in _FIELDS or name in OF_THE_WHOLE:
                continue
            value = getattr(self, name)
            if value is None or value == parameter.get_default(context):
                continue
            if isinstance(value, bool):
                yield (parameter.opts if value else parameter.secondary_opts)[0]
            else:
                for one in value if isinstance(value, tuple) else (value,):
                    yield from (parameter.opts[0], str(one))


_FIELDS: Final = frozenset(field.name for field in fields(RunOptions))
