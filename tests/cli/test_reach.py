"""``conformance run`` on servers behind TLS, tokens and quotas: what it says, what it keeps, and what it hides."""

from __future__ import annotations

import base64
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import click.testing
import pytest

from conformance.contain.child import Child
from conformance.engine.log import read_log
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.reference.guard import Guard, ServerTls
from tests.certificates import make_certificates
from tests.cli.typed import conformance_
from tests.patience import LONG

TOKEN = "ya29.a-token-that-nobody-has"  # made up

FORMS = [TOKEN.encode(), *(base64.b64encode(bytes(shift) + TOKEN.encode())[4:-4] for shift in range(3))]
"""The token as it is, and in base64 from each place of a longer text, as a log holds bytes."""

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


def write(grpc: str, rest: str, certificates: Path, *, tls: str = "", more: str = "", ca: str = "ca") -> None:
    """Write the target file of a server behind TLS."""
    Path("far.toml").write_text(
        f"""
        name = "far"
        kind = "server"
        [endpoint]
        grpc = "{grpc}"
        rest = "https://{rest}"
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
    server = serve(clients=True)
    write(server.grpc_endpoint, server.rest_endpoint, certificates, tls=client)

    result = run()

    assert "PASSED" in result.output, result.output
    assert result.exit_code == 0


NOT_SIGNED = (
    "the server's certificate is not signed by '{folder}/other-ca.pem' (unable to get local issuer certificate):"
    " [endpoint.tls] ca"
)
OTHER_NAME = "the server's certificate is for another name than '127.0.0.1': [endpoint.tls] server_name"
NO_CERTIFICATE = "the server ended the connection; it may require a client certificate: [endpoint.tls] certificate"


@pytest.mark.parametrize(
    ("options", "ca", "sentence"),
    [
        ({}, "other-ca", NOT_SIGNED),
        ({"certificate": "elsewhere"}, "ca", OTHER_NAME),
        ({"clients": True}, "ca", NO_CERTIFICATE),
    ],
)
def test_a_connection_that_tls_refuses_is_one_sentence(
    serve: Serve, certificates: Path, options: dict[str, object], ca: str, sentence: str
) -> None:
    """The sentence names the key to change, and the run ends at once."""
    server = serve(**options)
    write(server.grpc_endpoint, server.rest_endpoint, certificates, ca=ca)

    result = run()

    said = f"far.toml: cannot reach {server.grpc_endpoint}: {sentence.format(folder=certificates)}"
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].endswith(said)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"without_role": True},
            (
                "the credentials lack a permission, not even for a plain request (CreateReadSession ended in"
                " PERMISSION_DENIED: request failed: the user does not have 'bigquery.readsessions.create' permission)"
            ),
        ),
        (
            {"token_calls": 0},
            (
                "the server does not accept the credentials, not even for a plain request (CreateReadSession ended in"
                " UNAUTHENTICATED: The access token has expired.)"
            ),
        ),
    ],
)
def test_credentials_that_are_not_enough_are_one_sentence(
    serve: Serve, certificates: Path, options: dict[str, object], sentence: str
) -> None:
    """Nothing can be judged, and no clause failed."""
    server = serve(**options)
    write(server.grpc_endpoint, server.rest_endpoint, certificates)

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].endswith(f"far.toml: {sentence}")


def test_a_token_that_the_server_does_not_know_is_one_sentence(
    serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REST refuses it first, while the table is made."""
    server = serve()
    write(server.grpc_endpoint, server.rest_endpoint, certificates)
    monkeypatch.setenv("A_TOKEN", "another-token-entirely")

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert "far.toml: the server does not accept the credentials, not even for a plain request" in result.stderr
    assert "HTTP 401 Request had invalid authentication credentials" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"token_calls": 8}, "the server does not accept the credentials"),
        ({"quota_calls": 8}, "a quota is exceeded"),
    ],
)
def test_a_refusal_in_the_middle_keeps_the_verdicts_had_before(
    serve: Serve, certificates: Path, options: dict[str, object], sentence: str
) -> None:
    """The cases before it are judged, those after it are untestable and no failure, and the run is incomplete."""
    server = serve(**options)
    write(server.grpc_endpoint, server.rest_endpoint, certificates)

    result = run()
    lost = not_asked()

    assert result.exit_code == 1
    assert f"INCOMPLETE: set-up: {sentence}, not even for a plain request (" in result.output
    assert 0 < len(lost) < len(CASES)
    assert "FAIL" not in result.output
    report = conformance_("report", ".conformance/far.jsonl")
    assert (report.exit_code, report.output.count("INCOMPLETE: set-up: ")) == (1, 1)


def test_a_quota_that_recovers_costs_nothing(serve: Serve, certificates: Path) -> None:
    """The server says when it can be asked again, and the case is put again then."""
    server = serve(quota_calls=8, refused_calls=1)
    write(server.grpc_endpoint, server.rest_endpoint, certificates)

    result = run()

    assert (result.exit_code, not_asked()) == (0, [])
    assert "PASSED" in result.output


