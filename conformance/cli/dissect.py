"""``conformance dissect``: the meaning of every byte of Arrow data, or of rows in Avro."""

from __future__ import annotations

import dataclasses
import itertools
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli._avro import binds, rows_dissected
from conformance.cli._carrier import carried
from conformance.cli._group import Unusable
from conformance.cli._ipcfiles import counting, has_message, no_message, values_of
from conformance.cli._options import EXISTING, json_flag
from conformance.cli._queryanswer import read_page
from conformance.cli._reading import read_named
from conformance.contain.text import safe
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.judging import PROFILE_OF, judge_ipc
from conformance.engine.selection import all_clauses
from conformance.protocol import merged, plugins, title_of
from conformance.records import Finding, Outcome, Verdict
from conformance.report.terminallayout import UNBOUNDED, columns, flowed, paint
from conformance.wire import (
    Dissection,
    Fault,
    Header,
    Kind,
    Message,
    Schema,
    SectionKind,
    Severity,
    WireRule,
    dissect,
    lines,
    read_messages,
    read_schema,
    recognise,
    sniff,
)
from conformance.wire.foreign import magic_of
from conformance.wire.plugin import Content, WirePlugin
from conformance.wire.protobufdissect import dissect_protobuf

WIDTH: Final = 110
"""The width of a dump that goes to no terminal."""
_PARTS: Final = 1 << 15
"""The texts of which a piece of JSON is made that is printed at once."""
_STYLES: Final[Sequence[tuple[str, dict[str, Any]]]] = (
    ("!!", {"fg": "red", "bold": True}),
    ("! ", {"fg": "yellow"}),
    ("──", {"bold": True}),
)
_DUMPED = [kind for kind in SectionKind if kind is not SectionKind.OTHER]
_PROTOCOLS: Final = plugins(WirePlugin)
_SPECS: Final = merged("message", {name: one.messages.items() for name, one in _PROTOCOLS.items()})
_MESSAGES: Final = sorted(name for name, spec in _SPECS.items() if not (name.startswith(".") or spec.map_entry))
_CARRIERS: Final = " or ".join(one.carrier for one in _PROTOCOLS.values())
_TITLES: Final = " or ".join(map(title_of, _PROTOCOLS))


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--schema",
    "schema_file",
    metavar="FILE",
    type=EXISTING,
    help="The schema message for a bare record batch; without it the body is not annotated."
    " With --message, also a message of that kind with a schema.",
)
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in Kind]),
    help="The kind of FILE; detected from its bytes by default.",
)
@click.option(
    "--message",
    "message_name",
    metavar="NAME",
    type=click.Choice(_MESSAGES),
    help=f"FILE is this protobuf message of {_TITLES}, such as {_CARRIERS}.",
)
@click.option(
    "--rest",
    "rest_part",
    type=click.Choice(["schema", "batch"]),
    help="FILE is the JSON answer of a query with its rows in Arrow: annotate this message of it.",
)
@click.option(
    "--avro-schema",
    metavar="FILE",
    type=EXISTING,
    help="FILE has rows in Avro (serialized_binary_rows): annotate them by this schema (avro_schema.schema).",
)
@click.option(
    "--row-count",
    metavar="N",
    type=click.IntRange(0),
    help="The number of rows in FILE, with --avro-schema; by default as many as there are.",
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
    default=None,
    show_default=f"that of the terminal, {WIDTH} without one",
    help="Width of the dump in characters.",
)
def command(
    *,
    file: Path,
    schema_file: Path | None,
    kind: str | None,
    message_name: str | None,
    rest_part: str | None,
    avro_schema: Path | None,
    row_count: int | None,
    dumped: tuple[str, ...],
    as_json: bool,
    width: int | None,
) -> None:
    """Annotate every byte of FILE (``-`` for standard input): offset, bytes, field, meaning.

    FILE is a message, a stream, an IPC file or a tensor; with --message, it is one message of a protocol, and the
    Arrow message inside is annotated too. Truncated or broken data is annotated up to the break. A line with `!!` is a
    fault: `conformance check` reports it. A line with `!` is a note on something that is permitted.

    \b
    conformance dissect schema.bin
    conformance dissect batch.bin --schema schema.bin
    conformance dissect table.arrow --dump footer --dump schema
    conformance dissect response.bin --message NAME
    conformance dissect rows.bin --avro-schema schema.json

    \b
    Exit status: 0 no faults, 1 faults, 2 the file is empty, cannot be read, or has another format.
    """  # noqa: D301  # click wants the character, not the escape
    if avro_schema is not None or row_count is not None:
        arrow = {"schema": schema_file, "kind": kind, "message": message_name, "rest": rest_part, "dump": dumped}
        dissection = _avro(file, avro_schema, row_count, arrow)
        _write(dissection, [], width, (), binds, as_json=as_json)
        sys.exit(1 if any(map(binds, dissection.faults)) else 0)
    _check_combined(kind=kind, message=message_name, rest=rest_part, schema=schema_file)
    if rest_part is None:
        data, schema_data, schema = read_named(file), b"", None
    else:
        data, schema_data, schema = _of_page(file, rest_part)
        kind = Kind.MESSAGE
    if not data and message_name is None:
        raise Unusable(f"{file}: expected an Arrow message, got no bytes")
    protocol = next((one for one in _PROTOCOLS.values() if message_name in one.messages), None)
    if schema_file is not None:
        schema_data, schema = _schema(schema_file, protocol)
    if message_name is not None and protocol is not None:
        spec = protocol.messages[message_name]
        dissection = dissect_protobuf(data, spec, protocol, schema)
        judged: Iterable[Verdict] = _verdicts_inside(protocol.contents(data, spec), schema_data)
    else:
        _check_is_arrow(file, data)
        dissection = dissect(data, schema, Kind(kind) if kind else None)
        of_page = rest_part == "schema"  # whatever is in its place
        judged = judge_bytes(data, []) if of_page else _verdicts(data, dissection, schema_data)
    failed = [one for one in counting(judged) if one.outcome is not Outcome.PASS]
    findings = [finding for verdict in failed for finding in verdict.findings]
    breaks = _breaking(failed, alone=message_name is not None)
    _write(dissection, findings, width, dict.fromkeys(map(SectionKind, dumped)), breaks, as_json=as_json)
    broken = any(map(breaks, dissection.faults))
    sys.exit(1 if failed or (broken and message_name is not None) else 0)


