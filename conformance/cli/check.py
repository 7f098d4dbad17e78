"""``conformance check``: Arrow messages from files, judged without any server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from conformance.cli._group import Unusable
from conformance.contract.files import judge_bytes
from conformance.engine.evidence import annotate
from conformance.engine.selection import all_clauses
from conformance.records import Finding, Outcome, Verdict, to_json
from conformance.wire import Fault, Rule, read_schema
from conformance.wire.messages import read_frame

_CUT: Final = (Rule.PREFIX_TRUNCATED, Rule.METADATA_TRUNCATED, Rule.MESSAGE_BODY_TRUNCATED)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option(
    "--schema", "schema_file", metavar="FILE", type=_FILE, required=True, help="One schema message: serialized_schema."
)
@click.option(
    "--batch",
    "batch_files",
    metavar="FILE",
    type=_FILE,
    multiple=True,
    help="One record batch message: serialized_record_batch; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="The verdicts as one JSON array.")
def command(*, schema_file: Path, batch_files: tuple[Path, ...], as_json: bool) -> None:
    """Judge Arrow messages from files, as a Storage Read client would get them: framing, structure, body.

    \b
    conformance check --schema schema.bin --batch 0.bin --batch 1.bin

    \b
    Exit status: 0 clean, 1 findings, 2 a file holds no whole message.
    """  # noqa: D301  # click wants the character, not the escape
    files = (schema_file, *batch_files)
    contents = [path.read_bytes() for path in files]
    for path, data in zip(files, contents, strict=True):
        _refuse_cut(path, data)
    verdicts = judge_bytes(contents[0], contents[1:])
    if as_json:
        click.echo(json.dumps([to_json(verdict) for verdict in verdicts], indent=1, ensure_ascii=False))
    else:
        for line in _lines(verdicts, files, contents):
            click.echo(line)
    sys.exit(1 if any(verdict.outcome is Outcome.FAIL for verdict in verdicts) else 0)


def _refuse_cut(path: Path, data: bytes) -> None:
    """Refuse a file that holds no whole message: most likely it was cut when it was saved, and says nothing."""
    if not data:
        raise Unusable(f"{path}: expected an Arrow message, got an empty file")
    faults: list[Fault] = []
    frame = read_frame(memoryview(data), 0, faults)
    cut = next((fault for fault in faults if fault.rule in _CUT), None)
    if cut is not None and frame is not None and frame.message.end == len(data):
        raise Unusable(
            f"{path}: the file ends inside its first message ({cut.path}: {cut.observed});"
            f" `conformance dissect {path}` shows what is there"
        )


def _lines(verdicts: list[Verdict], files: tuple[Path, ...], contents: list[bytes]) -> Iterator[str]:
    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    for verdict in failed:
        clause = all_clauses()[verdict.clause]
        for finding in verdict.findings:
            yield f"{verdict.clause}  [{clause.level.upper()}]"
            yield from _finding(finding, files, contents)
            yield f"  source    {clause.source}"
            if clause.breaks:
                yield f"  breaks    {clause.breaks}"
            yield ""
    passed = sum(verdict.outcome is Outcome.PASS for verdict in verdicts)
    yield f"{len(failed)} clauses fail, {passed} pass, on {len(files)} messages"


def _finding(finding: Finding, files: tuple[Path, ...], contents: list[bytes]) -> Iterator[str]:
    index = finding.call or 0
    place = f"{files[index]}" + (f", {finding.field}" if finding.field else "")
    yield f"  where     {place}"
    yield f"  required  {finding.required}"
    yield f"  observed  {finding.observed}"
    if finding.start is not None:
        schema = None if index == 0 else read_schema(contents[0]).schema
        for line in annotate(contents[index], finding.start, finding.end or finding.start + 1, schema):
            yield f"  {line}"
