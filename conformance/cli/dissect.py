"""``conformance dissect``: the meaning of every byte of Arrow data."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._ipcfiles import counting, has_message, no_message, values_of
from conformance.cli._options import EXISTING, json_flag
from conformance.cli._reading import read_named
from conformance.contain.text import safe
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.judging import PROFILE_OF, judge_ipc
from conformance.engine.selection import all_clauses
from conformance.records import Outcome, Verdict
from conformance.wire import (
    Dissection,
    Fault,
    Header,
    Kind,
    SectionKind,
    Severity,
    WireRule,
    dissect,
    lines,
    read_schema,
    recognise,
    sniff,
)
from conformance.wire.foreign import magic_of

_DUMPED = [kind for kind in SectionKind if kind is not SectionKind.OTHER]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--schema",
    "schema_file",
    metavar="FILE",
    type=EXISTING,
    help="The schema message for a bare record batch; without it the body is not annotated.",
)
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in Kind]),
    help="The kind of FILE; detected from its bytes by default.",
)
@click.option(
    "--dump",
    "dumped",
    multiple=True,
    type=click.Choice([str(kind) for kind in _DUMPED]),
    help="Print only these parts; may be repeated.",
)
@json_flag("Print regions, sections, messages and faults as JSON.")
@click.option(
    "--width",
    metavar="N",
    type=click.IntRange(60),
    default=110,
    show_default=True,
    help="Width of the dump in characters.",
)
def command(
    *, file: Path, schema_file: Path | None, kind: str | None, dumped: tuple[str, ...], as_json: bool, width: int
) -> None:
    """Annotate every byte of FILE (``-`` for standard input): offset, bytes, field, meaning.

    FILE is a message, a stream, an IPC file or a tensor. Truncated or broken data is annotated up to the break. A line
    with `!!` is a fault: `conformance check` reports it. A line with `!` is a note on something that is permitted.

    \b
    conformance dissect schema.bin
    conformance dissect batch.bin --schema schema.bin
    conformance dissect table.arrow --dump footer --dump schema

    \b
    Exit status: 0 no faults, 1 faults, 2 the file is empty, cannot be read, or has another format.
    """  # noqa: D301  # click wants the character, not the escape
    data = read_named(file)
    if not data:
        raise Unusable(f"{file}: expected an Arrow message, got no bytes")
    schema_data, schema = b"", None
    if schema_file is not None:
        if kind not in (None, Kind.MESSAGE):
            raise Unusable(f"--schema: expected a bare message to go with it, got --kind {kind}; omit one of them")
        schema_data = read_named(schema_file)
        schema = read_schema(schema_data).schema
        if schema is None:
            found = magic_of(schema_data)
            got = "bytes without one; dissect them first" if found is None else f"{found.name}; {found.advice}"
            raise Unusable(f"{schema_file}: expected a schema message, got {got}")
    if sniff(data) is not Kind.FILE and not has_message(data) and recognise(data) is not None:
        raise Unusable(no_message(file, data))
    dissection = dissect(data, schema, Kind(kind) if kind else None)
    judged = counting(_verdicts(dissection, schema_data))
    failed = [one for one in judged if one.outcome is not Outcome.PASS]
    findings = [finding for verdict in failed for finding in verdict.findings]
    only = tuple(SectionKind(name) for name in dict.fromkeys(dumped))
    if as_json:
        made = dissection.to_json(only=only) | {"findings": [values_of(finding) for finding in findings]}
        click.echo(json.dumps(made, indent=1, ensure_ascii=False))
    else:
        rules = {rule for verdict in failed for rule in all_clauses()[verdict.clause].rules}
        for line in lines(dissection, width=width, only=only, breaks=lambda fault: _breaks(fault, rules)):
            click.echo(line)
        shown = {(fault.start, fault.observed) for fault in dissection.faults}
        for one in findings:
            if (one.start, one.observed) not in shown:
                click.echo(safe(f"!! {one.clause}: {one.field}: {one.observed}; required: {one.required}"))
    sys.exit(1 if failed else 0)


def _breaks(fault: Fault, rules: Collection[WireRule]) -> bool:
    """True if a clause that failed reports the fault, or if the format forbids it in bytes that fail at all."""
    return fault.rule in rules or (bool(rules) and fault.severity is Severity.VIOLATION)


def _verdicts(dissection: Dissection, schema: bytes) -> Iterator[Verdict]:
    """The verdicts of `conformance check` on the bytes; of a bare batch, those on it and not on its ``schema``.

    A bare message of another kind belongs to a stream, which is not there, so no clause judges it.
    """
    data = bytes(dissection.data)
    if dissection.kind is not Kind.MESSAGE:
        yield from judge_ipc(data, dissection.kind)
        return
    header = dissection.messages[0].header if dissection.messages else Header.STRAY
    if header is Header.RECORD_BATCH or (schema and header in (Header.UNKNOWN, Header.STRAY)):
        for verdict in judge_bytes(schema, [data], profile=PROFILE_OF[Kind.MESSAGE]):
            kept = tuple(finding for finding in verdict.findings if finding.call == 1)
            if kept or not verdict.findings:
                yield dataclasses.replace(verdict, findings=kept)
    elif header in (Header.SCHEMA, Header.UNKNOWN, Header.STRAY):
        yield from judge_bytes(data, [], profile=PROFILE_OF[Kind.MESSAGE])
