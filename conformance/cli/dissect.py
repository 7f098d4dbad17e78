"""``conformance dissect``: the meaning of every byte of Arrow data."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING, json_flag
from conformance.cli._reading import read_named
from conformance.wire import Kind, SectionKind, dissect, lines, read_schema

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

    FILE is a message, a stream, an IPC file or a tensor. Truncated or broken data is annotated up to the break.

    \b
    conformance dissect schema.bin
    conformance dissect batch.bin --schema schema.bin
    conformance dissect table.arrow --dump footer --dump schema

    \b
    Exit status: 0 well formed, 1 faults, 2 the file is empty or cannot be read.
    """  # noqa: D301  # click wants the character, not the escape
    data = sys.stdin.buffer.read() if str(file) == "-" else read_named(file)
    if not data:
        raise Unusable(f"{file}: expected an Arrow message, got no bytes")
    schema = None
    if schema_file is not None:
        if kind not in (None, Kind.MESSAGE):
            raise Unusable(f"--schema: expected a bare message to go with it, got --kind {kind}; omit one of them")
        message = read_schema(read_named(schema_file))
        if message.schema is None:
            raise Unusable(f"{schema_file}: expected a schema message, got bytes without one; dissect them first")
        schema = message.schema
    dissection = dissect(data, schema, Kind(kind) if kind else None)
    only = tuple(SectionKind(name) for name in dict.fromkeys(dumped))
    if as_json:
        click.echo(json.dumps(dissection.to_json(only=only), indent=1, ensure_ascii=False))
    else:
        for line in lines(dissection, width=width, only=only):
            click.echo(line)
    sys.exit(1 if dissection.faults else 0)
