"""Flight servers over TLS, with client certificates and at sockets; and where a ticket is redeemed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.contract.judge import judge_view
from conformance.contract.viewing import view_of
from conformance.generate import materialise
from conformance.protocols.flight.contract.decoding import DecodedEndpoint as FlightEndpoint
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Flight
from conformance.protocols.flight.targets.locations import (
    MOST_LOCATIONS,
    ServerPlace,
    Trust,
    addressed,
    place_at,
    place_of,
    places_of,
)
from conformance.records import RecordError
from conformance.reference.guard import ServerTls
from conformance.targets import TargetError, TargetSpec, load_target, open_target
from conformance.targets.endpoint import Endpoint, Tls
from conformance.targets.targeterrors import TargetUnavailable
from tests.certificates import make_certificates
from tests.protocols.flight.reference.direct import FIXTURE, PUT_AND_GET, case_of

HERE = ServerPlace("127.0.0.1:4444")
ENDPOINT = FlightEndpoint(b"\x0a\x03\x0a\x01t", b"t", (), None)
CASES = ("flight.put-and-get", "flight.poll", "flight.undecodable", "flight.list")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the certificates."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))


class Miscounting(FlightService):
    """States a wrong number of records."""

    def total_records(self, flight: Flight) -> int:
        """No number of records."""
        return -7


@contextmanager
def served(transport: str, certificates: Path, tmp_path: Path, service: FlightService) -> Iterator[TargetSpec]:
    """A server over a transport, and the target file for it."""
    tls = {
        "tls": ServerTls(certificates / "server.pem", certificates / "server.key"),
        "mtls": ServerTls(certificates / "server.pem", certificates / "server.key", certificates / "ca.pem"),
    }.get(transport)
    path = tmp_path / "flight.sock" if transport == "socket" else None
    lines = {
        "tls": f'[endpoint.tls]\nca = "{certificates}/ca.pem"\n',
        "mtls": f'[endpoint.tls]\nca = "{certificates}/ca.pem"\ncertificate = "{certificates}/client.pem"\n'
        f'key = "{certificates}/client.key"\n',
    }.get(transport, "")
    with FlightServer(service, tls=tls, path=path) as server:
        file = tmp_path / f"{transport}.toml"
        text = f'name = "x"\nkind = "flight"\n[flight]\nseeding = "put"\n[endpoint]\ngrpc = "{server.uri}"\n{lines}'
        file.write_text(text)
        yield load_target(file)


def verdicts(spec: TargetSpec) -> list[tuple[str, str, str]]:
    """What is judged of a target on some cases."""
    found = []
    with open_target(spec) as target:
        for one in FIXTURE.served(()):
            if one.case.id not in CASES:
                continue
            exchange = target.drive(one.case, one.table)
            assert not exchange.untestable, exchange.untestable
            view = view_of(one.case, exchange, one.table)
            found += [(one.case.id, verdict.clause, verdict.outcome) for verdict in judge_view(view, FIXTURE.clauses)]
    return found


@pytest.mark.parametrize("transport", ["tls", "mtls", "socket"])
@pytest.mark.parametrize("service", [FlightService, Miscounting])
def test_the_verdicts_are_those_of_plain_text(
    transport: str, service: type[FlightService], certificates: Path, tmp_path: Path
) -> None:
    """Of a server that obeys, and of one that does not."""
    with served("plain", certificates, tmp_path, service()) as spec:
        plain = verdicts(spec)
    with served(transport, certificates, tmp_path, service()) as spec:
        assert verdicts(spec) == plain

    assert len({case for case, _, _ in plain}) == len(CASES)
    assert ("flight.put-and-get", "flight-info.total-records", "fail") in plain or service is FlightService


def test_without_a_client_certificate_nothing_is_asked(certificates: Path, tmp_path: Path) -> None:
    """The reason names the key of the target file."""
    with served("mtls", certificates, tmp_path, FlightService()) as spec:
        assert spec.endpoint is not None
        without = dataclasses.replace(spec.endpoint, tls=Tls(ca=str(certificates / "ca.pem")))
        unknown = dataclasses.replace(spec, endpoint=without)
        with pytest.raises(TargetUnavailable, match=r"\[endpoint.tls\] certificate"), open_target(unknown):
            pass


def test_a_ticket_is_redeemed_over_tls_at_another_address(certificates: Path, tmp_path: Path) -> None:
    """With the certificates of the target file."""
    tls = ServerTls(certificates / "server.pem", certificates / "server.key")
    service = FlightService()
    with FlightServer(service, tls=tls) as other, served("tls", certificates, tmp_path, service) as spec:
        service.locations = (other.uri,)
        with open_target(spec) as target:
            exchange = target.drive(case_of(*PUT_AND_GET), materialise(case_of().table))

    assert [(call.method, call.status) for call in exchange.calls[2:]] == [("DoGet", "OK")]
    assert exchange.calls[2].label == f"i/0 at {other.endpoint}"


def test_a_location_that_cannot_be_tried_is_named(certificates: Path, tmp_path: Path) -> None:
    """The step is skipped, and the report says which location it was."""
    service = FlightService()
    service.locations = ("ucx://127.0.0.1:4444",)
    with served("plain", certificates, tmp_path, service) as spec, open_target(spec) as target:
        exchange = target.drive(case_of(*PUT_AND_GET), materialise(case_of().table))

        assert exchange.skipped_steps == (2,)
        assert [remark.split(" was ")[0] for remark in target.remarks] == ["the location ucx://127.0.0.1:4444"]


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("grpc://h:1", ServerPlace("h:1")),
        ("grpc+tcp://h:1", ServerPlace("h:1")),
        ("grpc+tls://h:1", ServerPlace("h:1", tls=True)),
        ("grpc://[::1]:1", ServerPlace("[::1]:1")),
        ("grpc+unix:///a%20b/c", ServerPlace("unix:/a b/c")),
        ("grpc+unix:/a", ServerPlace("unix:/a")),
        ("grpc+unix://host/a", None),
        ("grpc+unix:", None),
        ("grpc://h", None),
        ("grpc://h:port", None),
        ("grpc://[", None),
        ("ucx://h:1", None),
        ("http://h:1", None),
    ],
)
def test_a_uri_names_a_place(uri: str, place: ServerPlace | None) -> None:
    """Of the schemes that gRPC speaks."""
    assert place_at(uri) == place


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Endpoint("h:1"), Endpoint("h:1")),
        (Endpoint("h:1", tls=Tls()), Endpoint("h:1", tls=Tls())),
        (Endpoint("grpc://h:1"), Endpoint("h:1")),
        (Endpoint("grpc+tls://h:1"), Endpoint("h:1", tls=Tls())),
        (Endpoint("grpc+tls://h:1", tls=Tls(server_name="n")), Endpoint("h:1", tls=Tls(server_name="n"))),
        (Endpoint("grpc+unix:///s"), Endpoint("unix:/s")),
        (Endpoint("unix:/s"), Endpoint("unix:/s")),
    ],
)
def test_an_endpoint_may_be_a_uri(given: Endpoint, expected: Endpoint) -> None:
    """Or an address, as ever."""
    assert addressed(given) == expected


@pytest.mark.parametrize("given", [Endpoint("http://h:1"), Endpoint("ucx://h:1"), Endpoint("grpc://h:1", tls=Tls())])
def test_another_uri_is_refused(given: Endpoint) -> None:
    """In a sentence with the schemes that there are, or with the contradiction."""
    with pytest.raises(RecordError, match=r"expected .*grpc\+tls"):
        addressed(given)


def test_a_target_file_is_refused_with_its_place(tmp_path: Path) -> None:
    """The whole sentence names the key."""
    file = tmp_path / "x.toml"
    file.write_text(f'name = "x"\nkind = "flight"\n[endpoint]\ngrpc = {json.dumps("https://h:1")}\n')
    with pytest.raises(TargetError, match=r"target.endpoint.grpc: expected host:port, or a URI of grpc, "):
        load_target(file)


@pytest.mark.parametrize(
    ("locations", "place"),
    [
        ((), HERE),
        (("",), HERE),
        (("arrow-flight-reuse-connection://?",), HERE),
        (("grpc+tls://elsewhere:443", "arrow-flight-reuse-connection://?"), HERE),
        (("grpc://127.0.0.1:5555", "grpc+tcp://127.0.0.1:4444"), HERE),
        (("grpc+tcp://127.0.0.1:5555",), ServerPlace("127.0.0.1:5555")),
        (("grpc://localhost:5555/path",), ServerPlace("localhost:5555")),
        (("grpc://localhost:4444",), HERE),
        (("grpc+unix:///s",), None),
        (("grpc://elsewhere:5555",), None),
        (("grpc+tls://127.0.0.1:5555",), None),
        (("https://127.0.0.1/x",), None),
    ],
)
def test_a_ticket_is_redeemed_where_the_endpoint_says(locations: tuple[str, ...], place: ServerPlace | None) -> None:
    """On the connection that there is, or at another address of this machine, and nowhere else."""
    assert place_of(dataclasses.replace(ENDPOINT, locations=locations), HERE, Trust()) == place


def test_a_server_on_another_machine_leads_to_no_port_of_this_one() -> None:
    """Its localhost is not ours."""
    endpoint = dataclasses.replace(ENDPOINT, locations=("grpc://localhost:1",))

    assert place_of(endpoint, ServerPlace("far.example:4444"), Trust(("*",))) is None


def test_every_place_that_can_be_tried_is_named_once() -> None:
    """Those on other machines, and those that are no address of gRPC, are left out."""
    uris = ("grpc://127.0.0.1:4444", "https://x.invalid", "grpc://127.0.0.1:5555", "grpc://far.example:1")
    endpoint = dataclasses.replace(ENDPOINT, locations=(*uris, uris[0]))

    assert places_of(endpoint, HERE, Trust()) == [HERE, ServerPlace("127.0.0.1:5555")]


def test_only_the_first_places_are_looked_at() -> None:
    """A server may name a hundred thousand; each would be a connection."""
    near = tuple(f"grpc://127.0.0.1:{port}" for port in range(5000, 5200))
    endpoint = dataclasses.replace(ENDPOINT, locations=near)

    assert len(places_of(endpoint, HERE, Trust())) == MOST_LOCATIONS


@pytest.mark.parametrize(
    ("uri", "named", "permitted"),
    [
        ("grpc://127.0.0.1:5555", (), False),
        ("grpc://127.0.0.1:5555", ("grpc://127.0.0.1:5556",), False),
        ("grpc://127.0.0.1:5555", ("grpc://127.0.0.1:*",), True),
        ("grpc+tcp://127.0.0.1:5555/path", ("grpc://127.0.0.1:5555",), True),
        ("grpc://user@localhost:5555?@127.0.0.1:5555", ("grpc://127.0.0.1:*",), False),
        ("grpc://far.example:5555", ("*",), False),
        ("grpc+unix:///run/mine/a", ("grpc+unix:///run/mine/*",), True),
        ("grpc+unix:///run/other", ("grpc+unix:///run/mine/*",), False),
        ("grpc+tls://127.0.0.1:5555", ("*",), False),
    ],
)
def test_what_a_client_bears_goes_to_named_places_only(uri: str, named: tuple[str, ...], *, permitted: bool) -> None:
    """Headers and tokens reach no place that only the server names."""
    endpoint = dataclasses.replace(ENDPOINT, locations=(uri,))

    assert bool(places_of(endpoint, HERE, Trust(named, bearing=True))) is permitted


def test_what_began_over_tls_does_not_go_on_without() -> None:
    """Not at a place that the target file names, either."""
    endpoint = dataclasses.replace(ENDPOINT, locations=("grpc://127.0.0.1:4444", "grpc+unix:///s"))

    assert places_of(endpoint, dataclasses.replace(HERE, tls=True), Trust(("*",))) == []
