"""``conformance serve``: start an embedded reference server, of Storage Read or of Arrow Flight, or a mutant of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from conformance.cli._common import known_scenario
from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING
from conformance.contain.text import unknown
from conformance.disk.files import read_text
from conformance.reference.delays import Delays
from conformance.reference.flight.deviations import FLIGHT_NAMES
from conformance.reference.flight.mutants import FLIGHT_MUTANTS
from conformance.reference.flight.scenarios import SCENARIOS
from conformance.reference.flight.serving import serve_flight
from conformance.reference.guard import Guard, ServerTls
from conformance.reference.mutants import FAULTY_SERVERS, MUTANTS, STACKED_WITH
from conformance.reference.servicevariations import SERVICE_VARIATIONS
from conformance.reference.serving import serve

COUNT = click.IntRange(min=0)
OF_FLIGHT = frozenset(
    {"flight", "mutant", "list_mutants", "scenario", "host", "tls_certificate", "tls_key", "client_ca", "socket"}
)
"""The parameters that the Flight reference knows."""


@click.command()
@click.option("--flight", is_flag=True, help="Serve Arrow Flight RPC instead of the Storage Read API.")
@click.option("--mutant", metavar="NAME", help="Serve with a named deviation from the contract; + joins several.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List the mutants and exit.")
@click.option("--scenario", metavar="NAME", help="With --flight: serve a scenario of Arrow's integration tests.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind.")
@click.option("--tls-certificate", metavar="FILE", type=EXISTING, help="Speak TLS on both ports, with this PEM file.")
@click.option("--tls-key", metavar="FILE", type=EXISTING, help="The key of the certificate.")
@click.option("--client-ca", metavar="FILE", type=EXISTING, help="Require client certificates of this authority.")
@click.option("--socket", metavar="PATH", type=click.Path(path_type=Path), help="Listen at PATH, with --flight.")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Require one of the tokens in FILE, one in each line.",
)
@click.option("--token-calls", metavar="N", type=COUNT, help="Let each token expire after N gRPC calls.")
@click.option("--token-requests", metavar="N", type=COUNT, help="Let each token expire after N REST requests.")
@click.option("--without-role", is_flag=True, help="Refuse every gRPC call with PERMISSION_DENIED.")
@click.option("--without-jobs", is_flag=True, help="Refuse every load job and query with 403.")
@click.option("--quota-calls", metavar="N", type=COUNT, help="Let a quota end after N gRPC calls.")
@click.option("--quota-refuses", metavar="N", type=COUNT, help="Refuse only N calls then, instead of all others.")
@click.option("--quota-requests", metavar="N", type=COUNT, help="Let a quota end after N REST requests that write.")
@click.option("--quota-refuses-requests", metavar="N", type=COUNT, help="Refuse only N of them then.")
@click.option("--job-polls", metavar="N", type=COUNT, default=0, help="Let a load job run for N more questions.")
@click.option("--limited-jobs", metavar="N", type=COUNT, default=0, help="End the first N jobs in rateLimitExceeded.")
@click.option("--hidden-polls", metavar="N", type=COUNT, default=0, help="Show the rows of a job after N listings.")
def command(
    *,
    flight: bool,
    mutant: str | None,
    list_mutants: bool,
    scenario: str | None,
    host: str,
    tls_certificate: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
    socket: Path | None,
    token_file: Path | None,
    token_calls: int | None,
    token_requests: int | None,
    without_role: bool,
    without_jobs: bool,
    quota_calls: int | None,
    quota_refuses: int | None,
    quota_requests: int | None,
    quota_refuses_requests: int | None,
    job_polls: int,
    limited_jobs: int,
    hidden_polls: int,
) -> None:
    """Start the reference server on free ports, print them as JSON lines, and serve until interrupted.

    --mutant also takes the name of a legal variation of a service, and --mutants lists these as well. The scenario of
    Arrow's integration tests that has no name is ''.
    """
    names = FLIGHT_NAMES if flight else (*MUTANTS, *FAULTY_SERVERS, *SERVICE_VARIATIONS)
    if list_mutants:
        for name in names if flight else (*names, *FLIGHT_MUTANTS):
            click.echo(name)
        return
    if flight:
        _serve_flight(mutant, scenario, host, _tls(tls_certificate, tls_key, client_ca), socket)
        return
    _check_storage_read(mutant, scenario, socket, names)
    guard = Guard(
        tokens=tuple if token_file is None else lambda: _tokens(token_file),
        token_calls=token_calls,
        token_requests=token_requests,
        without_role=without_role,
        without_jobs=without_jobs,
        quota_calls=quota_calls,
        refused_calls=quota_refuses,
        quota_requests=quota_requests,
        refused_requests=quota_refuses_requests,
    )
    if token_file is not None and not _tokens(token_file):
        raise Unusable(f"{token_file}: expected a token in each line, got none")
    delays = Delays(job_polls, limited_jobs, hidden_polls)
    tls = _tls(tls_certificate, tls_key, client_ca)
    try:
        serve(mutant=mutant, host=host, say=click.echo, tls=tls, guard=guard, delays=delays)
    except OSError as error:  # a certificate, or the address
        raise Unusable(f"cannot serve: {error}") from None


def _check_storage_read(mutant: str | None, scenario: str | None, socket: Path | None, names: Sequence[str]) -> None:
    """Refuse what only the Flight reference has, and mutants that neither has."""
    if socket is not None:
        raise click.UsageError("expected --flight with --socket: Storage Read is served on ports")
    if scenario is not None:
        raise click.UsageError(f"expected --flight with --scenario {scenario}")
    if mutant in FLIGHT_NAMES:
        raise click.UsageError(f"expected --flight with {mutant}, which the Flight reference has")
    for name in () if mutant is None else mutant.split(STACKED_WITH):
        if name not in names:
            raise Unusable(unknown("mutant", name, names, "`conformance serve --mutants` lists them all"))


def _serve_flight(
    mutant: str | None, scenario: str | None, host: str, tls: ServerTls | None, socket: Path | None
) -> None:
    context = click.get_current_context()
    if socket is not None and (tls is not None or context.get_parameter_source("host") is not ParameterSource.DEFAULT):
        raise click.UsageError("expected no --host and no certificate with --socket: they are about a port")
    for name in sorted(set(context.params) - OF_FLIGHT):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"expected no --{name.replace('_', '-')} with --flight: it is about Storage Read")
    if mutant is not None and mutant not in FLIGHT_NAMES:
        raise Unusable(unknown("mutant", mutant, FLIGHT_NAMES, "`conformance serve --flight --mutants` lists them all"))
    if scenario is not None and mutant is not None:
        raise click.UsageError(f"expected --scenario or --mutant, got both: {scenario!r} and {mutant}")
    if scenario is not None:
        known_scenario(scenario, tuple(SCENARIOS))
    try:
        path = None if socket is None else socket.absolute()
        serve_flight(mutant=mutant, scenario=scenario, host=host, say=click.echo, tls=tls, path=path)
    except OSError as error:  # a certificate, or the address
        raise Unusable(f"cannot serve: {error}") from None


def _tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> ServerTls | None:
    if certificate is None and key is None and client_ca is None:
        return None
    if certificate is None or key is None:
        raise Unusable("expected both --tls-certificate and --tls-key for a server with TLS")
    return ServerTls(certificate, key, client_ca)


def _tokens(file: Path) -> list[str]:
    """The tokens that are accepted now: the file may change while the server runs."""
    try:
        return read_text(file).split()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{file}: cannot read the tokens: {error}") from None