def test_a_token_that_expires_is_renewed(serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new one is asked for when the server refuses the old one, and the case is put again."""
    tokens = [f"a-token-of-the-series-{number}" for number in range(4)]
    left = iter(tokens)
    monkeypatch.setattr("conformance.targets.credentials._variable", lambda _: next(left))
    server = serve(token_calls=12)
    server.guard.tokens = lambda: tokens  # type: ignore[union-attr]  # the fixture gave one
    write(server.grpc_endpoint, server.rest_endpoint, certificates)

    result = run()

    assert (result.exit_code, not_asked()) == (0, [])
    assert len([*left]) < 3


def test_a_secret_in_a_refusal_of_rest_is_in_no_output(
    serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The body of the error repeats a token that the server does not know."""
    server = serve(echo=True)
    write(server.grpc_endpoint, server.rest_endpoint, certificates)
    monkeypatch.setenv("A_TOKEN", "another-token-entirely")

    result = run()

    assert result.exit_code == 2
    assert "(authorization: Bearer ***" in result.output
    assert "another-token-entirely" not in result.output


def test_without_a_token_the_run_ends_before_it_begins(
    serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence names the file and the variable."""
    server = serve()
    write(server.grpc_endpoint, server.rest_endpoint, certificates)
    monkeypatch.delenv("A_TOKEN")

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    said = "far.toml: [endpoint]: expected a secret in the environment variable A_TOKEN, which is not set"
    assert result.stderr.splitlines()[-1].endswith(said)


def test_a_file_that_is_no_certificate_is_one_sentence(serve: Serve, certificates: Path) -> None:
    """OpenSSL's words, and the file."""
    server = serve()
    write(server.grpc_endpoint, server.rest_endpoint, certificates)
    Path("no.pem").write_text("nothing")
    file = Path("far.toml")
    file.write_text(file.read_text().replace(f"{certificates}/ca.pem", "no.pem"))

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert "far.toml: [endpoint.tls]: expected PEM files that belong together: ca 'no.pem': " in result.stderr


@pytest.mark.parametrize("named", [False, True])
def test_a_secret_that_the_server_repeats_is_in_no_output(
    serve: Serve,
    certificates: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    named: bool,
) -> None:
    """Status messages, metadata of both kinds and names of sessions repeat the token; no output, log or report has it.

    ``named`` servers put it into each name, so that nothing can be read; the others refuse in the middle.
    """
    server = serve(echo=True, quota_calls=None if named else 8)
    if named:
        monkeypatch.setattr(server.service, "name_session", lambda parent: f"{parent}/locations/us/sessions/{TOKEN}")
    write(
        server.grpc_endpoint, server.rest_endpoint, certificates, more=f'headers = {{ x-api-key = "key-{TOKEN}-key" }}'
    )
    written = ["--json", "out.json", "--junit", "out.xml", "--html", "out.html", "--sarif", "out.sarif"]

    result = run(*written, "--github", "--no-smoke")
    shown = conformance_("report", ".conformance/far.jsonl", "--all")
    pages = ("--markdown", "statement.md", "--html", "statement.html")
    statement = conformance_("statement", "out.json", *pages)

    assert result.exit_code == shown.exit_code == 1, result.output
    assert statement.exit_code == 0, statement.output
    outputs = [result.output, shown.output, statement.output]
    files = [path for path in Path().rglob("*") if path.is_file() and path.name != "far.toml"]
    assert {path.suffix for path in files} >= {".json", ".xml", ".html", ".sarif", ".jsonl", ".md"}
    assert "***" in result.output
    assert [text for text in outputs if TOKEN in text] == []
    assert [path for path in files if any(form in path.read_bytes() for form in FORMS)] == []


def test_the_command_serves_behind_tls_and_tokens(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``conformance serve`` gives a client of one's own the same server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_TOKEN", TOKEN)
    Path("tokens").write_text(f"another-one\n{TOKEN}\n")
    files = ("--tls-certificate", f"{certificates}/server.pem", "--tls-key", f"{certificates}/server.key")
    refusing = ("--token-file", "tokens", "--quota-calls", "8", "--quota-refuses", "1")
    child = Child([sys.executable, "-m", "conformance", "serve", *files, *refusing], environment=os.environ)
    try:
        until = time.monotonic() + LONG
        ports = [child.wait_for_port(f"{side}.listen", until) for side in ("grpc", "rest")]
        assert all(ports), child.last_words()
        write(f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}", certificates)

        result = run()
    finally:
        child.stop(grace=0)

    assert (result.exit_code, not_asked()) == (0, []), result.output


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--tls-key", "empty"), "expected both --tls-certificate and --tls-key for a server with TLS"),
        (("--tls-certificate", "empty", "--tls-key", "empty"), "cannot serve: "),
        (("--token-file", "none"), "none: cannot read the tokens: "),
        (("--token-file", "empty"), "empty: expected a token in each line, got none"),
    ],
)
def test_the_command_refuses_what_it_cannot_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], sentence: str
) -> None:
    """One sentence, and no server."""
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()

    result = conformance_("serve", *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {sentence}")
