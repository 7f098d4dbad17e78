"""``conformance serve``: start the embedded reference server of a protocol, or a mutant of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from conformance.cli._common import known_scenario
from conformance.cli._group import Unusable
from conformance.cli._options import EXISTING, protocol_options
from conformance.contain.text import unknown
from conformance.disk.files import read_text
from conformance.protocol import DEFAULT_PROTOCOL, plugin, plugins, title_of
from conformance.reference.delays import Delays
from conformance.reference.guard import Guard, ServerTls
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import STACKED_WITH

COUNT = click.IntRange(min=0)
PARTS: Final = {
    **{name: name for name in ("mutant", "scenario", "host")},
    **dict.fromkeys(("tls_certificate", "tls_key", "client_ca"), "tls"),
    "socket": "path",
}
"""The options that a part of a server is made of; all others but :data:`DELAYS` belong to its guard."""
DELAYS: Final = ("job_polls", "limited_jobs", "hidden_polls")


@click.command()
@protocol_options(ReferencePlugin, "Serve {title} instead of the Storage Read API.")
@click.option("--mutant", metavar="NAME", help="Serve with a named deviation from the contract; + joins several.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List the mutants and exit.")
@click.option("--scenario", metavar="NAME", help="Serve a scenario of Arrow's integration tests.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind.")
@click.option("--tls-certificate", metavar="FILE", type=EXISTING, help="Speak TLS on both ports, with this PEM file.")
@click.option("--tls-key", metavar="FILE", type=EXISTING, help="The key of the certificate.")
@click.option("--client-ca", metavar="FILE", type=EXISTING, help="Require client certificates of this authority.")
@click.option(
    "--socket",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Listen at PATH, at no port.",
)
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
@click.option(
    "--quota-refuses", "refused_calls", metavar="N", type=COUNT, help="Refuse only N calls then, instead of all others."
)
@click.option("--quota-requests", metavar="N", type=COUNT, help="Let a quota end after N REST requests that write.")
@click.option(
    "--quota-refuses-requests", "refused_requests", metavar="N", type=COUNT, help="Refuse only N of them then."
)
@click.option("--job-polls", metavar="N", type=COUNT, default=0, help="Let a load job run for N more questions.")
@click.option("--limited-jobs", metavar="N", type=COUNT, default=0, help="End the first N jobs in rateLimitExceeded.")
@click.option("--hidden-polls", metavar="N", type=COUNT, default=0, help="Show the rows of a job after N listings.")
def command(
    *,
    protocol: str,
    mutant: str | None,
    list_mutants: bool,
    scenario: str | None,
    host: str,
    tls_certificate: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
    socket: Path | None,
    token_file: Path | None,
    job_polls: int,
    limited_jobs: int,
    hidden_polls: int,
    **limits: Any,
) -> None:
    """Start the reference server on free ports, print them as JSON lines, and serve until interrupted.

    --mutant also takes the name of a legal variation of a service, and --mutants lists these as well. The scenario of
    Arrow's integration tests that has no name is ''.
    """
    brought = plugin(ReferencePlugin, protocol)
    mutants = _served(brought)
    names = (*mutants, *brought.faulty, *brought.variations())
    if list_mutants:
        _print_names(protocol, names)
        return
    _check_options(protocol, brought)
    _check_mutant(protocol, mutant, names, mutants)
    if scenario is not None:
        _check_scenario(scenario, mutant, brought)
    options = {
        "mutant": mutant,
        "scenario": scenario,
        "host": host,
        "tls": _tls(tls_certificate, tls_key, client_ca),
        "path": None if socket is None else socket.absolute(),
        "guard": Guard(tokens=_asked_tokens(token_file), **limits),
        "delays": Delays(job_polls, limited_jobs, hidden_polls),
    }
    try:
        brought.serve(say=click.echo, **{name: options[name] for name in brought.serve_options})
    except OSError as error:  # a certificate, or the address
        raise Unusable(f"cannot serve: {error}") from None


def _served(brought: ReferencePlugin) -> list[str]:
    """The mutants that a server can have: not those of the readings of an exchange."""
    return [name for name, mutant in brought.mutants().items() if mutant.readings is None]


def _print_names(protocol: str, names: Sequence[str]) -> None:
    """Print what --mutant takes; without a protocol, the mutants of all protocols."""
    others = [one for name, one in plugins(ReferencePlugin).items() if name not in (protocol, DEFAULT_PROTOCOL)]
    more = [name for one in others for name in _served(one)] if protocol == DEFAULT_PROTOCOL else []
    for name in (*names, *more):
        click.echo(name)


def _check_options(protocol: str, brought: ReferencePlugin) -> None:
    """Refuse options that would change nothing for the reference of this protocol."""
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name in sorted(given - {"protocol", "list_mutants"}):
        part = PARTS.get(name, "guard" if name not in DELAYS else "delays")
        if part in brought.serve_options:
            continue
        option = options[name]
        if protocol != DEFAULT_PROTOCOL:
            raise click.UsageError(f"expected no {option} with --{protocol}: its reference does not have that")
        known = [other for other, one in plugins(ReferencePlugin).items() if part in one.serve_options]
        raise click.UsageError(f"expected {' or '.join(f'--{other}' for other in known)} with {option}")
    if "socket" in given and {"host", "tls_certificate", "tls_key", "client_ca"} & given:
        raise click.UsageError("expected no --host and no certificate with --socket: they are about a port")


def _check_mutant(protocol: str, mutant: str | None, names: Sequence[str], mutants: Sequence[str]) -> None:
    """Refuse a mutant that the reference of this protocol does not have; only the default one has stacks of them."""
    flag = "" if protocol == DEFAULT_PROTOCOL else f" --{protocol}"
    stack = () if mutant is None else mutant.split(STACKED_WITH) if protocol == DEFAULT_PROTOCOL else (mutant,)
    for name in stack:
        if name in (names if len(stack) == 1 else mutants):
            continue
        if name in names:
            raise click.UsageError(f"expected {name} alone: only mutants are joined by {STACKED_WITH}")
        for other, one in plugins(ReferencePlugin).items() if protocol == DEFAULT_PROTOCOL else ():
            if other != protocol and name in (*one.mutants(), *one.variations()):
                raise click.UsageError(f"expected --{other} with {name}, which the reference of {title_of(other)} has")
        raise Unusable(unknown("mutant", name, names, f"`conformance serve{flag} --mutants` lists them all"))


def _check_scenario(scenario: str, mutant: str | None, brought: ReferencePlugin) -> None:
    """Refuse a scenario of a mutant, and one that the reference does not play."""
    if mutant is not None:
        raise click.UsageError(f"expected --scenario or --mutant, got both: {scenario!r} and {mutant}")
    known_scenario(scenario, tuple(brought.scenarios()))


def _tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> ServerTls | None:
    if certificate is None and key is None and client_ca is None:
        return None
    if certificate is None or key is None:
        raise Unusable("expected both --tls-certificate and --tls-key for a server with TLS")
    return ServerTls(certificate, key, client_ca)


def _asked_tokens(path: Path | None) -> Callable[[], Sequence[str]]:
    """Gives the tokens of a file as they are at each call; raises `Unusable` if there are none at the start."""
    if path is None:
        return tuple
    if not _tokens(path):
        raise Unusable(f"{path}: expected a token in each line, got none")
    return lambda: _tokens(path)


def _tokens(file: Path) -> list[str]:
    """The tokens that are accepted now: the file may change while the server runs."""
    try:
        return read_text(file).split()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{file}: cannot read the tokens: {error}") from None
