"""``conformance run`` on servers behind TLS, tokens and quotas: what it says, what it keeps, and what it hides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import click.testing
import pytest

from conformance.engine.log import read_log
from conformance.reference.guard import Guard, ServerTls
from conformance.reference.server import ReferenceServer
from tests.certificates import make_certificates
from tests.cli.typed import conformance_

TOKEN = "ya29.a-token-that-nobody-has"  # noqa: S105  # made up

Serve = Callable[..., ReferenceServer]

CASES = ("types.int64", "types.string", "types.bool", "types.date", "errors.missing-table")
SELECTED = [word for case in CASES for word in ("--select", case)]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the certificates."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def serve(certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Reference servers that end with the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_TOKEN", TOKEN)
    with ExitStack() as stack:

        def start(*, certificate: str = "server", clients: bool = False, **options: object) -> ReferenceServer:
            tls = ServerTls(
                certificates / f"{certificate}.pem",
                certificates / f"{certificate}.key",
                certificates / "ca.pem" if clients else None,
            )
            guard = Guard(tokens=lambda: [TOKEN], **options)  # type: ignore[arg-type]  # each test gives what it needs
            return stack.enter_context(ReferenceServer(tls=tls, guard=guard))

        yield start


def write(server: ReferenceServer, certificates: Path, *, tls: str = "", more: str = "", ca: str = "ca") -> None:
    """Write the target file of a server behind TLS."""
    Path("far.toml").write_text(
        f"""
        name = "far"
        kind = "server"
        [endpoint]
        grpc = "{server.grpc_endpoint}"
        rest = "https://{server.rest_endpoint}"
        {more}
        [endpoint.tls]
        ca = "{certificates}/{ca}.pem"
        {tls}
        [endpoint.token]
        variable = "A_TOKEN"
        """
    )


def run(*more: str) -> click.testing.Result:
    """Judge the server by a few cases, without readers."""
    return conformance_("run", "--target", "far.toml", "--no-readers", "--all", *SELECTED, *more)


def not_asked() -> list[str]:
    """The cases that the set-up kept from being asked, by the log."""
    judged = [event for event in read_log(Path(".conformance/far.jsonl")) if hasattr(event, "verdicts")]
    return [event.case_id for event in judged if event.verdicts[0].reason.startswith("set-up: ")]


def test_a_server_behind_tls_and_a_token_passes(serve: Serve, certificates: Path) -> None:
    """TLS, a client certificate and a token on both ports, with another name than that of the address."""
    client = f'certificate = "{certificates}/client.pem"\nkey = "{certificates}/client.key"\nserver_name = "here"'
    write(serve(clients=True), certificates, tls=client)

    result = run()

    assert "PASSED" in result.output, result.output
    assert result.exit_code == 0
