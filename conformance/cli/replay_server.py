"""``conformance replay-server``: serve recorded exchanges again, to clients in any language."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli._common import corpus_option, find_case
from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted
from conformance.cli._one import put
from conformance.cli._options import EXISTING, FILE
from conformance.contain.errors import CannotStart
from conformance.contain.interrupts import stopping
from conformance.contain.supervised import in_words
from conformance.engine.session import Settings
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.recording.methods import method_names
from conformance.recording.plans import PlanError, read_plan
from conformance.records import FaultKind, PlannedFault
from conformance.replay.certificates import CertificateError
from conformance.replay.loading import from_log, from_pack, held
from conformance.replay.server import Replay, run
from conformance.replay.shelf import Held

_PROGRAM: Final = "conformance.replay.program"


class _WithProgram(click.Command):
    """A command whose arguments behind ``--`` are another command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the other command away before the options are read."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_PROGRAM], args = tuple(args[at + 1 :]), args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The arguments of the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


@click.command(cls=_WithProgram)
@click.argument("exchanges", metavar="[EXCHANGES...]", nargs=-1)
@click.option("--faults", metavar="FILE", type=EXISTING, help="Let the faults of this plan happen to calls.")
@click.option("--log", metavar="FILE", type=FILE, help="Write what clients ask for to this file, as JSON Lines.")
@click.option("--ca", metavar="FILE", type=FILE, help="Write the certificate of the server's authority to this file.")
@click.option("--no-tls", is_flag=True, help="Listen in plain text only; without the proxy.")
@corpus_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    exchanges: tuple[str, ...],
    faults: Path | None,
    log: Path | None,
    ca: Path | None,
    no_tls: bool,
    corpus: Path,
) -> None:
    """Serve recorded exchanges again, to clients in any language.

    \b
    conformance replay-server said.log -- python -m my_client
    conformance replay-server rows.many-responses

    Each of EXCHANGES is a log with exchanges (of `conformance replay --log` or `conformance record`) of any
    protocol, the folder of a truth pack, or the id of a case, which is put to the reference server first.
    COMMAND is started with the addresses in its environment (CONFORMANCE_GRPC, CONFORMANCE_REST and others:
    docs/replay.md), and the server ends with it. Without COMMAND, one JSON line with the ports is printed, and the
    server ends at Ctrl-C.

    The server is also the test server of read_retry.json, a table of interrupted reads for the tests of clients.

    \b
    Exit status: 0 served; 1 COMMAND failed; 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    program: tuple[str, ...] = ctx.meta.get(_PROGRAM, ())
    plan = _plan(faults)
    found = [one for name in exchanges for one in _held(name, corpus)]
    try:
        with stopping() as done, Replay(log=log, ca=ca, tls=not no_tls) as server:
            for one in found:
                server.shelf.put(one)
                server.shelf.plan(one.name, plan)
            if not program:
                click.echo(json.dumps(server.addresses))
            code = run(server, program, done)
            failure = server.asked.failure
    except (CertificateError, CannotStart) as error:
        raise Unusable(str(error)) from None
    if failure:
        raise Unusable(failure)
    if code:
        click.echo(f"{program[0]}: {in_words(code)}", err=True)
        sys.exit(1)
    if program and code is None:  # a signal came first
        raise Interrupted("the command was ended before its end")


def _plan(path: Path | None) -> tuple[PlannedFault, ...]:
    try:
        faults = () if path is None else read_plan(path).faults
    except PlanError as error:
        raise Unusable(str(error)) from None
    for fault in faults:
        if fault.kind is FaultKind.DEADLINE:
            raise Unusable(f"{path}: expected faults that a server can make, got a deadline, which is the client's own")
        if fault.method not in method_names():
            raise Unusable(f"{path}: expected a method out of {', '.join(method_names())}, got {fault.method!r}")
    return faults


def _held(name: str, corpus: Path) -> list[Held]:
    """The recordings of a log or a truth pack, or of a case on the reference server."""
    path = Path(name)
    if path.suffix in (".jsonl", ".log") or path.is_dir():
        found = list(from_pack(path) if path.is_dir() else from_log(path))
        if not found:
            raise Unusable(f"{name}: expected an exchange with recorded answers, got none")
        return found
    protocol = find_case(name, corpus).protocol
    target = "reference" if protocol == DEFAULT_PROTOCOL else f"{protocol}-reference"
    one: Any = put(name, target=target, corpus=corpus, settings=Settings(readers=False))
    return [held(one.case, one.exchange)]