def _check_combined(*, kind: str | None, message: str | None, rest: str | None, schema: Path | None) -> None:
    """Refuse options that say of one file that it is two things."""
    if rest is not None and (others := [name for name, value in (("kind", kind), ("message", message)) if value]):
        raise Unusable(f"--rest: expected the answer of a query, got --{others[0]} as well; omit one of them")
    if message is not None and kind is not None:
        raise Unusable(f"--message: expected a message of {_TITLES}, got --kind {kind} as well; omit one of them")
    if schema is not None and rest is not None:
        raise Unusable("--schema: expected a bare message to go with it, got --rest; the answer has its schema")
    if schema is not None and kind not in (None, Kind.MESSAGE):
        raise Unusable(f"--schema: expected a bare message to go with it, got --kind {kind}; omit one of them")


def _avro(file: Path, schema: Path | None, row_count: int | None, arrow: Mapping[str, object]) -> Dissection:
    """The dump of rows in Avro; ``arrow`` has the options for Arrow data, which exclude it."""
    if schema is None:
        raise Unusable("--row-count: expected --avro-schema to go with it, got none")
    if others := [name for name, value in arrow.items() if value]:
        raise Unusable(f"--avro-schema: expected rows in Avro, got --{others[0]} as well; omit one of them")
    return rows_dissected(file, schema, row_count)


def _write(
    dissection: Dissection,
    findings: Sequence[Finding],
    width: int | None,
    only: Collection[SectionKind],
    breaks: Callable[[Fault], bool],
    *,
    as_json: bool,
) -> None:
    if as_json:
        made = dissection.to_json(only=only) | {"findings": [values_of(finding) for finding in findings]}
        parts = json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(made)
        while part := "".join(itertools.islice(parts, _PARTS)):  # as one text, it would be in memory again
            click.echo(part, nl=False)
        click.echo()
    else:
        here = columns()
        _print(dissection, findings, width or (here if here < UNBOUNDED else WIDTH), only, breaks)


def _of_page(file: Path, part: str) -> tuple[bytes, bytes, Schema | None]:
    """A message of the answer of a query; with the batch, the schema message before it, and its schema."""
    (_, schema), *batches = read_page(file)
    if part == "schema":
        return schema, b"", None
    if not batches:
        raise Unusable(f"{file}: expected the answer of a query with a record batch, got one without")
    return batches[0][1], schema, read_schema(schema).schema


def _check_is_arrow(file: Path, data: bytes) -> None:
    """Refuse what is known to be no Arrow data, and say what it is."""
    if sniff(data) is Kind.FILE or has_message(data):
        return
    if got := carried(data, judged=False):
        raise Unusable(f"{file}: expected Arrow data, got {got}")
    if recognise(data) is not None:
        raise Unusable(no_message(file, data))


