"""The table ``[flight]`` of a target file is read strictly."""

from __future__ import annotations

import pytest

from conformance.targets import TargetError, TargetKind, load_target
from conformance.targets.flightspec import FlightSeeding, FlightSpec
from tests.targets.conftest import ROOT, Write

FLIGHT = """
name = "x"
kind = "flight"
[start]
command = ["serve", "{grpc_port}"]
"""
ELSEWHERE = 'name = "x"\nkind = "flight"\n[endpoint]\ngrpc = "h:1"\n'


def test_without_the_table_nothing_is_written(target_file: Write) -> None:
    """The default needs nothing of the implementer."""
    spec = target_file(FLIGHT)

    assert spec.kind is TargetKind.FLIGHT
    assert (spec.flight, FlightSpec()) == (None, FlightSpec(FlightSeeding.NONE, ("{name}",)))
    assert not spec.over_rest


def test_seeding_and_path_are_read(target_file: Write) -> None:
    """The name of a table may be one part of the path."""
    spec = target_file(FLIGHT + '[flight]\nseeding = "put"\npath = ["db", "{name}"]\n')

    assert spec.flight == FlightSpec(FlightSeeding.PUT, ("db", "{name}"))


def test_the_reference_is_a_target() -> None:
    """It stores what is put."""
    spec = load_target(ROOT / "targets" / "flight-reference.toml")

    assert spec.flight is not None
    assert spec.flight.seeding is FlightSeeding.PUT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            FLIGHT + '[flight]\nseeding = "all"',
            "target.flight.seeding: expected one of none, put but got 'all' (str)",
        ),
        (FLIGHT + '[flight]\npath = ["a"]', "target.flight.path: expected a path with {name} in one of its parts but"),
        (
            FLIGHT + '[flight.login]\nuser = "u"',
            "target.flight.login: expected either password or password_variable but got 'u' (str)",
        ),
        (FLIGHT + '[seed]\ndataset = "d"', "target.seed: expected no such table: [flight] says how data comes in"),
        (FLIGHT + '[ready]\nrest_event = "r"', "target: expected no address of REST: a flight server has none but got"),
        (ELSEWHERE + 'rest = "http://h:2"', "target: expected no address of REST: a flight server has none but got"),
        (
            FLIGHT.replace('"flight"', '"server"').replace('"{grpc_port}"', '"{grpc_port}", "{rest_port}"')
            + "[flight]",
            "target.flight: expected no such table: a server serves no flights but got '[flight]' (str)",
        ),
        (FLIGHT.replace('"{grpc_port}"', '"x"'), "grpc"),
        (FLIGHT + "not_offered = []\n[endpoint]\ngrpc = 'h:1'", "expected"),
    ],
)
def test_what_does_not_fit_is_refused(target_file: Write, text: str, message: str) -> None:
    """In a sentence with the place."""
    with pytest.raises(TargetError) as error:
        target_file(text)

    assert message in str(error.value)
