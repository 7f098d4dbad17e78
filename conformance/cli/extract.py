"""``conformance extract``: save the bytes of one case as files for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from conformance.cli._common import corpus_option, target_option
from conformance.cli._numbers import deadline_option
from conformance.cli._one import OneCase, put
from conformance.cli._options import FOLDER
from conformance.cli._progress import quiet_option
from conformance.contain.text import many
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.disk.files import write_inside
from conformance.disk.locks import held
from conformance.engine.session import Settings
from conformance.records import to_json


@click.command()
@click.argument("name", metavar="CASE")
@target_option
@click.option(
    "--out", metavar="DIR", required=True, type=FOLDER, help="Directory for the files; created if it does not exist."
)
@deadline_option
@corpus_option
@quiet_option
def command(*, name: str, target: str, out: Path, deadline_multiplier: float, corpus: Path) -> None:
    """Run CASE on a target and save the exchange in a directory.

    \b
    case.json, exchange.json, verdicts.json   the records of the suite
    call-000-CreateReadSession/request.bin    the request, protobuf
    call-000-CreateReadSession/response-0000.bin
    arrow/…-schema.bin, arrow/…-batch.bin     the Arrow messages inside

    \b
    `conformance check` and `conformance dissect` read these messages.
    """  # noqa: D301  # click wants the character, not the escape
    settings = Settings(readers=False, deadline_multiplier=deadline_multiplier)
    one = put(name, target=target, corpus=corpus, settings=settings)
    files = list(_files(one))
    with held(out):
        for relative, data in files:
            write_inside(out, relative, data)
    click.echo(f"{many(len(files), 'file')} in {out}")


def _files(one: OneCase) -> list[tuple[str, bytes]]:
    files = [("case.json", _json(to_json(one.case))), ("exchange.json", _json(to_json(one.exchange)))]
    files.append(("verdicts.json", _json([to_json(verdict) for verdict in one.result.verdicts])))
    for index, call in enumerate(one.exchange.calls):
        folder = f"call-{index:03}-{call.method}"
        for at, data in enumerate(call.requests):
            files.append((f"{folder}/request-{at:04}.bin" if call.order else f"{folder}/request.bin", data))
        files += [(f"{folder}/response-{at:04}.bin", data) for at, data in enumerate(call.responses)]
    messages: list[SchemaBytes | BatchBytes] = [*one.view.schemas, *one.view.batches]
    for message in messages:
        kind = "schema" if isinstance(message, SchemaBytes) else "batch"
        files.append((f"arrow/{message.call:03}-{message.response or 0:04}-{kind}.bin", bytes(message.data)))
    return files


def _json(data: object) -> bytes:
    return json.dumps(data, indent=1, ensure_ascii=False).encode() + b"\n"
