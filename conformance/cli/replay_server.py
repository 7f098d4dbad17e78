"""``conformance replay-server``: serve recorded exchanges again, to clients in any language."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import click

from conformance.cli._common import corpus_option
from conformance.cli._group import Unusable
from conformance.cli._one import put
from conformance.cli._options import FILE
from conformance.engine.session import Settings
from conformance.recording.plans import PlanError, read_plan
from conformance.replay.certificates import CertificateError
from conformance.replay.loading import from_log, held
from conformance.replay.server import Replay
from conformance.replay.shelf import Held


@click.command()
@click.argument("exchanges", metavar="[EXCHANGES...]", nargs=-1)
@click.option("--faults", metavar="FILE", type=FILE, help="Let the faults of this plan happen to calls.")
@click.option("--log", metavar="FILE", type=FILE, help="Write what clients ask for to this file, as JSON Lines.")
@click.option("--ca", metavar="FILE", type=FILE, help="Write the certificate of the server's authority to this file.")
@click.option("--no-tls", is_flag=True, help="Listen in plain text only; without the proxy.")
@corpus_option
def command(
    *, exchanges: tuple[str, ...], faults: Path | None, log: Path | None, ca: Path | None, no_tls: bool, corpus: Path
) -> None:
    """Serve recorded exchanges again, to clients in any language, until interrupted.

    Each of EXCHANGES is a log with exchanges (of `conformance replay --log`, `conformance record`) or the id of a case,
    which is put to the reference server first. Without any, exchanges come through the control API, and the server is
    the test bench of read_retry.json.

    Prints one JSON line with the ports.
    """
    try:
        plan = () if faults is None else read_plan(faults).faults
    except PlanError as error:
        raise Unusable(str(error)) from None
    found = [one for name in exchanges for one in _held(name, corpus)]
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    try:
        with Replay(log=log, ca=ca, tls=not no_tls) as server:
            for one in found:
                server.shelf.put(one)
                server.shelf.plan(one.name, plan)
            click.echo(json.dumps(server.addresses))
            done.wait()
    except CertificateError as error:
        raise Unusable(str(error)) from None


def _held(name: str, corpus: Path) -> list[Held]:
    if Path(name).suffix in (".jsonl", ".log"):
        return list(from_log(Path(name)))
    one = put(name, target="reference", corpus=corpus, settings=Settings(readers=False))
    return [held(one.case, one.exchange)]
