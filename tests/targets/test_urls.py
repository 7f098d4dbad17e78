"""A URL is a target without a file: its scheme says what is spoken, and a wrong one ends in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.protocols.flight.table.spec import FlightSeeding
from conformance.protocols.flight.targets.locations import place_at
from conformance.targets import TargetError, TargetKind, load_target
from conformance.targets.endpoint import Tls
from conformance.targets.spec import SeedPath
from conformance.targets.urls import schemes

READ, FLIGHT = TargetKind.SERVER, "flight"


@pytest.mark.parametrize(
    ("url", "kind", "address", "tls", "name"),
    [
        ("grpc://localhost:9060", READ, "localhost:9060", None, "localhost-9060"),
        ("GRPC://LocalHost:9060/", READ, "localhost:9060", None, "localhost-9060"),
        ("grpcs://read.example.com:443", READ, "read.example.com:443", Tls(), "read.example.com-443"),
        ("grpc://[::1]:9060", READ, "[::1]:9060", None, "ipv6-0--1-9060"),
        ("grpc://[1::]:9060", READ, "[1::]:9060", None, "ipv6-1--0-9060"),
        ("grpc://[::]:9060", READ, "[::]:9060", None, "ipv6-0--0-9060"),
        ("grpc+tcp://[2001:DB8::7]:8815", FLIGHT, "[2001:db8::7]:8815", None, "ipv6-2001-db8--7-8815"),
        ("grpc://[::ffff:127.0.0.1]:9060", READ, "[::ffff:127.0.0.1]:9060", None, "ipv6-0--ffff-127.0.0.1-9060"),
        ("flight://my_host:8815", FLIGHT, "my_host:8815", None, "my-host-8815"),
        ("grpc+tcp://127.0.0.1:8815", FLIGHT, "127.0.0.1:8815", None, "127.0.0.1-8815"),
        ("grpc+tls://h:1", FLIGHT, "h:1", Tls(), "h-1"),
        ("grpc+unix:///run/Mine.sock", FLIGHT, "unix:/run/Mine.sock", None, "mine.sock"),
        ("grpc+unix:///", FLIGHT, "unix:/", None, "socket"),
    ],
)
def test_the_scheme_says_what_is_spoken(url: str, kind: str, address: str, tls: Tls | None, name: str) -> None:
    """Protocol, address, TLS with the authorities of the system, and a name from the address."""
    spec = load_target(url)

    assert spec.endpoint is not None
    assert (spec.kind, spec.endpoint.grpc, spec.endpoint.tls) == (kind, address, tls)
    assert (spec.name, spec.file, spec.by_url) == (name, url, True)


def test_each_scheme_of_flight_means_flight() -> None:
    """What Flight calls a location is a Flight server here too, but for its other name of plain gRPC."""
    meant = {
        scheme: load_target(f"{scheme}:///s" if "unix" in scheme else f"{scheme}://h:1").kind for scheme in schemes()
    }

    assert {scheme for scheme, kind in meant.items() if kind == READ} == {"grpc", "grpcs"}
    assert place_at("grpc://h:1") == place_at("grpc+tcp://h:1")
    assert place_at("grpcs://h:1") is place_at("flight://h:1") is None


@pytest.mark.parametrize("rest", ["http://localhost:9050", "https://[::1]:9050", "http://h/base/"])
def test_the_address_of_rest_is_behind_that_of_grpc(rest: str) -> None:
    """Tables are made over it; without it, only what needs no table is judged, as with a file that names none."""
    spec = load_target(f"grpc://h:1?rest={rest}")

    assert spec.endpoint is not None
    assert spec.endpoint.rest == rest.rstrip("/")
    assert spec.seed.paths == (SeedPath.REST,)


def test_a_flight_server_is_written_to_only_if_the_url_says_so() -> None:
    """By default nothing is stored, as in a target file."""
    found = [load_target(f"flight://h:1{query}").own for query in ("", "?seeding=put", "?seeding=sql")]

    assert [flight and flight.seeding for flight in found] == [
        FlightSeeding.NONE,
        FlightSeeding.PUT,
        FlightSeeding.SQL,
    ]


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("grpc://localhost", "expected grpc://HOST:PORT"),
        ("grpc://:9060", "expected grpc://HOST:PORT"),
        ("grpc://h:0", "expected grpc://HOST:PORT"),
        ("grpc://h:99999", "expected grpc://HOST:PORT"),
        ("grpc://h:port", "expected grpc://HOST:PORT"),
        ("grpc://h:1#part", "expected grpc://HOST:PORT"),
        ("grpc://a%2fb:1", "expected grpc://HOST:PORT"),
        ("grpc://[::", "expected a URL such as grpc://localhost:9060"),
        ("grpc+unix://h:1", "expected grpc+unix:///PATH"),
        ("grpc://h:1/path", "expected no path behind grpc://h:1"),
        ("grpc://h:1?rest", "expected a URL such as grpc://localhost:9060"),
        ("grpc://h:1?tls=yes", "expected ?rest=http://HOST:PORT, once, and nothing else behind the address"),
        ("grpc://h:1?rest=http://a&rest=http://b", "expected ?rest=http://HOST:PORT, once, and nothing else"),
        ("grpc://h:1?rest=localhost:9050", "expected ?rest=http://HOST:PORT or ?rest=https://HOST:PORT"),
        ("grpc://h:1?rest=http://h:0", "expected ?rest=http://HOST:PORT or ?rest=https://HOST:PORT"),
        ("flight://h:1?rest=http://h:2", "expected ?seeding=put or ?seeding=sql, once, and nothing else"),
        ("flight://h:1?seeding=known", "expected ?seeding= with none or put or sql"),
        ("http://h:1", "expected one of grpc:// (Storage Read), grpcs:// (Storage Read over TLS), flight://"),
        ("http://h:1", "the address of REST goes behind that of gRPC, as ?rest="),
        ("ftp://h:1", "expected one of grpc:// (Storage Read)"),
        ("grpc://" + "h" * 2000, "expected a URL of at most 1000 characters"),
    ],
)
def test_a_wrong_url_ends_in_one_sentence(url: str, wanted: str) -> None:
    """It names the URL, at most its beginning, and what was expected."""
    with pytest.raises(TargetError) as raised:
        load_target(url)

    said = str(raised.value)
    assert wanted in said
    assert said.startswith(url[:190])
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("url", ["grpc://me:secret@h:1", "grpc://h:1?rest=http://me:secret@h:2"])
def test_a_password_is_refused_and_not_repeated(url: str) -> None:
    """Logs and reports repeat the URL of a target."""
    with pytest.raises(TargetError) as raised:
        load_target(url)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("text", ["grpc://h\x00:1", "grpc://h\n:1", "grpc://\u202eh:1", "grpc://h:\uff11"])
def test_a_url_with_strange_characters_is_refused(text: str) -> None:
    """Addresses have ASCII letters, so that a report never shows another address than was asked."""
    with pytest.raises(TargetError):
        load_target(text)


def test_an_address_without_a_scheme_is_told_those_that_it_may_mean() -> None:
    """It is neither a path nor the name of a target."""
    with pytest.raises(TargetError) as raised:
        load_target("localhost:9060")

    assert str(raised.value) == (
        "no target is called 'localhost:9060'; a running server is grpc://localhost:9060, or flight://localhost:9060"
        " if it speaks Arrow Flight, or write://localhost:9060 if it speaks Storage Write"
    )


def test_a_url_belongs_to_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is relative to a target file is relative to the current directory, and executors get the URL as it is."""
    monkeypatch.chdir(tmp_path)
    spec = load_target("grpc://h:1?rest=http://h:2")

    assert spec.here == tmp_path
    assert spec.anywhere() is spec
    assert load_target("reference").anywhere().file.startswith("/")
