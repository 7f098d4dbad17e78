"""``conformance serve``: start the embedded reference server, or one of its mutants."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli._group import Unusable
from conformance.cli._options import FILE
from conformance.contain.text import unknown
from conformance.reference.__main__ import serve
from conformance.reference.delays import Delays
from conformance.reference.guard import Guard, ServerTls
from conformance.reference.mutants import FAULTY_SERVERS, MUTANTS, STACKED_WITH

COUNT = click.IntRange(min=0)


@click.command()
@click.option("--mutant", metavar="NAME", help="Serve with a named deviation from the contract; + joins several.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List the mutants and exit.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind.")
@click.option("--tls-certificate", metavar="FILE", type=FILE, help="Speak TLS on both ports, with this PEM file.")
@click.option("--tls-key", metavar="FILE", type=FILE, help="The key of the certificate.")
@click.option("--client-ca", metavar="FILE", type=FILE, help="Require client certificates that this authority signed.")
@click.option("--token-file", metavar="FILE", type=FILE, help="Require one of the tokens in FILE, one in each line.")
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
    mutant: str | None,
    list_mutants: bool,
    host: str,
    tls_certificate: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
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
    """Start the reference server on free ports, print them as JSON lines, and serve until interrupted."""
    names = (*MUTANTS, *FAULTY_SERVERS)
    if list_mutants:
        for name in names:
            click.echo(name)
        return
    for name in () if mutant is None else mutant.split(STACKED_WITH):
        if name not in names:
            raise Unusable(unknown("mutant", name, names, "`conformance serve --mutants` lists them all"))
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


def _tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> ServerTls | None:
    if certificate is None and key is None and client_ca is None:
        return None
    if certificate is None or key is None:
        raise Unusable("expected both --tls-certificate and --tls-key for a server with TLS")
    return ServerTls(certificate, key, client_ca)


def _tokens(file: Path) -> list[str]:
    """The tokens that are accepted now: the file may change while the server runs."""
    try:
        return file.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{file}: cannot read the tokens: {error}") from None