def _schema(path: Path, protocol: WirePlugin | None) -> tuple[bytes, Schema]:
    """The schema message in a file, with its bytes; also one in the message of a protocol that carries data."""
    data = read_named(path)
    schema = read_schema(data).schema
    if schema is None and protocol is not None:
        contents = protocol.contents(data, protocol.messages[protocol.carrier])
        data = contents[0].data if contents else b""
        schema = read_schema(data).schema
    if schema is None:
        found = magic_of(data)
        got = "bytes without one; dissect them first" if found is None else f"{found.name}; {found.advice}"
        raise Unusable(f"{path}: expected a schema message, got {got}")
    return data, schema


def _print(
    dissection: Dissection,
    findings: Iterable[Finding],
    width: int,
    only: Collection[SectionKind],
    breaks: Callable[[Fault], bool],
) -> None:
    """Print the dump, and after it the findings that no line of it shows."""
    room = columns()
    for line in lines(dissection, width=width, only=only, breaks=breaks):
        _show(line, room)
    shown = {(fault.start, fault.observed) for fault in dissection.faults}
    for one in findings:
        if (one.start, one.observed) not in shown:
            where = f"{one.field}: " if one.field else ""
            _show(safe(f"!! {one.clause}: {where}{one.observed}; required: {one.required}"), room)


def _show(line: str, room: int) -> None:
    """Print a line of the dump: faults in red, notes in yellow, headings bold."""
    mark = line.lstrip()
    space = " " * (len(line) - len(mark))
    style: dict[str, Any] = next((style for begin, style in _STYLES if mark.startswith(begin)), {})
    for part in flowed(mark, room, head=space, indent=len(space) + 3):
        click.echo(paint(part, **style) if style else part)


def _breaking(failed: Iterable[Verdict], *, alone: bool) -> Callable[[Fault], bool]:
    """Tells which faults count. No clause is about a protobuf message ``alone``, so there the rules decide."""
    rules = {rule for verdict in failed for rule in all_clauses()[verdict.clause].rules}
    return partial(_breaks, rules=rules, strict=bool(rules) or alone)


def _breaks(fault: Fault, *, rules: Collection[WireRule], strict: bool) -> bool:
    """True if a clause that failed reports the fault, or if the format forbids it and ``strict`` is True."""
    return fault.rule in rules or (strict and fault.severity is Severity.VIOLATION)


def _verdicts(data: bytes, dissection: Dissection, schema: bytes) -> Iterator[Verdict]:
    """The verdicts of `conformance check` on the bytes; of a bare message, those on it and not on its ``schema``."""
    if dissection.kind != Kind.MESSAGE:
        yield from judge_ipc(data, Kind(dissection.kind))
    else:
        yield from _alone(data, _header(dissection.messages), schema)


def _verdicts_inside(contents: Iterable[Content], schema: bytes) -> Iterator[Verdict]:
    """The verdicts on the Arrow messages inside a protobuf message, at the bytes of the protobuf message."""
    for content in contents:
        header = content.place or _header(read_messages(content.data, limit=2))
        for verdict in _alone(content.data, header, schema):
            yield dataclasses.replace(verdict, findings=tuple(_moved(one, content) for one in verdict.findings))
        schema = content.data if read_schema(content.data).schema is not None else schema


def _moved(finding: Finding, content: Content) -> Finding:
    if finding.start is None:
        return finding
    start, end = content.back(finding.start, finding.start if finding.end is None else finding.end)
    return dataclasses.replace(finding, start=start, end=end)


def _header(messages: Sequence[Message]) -> Header:
    return messages[0].header if messages else Header.STRAY


def _alone(data: bytes, header: Header, schema: bytes) -> Iterator[Verdict]:
    """The verdicts on a bare message; it belongs to a stream, which is not there, so few clauses judge it."""
    if header is Header.RECORD_BATCH or (schema and header in (Header.UNKNOWN, Header.STRAY)):
        for verdict in judge_bytes(schema, [data], profile=PROFILE_OF[Kind.MESSAGE]):
            kept = tuple(finding for finding in verdict.findings if finding.call == 1)
            if kept or not verdict.findings:
                yield dataclasses.replace(verdict, findings=kept)
    elif header in (Header.SCHEMA, Header.UNKNOWN, Header.STRAY):
        yield from judge_bytes(data, [], profile=PROFILE_OF[Kind.MESSAGE])
