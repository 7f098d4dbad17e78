"""The table ``[flight]`` of a target file is read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, KnownFlight
from conformance.targets import TargetError, load_target
from conformance.targets.spec import Clock
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

    assert spec.kind == "flight"
    assert (spec.own, FlightSpec()) == (None, FlightSpec(FlightSeeding.NONE, ("{name}",)))
    assert not spec.over_rest


def test_seeding_and_path_are_read(target_file: Write) -> None:
    """The name of a table may be one part of the path."""
    spec = target_file(FLIGHT + '[flight]\nseeding = "put"\npath = ["db", "{name}"]\n')

    assert spec.own == FlightSpec(FlightSeeding.PUT, ("db", "{name}"))


def test_a_clock_needs_an_address(target_file: Write) -> None:
    """A started server reports its port, and one that runs already is at an address."""
    for text in (FLIGHT + '[ready]\nrest_event = "r"\n', ELSEWHERE + 'rest = "http://h:2"\n'):
        assert target_file(text + '[clock]\nrest_path = "/c"').clock == Clock("/c")


def test_the_reference_is_a_target() -> None:
    """It stores what is put."""
    spec = load_target(ROOT / "targets" / "flight-reference.toml")

    assert FlightSpec.of(spec).seeding is FlightSeeding.PUT


def test_sql_has_a_dialect(target_file: Write) -> None:
    """With the seeding of that name, the default; without it, what the table says."""
    alone = FlightSpec.of(target_file(FLIGHT + '[flight]\nseeding = "sql"\n'))
    both = FlightSpec.of(target_file(FLIGHT + '[flight]\nseeding = "put"\n[flight.sql]\ntables = false\n'))

    assert alone is not None
    assert (alone.sql, alone.makes_tables, alone.puts) == (SqlSpec(), True, False)
    assert both is not None
    assert (both.sql, both.makes_tables, both.puts) == (SqlSpec(tables=False), False, True)


def test_known_flights_are_read(target_file: Write, tmp_path: Path) -> None:
    """Each by its descriptor or its statement, with its rows."""
    rows = tmp_path / "rows.json"
    rows.write_text("{}")
    text = f'[[flight.known]]\nname = "w"\npath = ["w"]\nrows = "{rows}"\n'

    flight = FlightSpec.of(target_file(FLIGHT + '[flight]\nseeding = "known"\n' + text))

    assert flight is not None
    assert flight.known == (KnownFlight("w", str(rows), path=("w",)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FLIGHT + '[flight]\nseeding = "known"', "target.flight.known: expected at least one flight"),
        (
            FLIGHT + '[[flight.known]]\nname = "w"\nrows = "x.json"\nsql = "SELECT 1"',
            "target.flight.sql: expected [flight.sql], because a known flight is a statement",
        ),
        (
            FLIGHT + '[[flight.known]]\nname = "w"\nrows = "x.json"\ncommand = "c"\npath = ["p"]',
            "target.flight.known[0]: expected one of path, command and sql",
        ),
        (
            FLIGHT + '[[flight.known]]\nname = "w"\nrows = "x.csv"\ncommand = "c"',
            "target.flight.known[0].rows: expected an existing file, relative to the target file, of .arrow, ",
        ),
        (
            FLIGHT + '[[flight.known]]\nname = "W"\nrows = "x.json"\ncommand = "c"',
            "target.flight.known[0].name: expected lower-case letters",
        ),
        (
            FLIGHT + '[flight]\nseeding = "all"',
            "target.flight.seeding: expected one of none, put, sql, known but got 'all' (str)",
        ),
        (FLIGHT + '[flight]\npath = ["a"]', "target.flight.path: expected a path with {name} in one of its parts but"),
        (
            FLIGHT + '[flight.login]\nuser = "u"',
            "target.flight.login: expected either password or password_variable but got 'u' (str)",
        ),
        (FLIGHT + '[seed]\ndataset = "d"', "target.seed: expected no such table: [flight] says how data comes in"),
        (
            FLIGHT + '[ready]\nrest_event = "r"',
            "target: expected no address of REST without [clock]: a flight ser",
        ),
        (
            ELSEWHERE + 'rest = "http://h:2"',
            "target: expected no address of REST without [clock]: a flight ser",
        ),
        (
            FLIGHT + '[clock]\nrest_path = "/c"',
            "target.start.command: expected {rest_port} in the command or its",
        ),
        (
            ELSEWHERE + '[clock]\nrest_path = "/c"',
            "target.clock: expected [endpoint] with rest, where the clock is",
        ),
        (
            FLIGHT.replace('"flight"', '"server"').replace('"{grpc_port}"', '"{grpc_port}", "{rest_port}"')
            + "[flight]",
            "target.flight: expected no such table: it is about targets of the kind flight but got '[flight]' (str)",
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
