"""``conformance check``: judge data from files, without any server.

Arrow streams, files, tensors and bare messages; rows in Avro.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

import click

from conformance.cli._avro import check_avro
from conformance.cli._carrier import CARRIERS, read_carried
from conformance.cli._group import Unusable
from conformance.cli._ipcfiles import Checked, Refused, check_file, counted, counting, refuse_foreign, show, unjudged
from conformance.cli._options import EXISTING, json_flag, level_option
from conformance.cli._queryanswer import read_page
from conformance.cli._reading import named_files, read_named
from conformance.contain.text import many, safe
from conformance.contract.clause import MESSAGES, PROFILES
from conformance.contract.disputes import current
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.judging import PROFILE_OF
from conformance.engine.annotated import around, regions_of
from conformance.engine.selection import all_clauses, today
from conformance.records import Finding, Level, Outcome, Verdict, to_json
from conformance.report.bytelines import byte_texts
from conformance.report.terminallayout import columns
from conformance.wire import Kind, Region, read_schema
from conformance.wire.foreign import MAGIC

KEPT: Final = 2
"""How many dissected messages are kept; most findings are on the schema or on one batch."""


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option(
    "--schema",
    "schema_file",
    metavar="FILE",
    type=EXISTING,
    help="A schema message (serialized_schema); cannot be combined with FILE.",
)
@click.option(
    "--batch",
    "batch_files",
    metavar="FILE",
    type=EXISTING,
    multiple=True,
    help="A record batch message (serialized_record_batch); may be repeated.",
)
@click.option(
    "--rest",
    "rest_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="The JSON answer of a query with its rows in Arrow; both of its messages are judged.",
)
@click.option(
    "--message",
    "message_name",
    metavar="NAME",
    type=click.Choice(sorted(CARRIERS)),
    help=f"Each FILE is this protobuf message, all of one connection in order: {', '.join(sorted(CARRIERS))}.",
)
@click.option(
    "--avro-schema",
    metavar="FILE",
    type=EXISTING,
    help="The schema of a session in Avro (avro_schema.schema).",
)
@click.option(
    "--avro-rows",
    metavar="FILE",
    type=EXISTING,
    multiple=True,
    help="Rows of a response in Avro (serialized_binary_rows), read by --avro-schema; may be repeated.",
)
@click.option(
    "--row-count",
    metavar="N",
    type=click.IntRange(0),
    help="The rows that the response with --avro-rows declares (row_count).",
)
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="The kind of FILE; detected by default.")
@click.option("--profile", type=click.Choice(PROFILES), help="The clauses to judge by; by default those for the kind.")
@level_option
@click.option(
    "--writer",
    is_flag=True,
    help="Also apply the clauses on writers, which are stricter than what readers must accept.",
)
@json_flag("Print JSON: findings by file; with --schema and --batch, the verdicts.")
def command(
    *,
    files: tuple[str, ...],
    schema_file: Path | None,
    batch_files: tuple[Path, ...],
    rest_file: Path | None,
    message_name: str | None,
    avro_schema: Path | None,
    avro_rows: tuple[Path, ...],
    row_count: int | None,
    kind: str | None,
    profile: str | None,
    level: str,
    writer: bool,
    as_json: bool,
) -> None:
    """Judge Arrow data from files: IPC streams, IPC files, tensors, or messages as a Storage Read client gets them.
    With --avro-schema, judge the Avro schema of a session, and rows in Avro.

    FILE is a file, a directory, a pattern such as 'out/**/*.arrow', or `-` for standard input. With several files, each
    has its line, a total follows, and the exit status is the worst of all.

    \b
    conformance check data.arrows data.arrow
    gzip -dc data.arrows.gz | conformance check -
    conformance check --schema schema.bin --batch 0.bin --batch 1.bin
    conformance check --rest answer.json
    conformance check --message AppendRowsRequest 0.bin 1.bin
    conformance check --avro-schema schema.json --avro-rows rows.bin --row-count 10

    \b
    Exit status: 0 no findings, 1 findings or clauses that could not be judged, 2 a file holds no message.
    """  # noqa: D301  # click wants the character, not the escape
    for dispute in current(today()):
        click.echo(f"{dispute.clause} is not judged: {dispute.text}", err=True)
    avro = avro_schema or avro_rows or row_count is not None
    if sum(map(bool, (files, schema_file or batch_files, rest_file, avro))) > 1:
        raise click.UsageError("expected one of FILE, --schema with --batch, --rest, and --avro-schema, got several")
    if avro:
        _refuse_clauses(profile=profile, kind=kind, writer=writer)
        sys.exit(0 if _check_avro(avro_schema, avro_rows, row_count, as_json=as_json) else 1)
    if message_name is not None:
        named = _carried(message_name, files, kind, writer=writer)
        _check_messages(named, _of_messages(profile, PROFILE_OF[Kind.MESSAGE]), Level(level), as_json=as_json)
    if files:
        _check_files(files, kind, profile, Level(level), writer=writer, as_json=as_json)
        return
    if writer:
        raise click.UsageError("expected FILE with --writer, got messages, which have no clauses on writers")
    if kind not in (None, Kind.MESSAGE.value):
        raise click.UsageError(f"expected --kind {Kind.MESSAGE} with messages, got --kind {kind}")
    profile = _of_messages(profile, MESSAGES[0])
    _check_messages(_named(rest_file, schema_file, batch_files), profile, Level(level), as_json=as_json)


def _check_files(
    files: tuple[str, ...], kind: str | None, profile: str | None, level: Level, *, writer: bool, as_json: bool
) -> None:
    given = Kind(kind) if kind is not None else None
    if profile is not None:
        meant = Kind.MESSAGE if profile in MESSAGES else Kind(profile.removeprefix("ipc-"))
        if given not in (None, meant):
            raise click.UsageError(f"expected --kind {meant} with --profile {profile}, got --kind {given}")
        given = meant
    paths = named_files(files)
    judge = functools.partial(check_file, kind=given, profile=profile or "", level=level, writer=writer)
    if len(paths) == 1:
        checked = judge(paths[0])
        _show([checked], as_json=as_json)
        sys.exit(0 if checked.clean else 1)
    count = {"clean": 0, "with findings": 0, "not judged": 0}
    _show(_counted(map(functools.partial(_attempted, judge), paths), count), as_json=as_json)
    if not as_json:
        click.echo(f"{many(len(paths), 'file')}: {', '.join(f'{number} {state}' for state, number in count.items())}")
    if count["not judged"]:
        raise Unusable(f"{count['not judged']} of {len(paths)} files cannot be judged; standard output says why")
    sys.exit(0 if count["clean"] == len(paths) else 1)


def _attempted(judge: Callable[[Path], Checked], path: Path) -> Checked | Refused:
    try:
        return judge(path)
    except Unusable as error:
        return Refused(path, error.message)
    except OSError as error:
        return Refused(path, f"{path}: cannot be read: {error.strerror or error}")


def _counted(results: Iterable[Checked | Refused], count: dict[str, int]) -> Iterator[Checked | Refused]:
    """Pass on the results, one at a time because each holds its file, and count them in ``count``."""
    for one in results:
        count["not judged" if isinstance(one, Refused) else "clean" if one.clean else "with findings"] += 1
        yield one


def _show(results: Iterable[Checked | Refused], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([one.to_json() for one in results], indent=1, ensure_ascii=False))
    else:
        for line in (line for one in results for line in one.lines()):
            show(line)


# --- Avro ---------------------------------------------------------------------------------------------


def _refuse_clauses(**options: str | bool | None) -> None:
    """Refuse options that select clauses: rows in Avro are judged by the rules of their bytes."""
    given = [name for name, value in options.items() if value]
    level = click.get_current_context().get_parameter_source("level")
    if level is not click.core.ParameterSource.DEFAULT:
        given.append("level")
    if given:
        raise click.UsageError(f"expected --avro-schema without --{given[0]}, which selects clauses on Arrow data")


def _check_avro(schema: Path | None, rows: tuple[Path, ...], row_count: int | None, *, as_json: bool) -> bool:
    if schema is None:
        raise click.UsageError("expected --avro-schema with --avro-rows and --row-count, got rows without a schema")
    if row_count is not None and len(rows) != 1:
        raise click.UsageError(f"expected --row-count with one --avro-rows, got {len(rows)}")
    return check_avro(schema, rows, row_count, as_json=as_json)


# --- bare messages ------------------------------------------------------------------------------------


def _named(rest: Path | None, schema: Path | None, batches: Sequence[Path]) -> Sequence[tuple[str, bytes]]:
    """The schema message and the batches, each with where it is: of the answer of a query, or in a file each."""
    if rest is not None:
        return [(f"{rest}, {field}", data) for field, data in read_page(rest)]
    if schema is None:
        raise click.UsageError("expected a FILE, or --schema with a schema message; see `conformance check --help`")
    return [(str(path), _message(path)) for path in (schema, *batches)]


def _carried(name: str, files: tuple[str, ...], kind: str | None, *, writer: bool) -> Sequence[tuple[str, bytes]]:
    """The same of messages of a protocol."""
    if kind is not None or writer:
        raise click.UsageError("expected --message without --kind and --writer, which are on files of Arrow data")
    if not files:
        raise click.UsageError("expected FILE with --message, got none")
    return read_carried(name, named_files(files))


def _of_messages(profile: str | None, default: str) -> str:
    """The profile by which bare messages are judged."""
    if profile not in (None, *MESSAGES):
        raise click.UsageError(f"expected a profile of messages ({', '.join(MESSAGES)}), got --profile {profile}")
    return profile or default


def _message(path: Path) -> bytes:
    data = read_named(path)
    if not data:
        raise Unusable(f"{path}: expected an Arrow message, got an empty file")
    if not data.startswith(MAGIC):  # a whole file in the place of a message is a defect of servers, and is judged
        refuse_foreign(path, data)
    return data


def _check_messages(named: Sequence[tuple[str, bytes]], profile: str, level: Level, *, as_json: bool) -> NoReturn:
    """Judge a schema message and the batches that follow it, each with the words that say where it is."""
    names, contents = zip(*named, strict=True)
    verdicts = counting(judge_bytes(contents[0], contents[1:], profile=profile), level)
    if as_json:
        click.echo(json.dumps([to_json(verdict) for verdict in verdicts], indent=1, ensure_ascii=False))
    else:
        for line in _lines(verdicts, names, contents):
            show(line)
        failed = sum(verdict.outcome is Outcome.FAIL for verdict in verdicts)
        passed = sum(verdict.outcome is Outcome.PASS for verdict in verdicts)
        show(f"{counted(failed, passed)}, on {many(len(named), 'message')} ({profile})")
    sys.exit(1 if any(verdict.outcome is not Outcome.PASS for verdict in verdicts) else 0)


def _lines(verdicts: list[Verdict], names: Sequence[str], contents: Sequence[bytes]) -> Iterator[str]:
    @functools.lru_cache(maxsize=KEPT)
    def regions(index: int) -> Sequence[Region]:
        """The regions of a message, which may have more findings than it would be worth to dissect it for again."""
        return regions_of(contents[index], read_schema(contents[0]).schema if index else None)

    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    for verdict in failed:
        clause = all_clauses()[verdict.clause]
        for finding in verdict.findings:
            yield f"{verdict.clause}  [{clause.level.upper()}]"
            yield from _finding(finding, names, contents, regions)
            yield f"  source    {clause.source}"
            yield f"  evidence  {clause.evidence_in_words}"
            if clause.breaks:
                yield f"  breaks    {clause.breaks}"
            yield ""
    yield from unjudged(verdicts)


def _finding(
    finding: Finding, names: Sequence[str], contents: Sequence[bytes], regions: Callable[[int], Sequence[Region]]
) -> Iterator[str]:
    index = finding.call or 0
    place = safe(names[index]) + (f", {finding.field}" if finding.field else "")
    yield f"  where     {place}"
    yield f"  required  {finding.required}"
    yield f"  observed  {finding.observed}"
    if finding.start is not None:
        end = finding.end or finding.start + 1
        yield from byte_texts(around(contents[index], regions(index), finding.start, end), columns())
