"""``check`` and ``dissect`` agree on what is legal: golden vectors, legal variations, and broken bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli._group import cli
from conformance.reference.ipc.mutants import IPC_MUTANTS
from conformance.reference.legal import legal_subjects
from conformance.wire import Kind
from tests.studies import sample

SAMPLED = pytest.mark.parametrize("every", sample((45, 1), ("45",), env="studies"))
"""One of so many subjects is tried; all of them where there is time."""


def status(command: str, *arguments: str | Path) -> int:
    """The exit status of a command."""
    return CliRunner().invoke(cli, [command, *map(str, arguments)]).exit_code


@SAMPLED
@pytest.mark.parametrize("kind", [Kind.STREAM, Kind.FILE, Kind.TENSOR])
def test_legal_bytes_are_legal_to_both(kind: Kind, every: int, tmp_path: Path) -> None:
    """Every legal vector has the same status from both, 1 only where a clause advises against what it has."""
    differing = []
    for subject in legal_subjects()[kind][::every]:
        path = tmp_path / subject.name
        path.write_bytes(subject.parts[0])
        if status("check", path, "--kind", kind) != status("dissect", path, "--kind", kind, "--dump", "footer"):
            differing.append(subject.name)

    assert differing == []


@pytest.mark.parametrize("every", sample((27, 9), ("27",), env="studies"))
def test_legal_messages_are_legal_to_both(every: int, tmp_path: Path) -> None:
    """A schema and a batch that pass together pass one by one.

    Of the bare messages, most are drawn tables and samples, which streams and files show too.
    """
    differing = []
    for subject in legal_subjects()[Kind.MESSAGE][::every]:
        schema, *batches = _written(tmp_path, subject.parts)
        checked = status("check", "--profile", "ipc-message", "--schema", schema, *_options(batches))
        alone = [status("dissect", schema), *(status("dissect", batch, "--schema", schema) for batch in batches)]
        if checked != max(alone):
            differing.append(subject.name)

    assert differing == []


def _written(folder: Path, parts: tuple[bytes, ...]) -> list[Path]:
    paths = [folder / f"{number}.bin" for number in range(len(parts))]
    for path, data in zip(paths, parts, strict=True):
        path.write_bytes(data)
    return paths


def _options(batches: list[Path]) -> Iterator[str]:
    for batch in batches:
        yield from ("--batch", str(batch))


@SAMPLED
def test_broken_bytes_are_broken_to_both(every: int, tmp_path: Path) -> None:
    """Every mutant of streams, files and tensors has the same status from both, if there is anything to check.

    A third of them is tried in the quick set, with those that have no message.
    """
    differing, unusable = {}, set()
    third = [*IPC_MUTANTS][:: min(every, 3)]
    for mutant in (IPC_MUTANTS[name] for name in sorted({*third, *NO_MESSAGE})):
        for made in islice(mutant.make(), 0, None, every):
            path = tmp_path / "mutant"
            path.write_bytes(made.data)
            found = status("check", path), status("dissect", path)
            if found[0] == UNUSABLE:
                unusable.add(mutant.name)
            elif found[0] != found[1]:
                differing[mutant.name] = found

    assert differing == {}
    assert unusable == NO_MESSAGE


UNUSABLE = 2
NO_MESSAGE = {
    "message.schema.bare-flatbuffer",
    "stream.empty",
    "stream.json",
    "tensor.is-a-batch",
    "tensor.without-prefix",
}
"""Mutants without a message, or with a batch that has no schema: only ``dissect`` has something to say about them."""
