"""``[endpoint]`` is read strictly: what cannot go together is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.targets import TargetError
from conformance.targets.endpoint import Endpoint, Tls, Token
from tests.targets.conftest import Write

HEAD = 'name = "far"\nkind = "server"\n[endpoint]\n'
LOCAL = HEAD + 'grpc = "127.0.0.1:1"\n'
FAR = HEAD + 'grpc = "far:443"\n'


def test_everything_is_read(target_file: Write, tmp_path: Path) -> None:
    """All keys, and paths beside the file."""
    for name in ("ca.pem", "me.pem", "me.key"):
        (tmp_path / name).touch()

    spec = target_file(
        FAR
        + 'rest = "https://far"\nheaders = { x-one = "1" }\nheader_variables = { x-two = "TWO" }\n'
        + '[endpoint.tls]\nca = "ca.pem"\ncertificate = "me.pem"\nkey = "me.key"\nserver_name = "near"\n'
        + '[endpoint.token]\ncommand = ["print-token"]\nlifetime = 60\n'
    )

    assert spec.endpoint == Endpoint(
        "far:443",
        "https://far",
        Tls("ca.pem", "me.pem", "me.key", "near"),
        {"x-one": "1"},
        {"x-two": "TWO"},
        Token(("print-token",), lifetime=60),
    )
    assert spec.endpoint.names_credentials


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (LOCAL + 'tsl = "x"', "target.endpoint"),
        *[
            (HEAD + f'grpc = "{address}"', "target.endpoint.grpc: expected host:port, such as localhost:9060 or")
            for address in ("", "far", "far:x", "far:0", "far:65536", "unix:", "unix-abstract:x", "dns:///far:443")
        ],
        (LOCAL + '[endpoint.tls]\nca = "none.pem"', "tls.ca: expected an existing file, relative to the target file"),
        (LOCAL + '[endpoint.tls]\nkey = "target.toml"', "tls.certificate: expected a PEM file, because there is a key"),
        (LOCAL + "[endpoint.token]", "token: expected one of command, file, variable and google = true but got []"),
        (LOCAL + '[endpoint.token]\nvariable = "A"\ngoogle = true', "expected one of command, file, variable and"),
        (LOCAL + '[endpoint.token]\nvariable = "A"\nlifetime = 0', "lifetime: expected seconds from 1 to 86400 but"),
        (LOCAL + '[endpoint.token]\nfile = "no.token"', "token.file: expected an existing file"),
        (FAR + '[endpoint.token]\nvariable = "A"', "expected [endpoint.tls] where a token leaves this machine"),
        (
            FAR + 'rest = "http://far"\n[endpoint.tls]\n[endpoint.token]\nvariable = "A"',
            "endpoint.rest: expected https where a token leaves this machine",
        ),
        (LOCAL + 'headers = { Upper = "1" }', "headers: expected names in lower case"),
        (LOCAL + 'headers = { grpc-timeout = "1S" }', "headers: expected names in lower case"),
        (LOCAL + 'headers = { host = "x" }', "of headers that neither gRPC nor the suite sets itself"),
        (LOCAL + 'headers = { x-secret = "é" }', "headers.x-secret: expected printable ASCII without blanks around it"),
        (
            LOCAL + 'headers = { authorization = "x" }\n[endpoint.token]\nvariable = "A"',
            "expected no authorization where there is an [endpoint.token]",
        ),
        (
            LOCAL + 'headers = { x-a = "1" }\nheader_variables = { x-a = "A" }',
            "header_variables: expected other names than those of headers but got ['x-a']",
        ),
        (LOCAL + '[ready]\nrest_path = "/up"', "ready.rest_path: expected no path where [endpoint] has no rest"),
    ],
)
def test_what_cannot_go_together_is_one_sentence(target_file: Write, text: str, sentence: str) -> None:
    """The sentence names the key."""
    with pytest.raises(TargetError) as raised:
        target_file(text)

    assert sentence in str(raised.value)
    assert "é" not in str(raised.value)


@pytest.mark.parametrize(
    "address", ["far:1", "far.example:65535", "[::1]:9060", "[fe80::1%eth0]:1", "unix:/a:b/c", "unix:a"]
)
def test_an_address_is_of_a_host_or_a_socket(address: str, target_file: Write) -> None:
    """Of either the suite can connect."""
    endpoint = target_file(HEAD + f'grpc = "{address}"').endpoint

    assert endpoint is not None
    assert endpoint.grpc == address
