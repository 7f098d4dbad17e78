"""``conformance run`` on servers behind TLS, tokens and quotas: what it says, what it keeps, and what it hides."""

from __future__ import annotations

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

TOKEN = "ya29.a-token-that-nobody-has"  # made up

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
    write(server, certificates, ca=ca)

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
    write(serve(**options), certificates)

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].endswith(f"far.toml: {sentence}")


def test_a_token_that_the_server_does_not_know_is_one_sentence(
    serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REST refuses it first, while the table is made."""
    write(serve(), certificates)
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
    write(serve(**options), certificates)

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
    write(serve(quota_calls=8, refused_calls=1), certificates)

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
    write(server, certificates)

    result = run()

    assert (result.exit_code, not_asked()) == (0, [])
    assert len([*left]) < 3


def test_a_secret_in_a_refusal_of_rest_is_in_no_output(
    serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The body of the error repeats a token that the server does not know."""
    write(serve(echo=True), certificates)
    monkeypatch.setenv("A_TOKEN", "another-token-entirely")

    result = run()

    assert result.exit_code == 2
    assert "(authorization: Bearer ***" in result.output
    assert "another-token-entirely" not in result.output


def test_without_a_token_the_run_ends_before_it_begins(
    serve: Serve, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence names the file and the variable."""
    write(serve(), certificates)
    monkeypatch.delenv("A_TOKEN")

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    said = "far.toml: [endpoint]: expected a secret in the environment variable A_TOKEN, which is not set"
    assert result.stderr.splitlines()[-1].endswith(said)


def test_a_file_that_is_no_certificate_is_one_sentence(serve: Serve, certificates: Path) -> None:
    """OpenSSL's words, and the file."""
    write(serve(), certificates)
    Path("no.pem").write_text("nothing")
    file = Path("far.toml")
    file.write_text(file.read_text().replace(f"{certificates}/ca.pem", "no.pem"))

    result = run()

    assert (result.exit_code, result.stdout) == (2, "")
    assert "far.toml: [endpoint.tls]: expected PEM files that belong together: ca 'no.pem': " in result.stderr


def test_a_secret_that_the_server_repeats_is_in_no_output(serve: Serve, certificates: Path) -> None:
    """Status messages, trailers and REST bodies repeat the token; no output, log or report has it."""
    write(serve(echo=True, quota_calls=8), certificates, more=f'headers = {{ x-api-key = "key-{TOKEN}-key" }}')
    written = ["--json", "out.json", "--junit", "out.xml", "--html", "out.html", "--sarif", "out.sarif"]

    result = run(*written, "--github")
    shown = conformance_("report", ".conformance/far.jsonl", "--all")
    statement = conformance_("statement", "out.json", "--out", "statement.json")

    assert result.exit_code == shown.exit_code == 1, result.output
    outputs = [result.output, shown.output, statement.output]
    files = [path for path in Path().rglob("*") if path.is_file() and path.name != "far.toml"]
    assert len(files) >= 5
    assert "***" in result.output
    assert [text for text in outputs if TOKEN in text] == []
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
