"""``conformance record``: stand between a client and a server, and keep what they say to each other."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from conformance.cli._group import Unusable
from conformance.cli._interrupts import Interrupted
from conformance.cli._judging import judged_again
from conformance.cli._options import EXISTING, FILE
from conformance.cli._outputs import all_option
from conformance.contain.errors import CannotStart
from conformance.contain.jsonhttp import is_loopback
from conformance.contain.supervised import in_words
from conformance.contain.text import many
from conformance.disk.files import DiskError
from conformance.engine.recorded import read_recorded
from conformance.recording.journal import Journal
from conformance.recording.keeping import MOST_PER_CALL, Bounds
from conformance.recording.live import Live
from conformance.recording.plans import PlanError, read_plan
from conformance.recording.proxy import Listener, Proxy, ProxyPlan, Upstream, joined, record
from conformance.reference.guard import ServerTls
from conformance.targets.endpoint import Tls

_ADDRESS: Final = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:/\[\]]+)):(?P<port>\d{1,5})")
_MIB: Final = 1 << 20


class _Address(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click alone
    """``HOST:PORT``, as host and port."""

    name = "HOST:PORT"

    def convert(
        self, value: str | tuple[str, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """The host and the port of a text."""
        if isinstance(value, tuple):
            return value
        found = _ADDRESS.fullmatch(value)
        if found is None or int(found["port"]) > 65535:
            self.fail(f"expected HOST:PORT such as 127.0.0.1:9060 or [::1]:9060, got {value!r}", param, ctx)
        return found["six"] or found["host"], int(found["port"])


ADDRESS: Final = _Address()
ANY_PORT: Final = ("127.0.0.1", 0)


@click.command()
@click.option("--listen", type=ADDRESS, default="127.0.0.1:0", show_default=True, help="Where clients speak gRPC.")
@click.option("--upstream", type=ADDRESS, required=True, help="Where the server speaks gRPC.")
@click.option("--rest-listen", type=ADDRESS, help="Where clients speak REST; any free port by default.")
@click.option("--rest-upstream", type=ADDRESS, help="Where the server speaks REST; of it, jobs.query is recorded.")
@click.option("--out", metavar="FILE", required=True, type=FILE, help="The log; a file of that name is replaced.")
@click.option("--faults", metavar="FILE", type=EXISTING, help="Let the faults of this plan happen to calls.")
@click.option("--judge", is_flag=True, help="Judge each call as it ends, and everything at the end.")
@all_option
@click.option("--tls-certificate", metavar="FILE", type=EXISTING, help="Let clients speak TLS, with this PEM file.")
@click.option("--tls-key", metavar="FILE", type=EXISTING, help="The key of the certificate.")
@click.option("--client-ca", metavar="FILE", type=EXISTING, help="Require client certificates of this authority.")
@click.option("--upstream-tls", is_flag=True, help="Speak TLS with the server; the options below imply it.")
@click.option("--upstream-ca", metavar="FILE", type=EXISTING, help="Authorities to trust, instead of the system's.")
@click.option("--upstream-certificate", metavar="FILE", type=EXISTING, help="The client certificate for the server.")
@click.option("--upstream-key", metavar="FILE", type=EXISTING, help="The key of the client certificate.")
@click.option("--upstream-server-name", metavar="NAME", help="The name that the server's certificate must have.")
@click.option(
    "--keep-call",
    metavar="MIB",
    type=click.IntRange(1, MOST_PER_CALL >> 20),
    default=16,
    show_default=True,
    help="Keep at most so much of one call.",
)
@click.option(
    "--keep-together",
    metavar="MIB",
    type=click.IntRange(min=1),
    default=128,
    show_default=True,
    help="Keep at most so much of all calls in progress.",
)
@click.argument("program", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
def command(
    *,
    listen: tuple[str, int],
    upstream: tuple[str, int],
    rest_listen: tuple[str, int] | None,
    rest_upstream: tuple[str, int] | None,
    out: Path,
    faults: Path | None,
    judge: bool,
    complete: bool,
    tls_certificate: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
    upstream_tls: bool,
    upstream_ca: Path | None,
    upstream_certificate: Path | None,
    upstream_key: Path | None,
    upstream_server_name: str | None,
    keep_call: int,
    keep_together: int,
    program: tuple[str, ...],
) -> None:
    """Record what a client and a server say to each other, without changing a byte unless a fault plan says so.

    \b
    conformance record --upstream 127.0.0.1:9060 --out said.log -- python -m my_client
    conformance replay said.log

    The proxy listens, passes every gRPC call on, and writes each call of a protocol that the suite knows to
    the log when it ends.
    COMMAND is started with the addresses in CONFORMANCE_GRPC, CONFORMANCE_REST and BIGQUERY_EMULATOR_HOST. The
    recording ends with it; without COMMAND, the addresses are printed, and it ends at Ctrl-C.

    \b
    Exit status: 0 recorded, and nothing unexpected with --judge; 1 findings, or COMMAND failed; 2 unusable input.
    """  # noqa: D301  # click wants the character, not the escape
    if rest_listen is not None and rest_upstream is None:
        raise click.UsageError("expected --rest-upstream with --rest-listen, got none")
    accept = _accept(tls_certificate, tls_key, client_ca)
    given = (upstream_ca, upstream_certificate, upstream_key, upstream_server_name)
    if (upstream_certificate is None) != (upstream_key is None):
        raise click.UsageError("expected both --upstream-certificate and --upstream-key, got one of them")
    tls = Tls(*("" if one is None else str(one) for one in given)) if upstream_tls or any(given) else None
    for own, other in ((listen, upstream), (rest_listen, rest_upstream)):
        if own is not None and other is not None and _is_one(own, other):
            raise click.UsageError(f"expected the address of a server, got that of the proxy itself: {joined(*other)}")
    listener = Listener(listen, rest_listen or ANY_PORT, accept)
    try:
        happens = () if faults is None else read_plan(faults).faults
        plan = ProxyPlan(listener, Upstream(upstream, rest_upstream, tls), happens)
    except PlanError as error:
        raise Unusable(str(error)) from None
    except ValueError as error:
        raise Unusable(f"{faults}: {error}") from None
    live = Live(lambda line: click.echo(line, err=True)) if judge else None
    bounds = Bounds(call=keep_call * _MIB, together=keep_together * _MIB)
    journal = Journal(out, target=f"{upstream[0]}:{upstream[1]}", bounds=bounds, seen=live)
    code, remarks = _record(plan, journal, program)
    _say(journal, remarks, out)
    if code:
        click.echo(f"{program[0]}: {in_words(code)}", err=True)
    fails = judge and _judged(out, journal.written, complete=complete)
    if program and code is None and not fails:  # a signal came first, and the command may have had more to say
        raise Interrupted(f"the command was ended before its end; {out} has what was recorded until then")
    sys.exit(1 if fails or code else 0)


def _is_one(own: tuple[str, int], other: tuple[str, int]) -> bool:
    """True if who listens at ``own`` is reached at ``other``, as far as the texts tell."""
    hosts = {own[0], other[0]}
    # 0.0.0.0 and :: are every address of this machine.
    here = all(host in ("0.0.0.0", "::") or is_loopback(host) for host in hosts)  # noqa: S104  # nothing is bound to it
    return own[1] == other[1] != 0 and (len(hosts) == 1 or here)


def _say(journal: Journal, remarks: Iterable[str], out: Path) -> None:
    """Print what was recorded; raises `Unusable` if the log could not be written."""
    for remark in (*journal.remarks(), *remarks):
        click.echo(remark, err=True)
    click.echo(f"{many(journal.written, 'call')} recorded in {out}", err=True)
    if journal.failure is not None:
        raise Unusable(str(journal.failure))


def _record(plan: ProxyPlan, journal: Journal, program: tuple[str, ...]) -> tuple[int | None, tuple[str, ...]]:
    def ready(proxy: Proxy) -> None:
        if program:
            return  # standard output is the command's
        for event, address in (("grpc.listen", proxy.grpc), ("rest.listen", proxy.rest)):
            if address:
                click.echo(json.dumps({"event": event, "port": int(address.rpartition(":")[2])}))

    with journal:
        try:
            return asyncio.run(record(plan, journal, command=program, ready=ready))
        except CannotStart as error:
            raise Unusable(str(error)) from None
        except DiskError:
            raise
        except OSError as error:  # an address or a certificate
            raise Unusable(f"cannot listen: {error}") from None


def _judged(out: Path, calls: int, *, complete: bool) -> bool:
    """Judge a log; True if something fails, or if there is nothing to judge."""
    if not calls:
        click.echo("nothing was judged: no call of a protocol that the suite knows came", err=True)
        return True
    return judged_again(read_recorded(out), complete=complete).fails


def _accept(certificate: Path | None, key: Path | None, client_ca: Path | None) -> ServerTls | None:
    if certificate is None and key is None and client_ca is None:
        return None
    if certificate is None or key is None:
        raise click.UsageError("expected both --tls-certificate and --tls-key for a listener with TLS")
    return ServerTls(certificate, key, client_ca)
