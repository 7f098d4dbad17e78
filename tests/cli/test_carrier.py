"""``conformance check --message``: the Arrow messages in the requests of one connection."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli._group import cli
from conformance.contract.clause import MESSAGES, PROFILES
from tests.protocols.flight.wire.samples import flight_data
from tests.protocols.storage_write.wire.samples import append
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA


@pytest.fixture(autouse=True)
def requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of AppendRows in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("0.bin").write_bytes(append(GOOD_SCHEMA, GOOD_BATCH))
    Path("1.bin").write_bytes(append(rows=GOOD_BATCH))
    Path("full.bin").write_bytes(append(GOOD_SCHEMA, GOOD_SCHEMA + GOOD_BATCH + END))


def check(*arguments: str) -> Result:
    """The result of the command."""
    return CliRunner().invoke(cli, ["check", *arguments])


def test_the_requests_of_a_connection_are_judged_together() -> None:
    """The schema is in the first of them alone, or again."""
    Path("2.bin").write_bytes(append(GOOD_SCHEMA, GOOD_BATCH))
    result = check("--message", "AppendRowsRequest", "0.bin", "1.bin", "2.bin")

    assert result.output.endswith(" pass, on 4 messages (ipc-message)\n")
    assert result.exit_code == 0


def test_a_full_stream_is_found_at_its_bytes() -> None:
    """In the field for one batch; the finding names file and field."""
    result = check("--message", "AppendRowsRequest", "full.bin")

    assert "framing.batch-single-message  [MUST]" in result.output
    assert "  where     full.bin, arrow_rows.rows.serialized_record_batch\n" in result.output
    assert result.exit_code == 1


def test_rows_without_a_schema_cannot_be_judged() -> None:
    """It was in a request that is not there."""
    result = check("--message", "AppendRowsRequest", "1.bin")

    assert result.output == (
        "Error: --message AppendRowsRequest: expected a schema in the first message of the connection, got none\n"
    )
    assert result.exit_code == 2


def test_two_schemas_are_two_connections() -> None:
    """Which rows belong to which of them, the files do not say."""
    Path("other.bin").write_bytes(append(GOOD_SCHEMA + bytes(8), GOOD_BATCH))
    result = check("--message", "AppendRowsRequest", "0.bin", "other.bin")

    assert "expected one schema, got another one in other.bin, arrow_rows.writer_schema" in result.output
    assert result.exit_code == 2


def test_bytes_of_another_kind_are_refused() -> None:
    """With the place at which they are no such message."""
    Path("text.bin").write_text("# A text")
    result = check("--message", "AppendRowsRequest", "text.bin")

    assert result.output.startswith("Error: text.bin: expected the protobuf message AppendRowsRequest, got ")
    assert result.exit_code == 2


def test_other_options_on_the_files_are_refused() -> None:
    """A message of a protocol has one kind; it needs a file."""
    for arguments in (["0.bin", "--kind", "message"], ["0.bin", "--writer"], []):
        assert check("--message", "AppendRowsRequest", *arguments).exit_code == 2


def test_a_profile_of_files_is_refused() -> None:
    """The messages are bare; each profile of messages judges them."""
    for profile in PROFILES:
        result = check("--message", "AppendRowsRequest", "0.bin", "--profile", profile)

        assert (result.exit_code == 2) is (profile not in MESSAGES)
        assert ("expected a profile of messages" in result.output) is (profile not in MESSAGES)


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (append(GOOD_SCHEMA, GOOD_BATCH), "AppendRowsRequest of the BigQuery Storage Write API; add --message"),
        (flight_data(GOOD_BATCH), "FlightData of Arrow Flight; `conformance dissect --message FlightData` shows it"),
    ],
)
def test_a_message_without_the_option_is_recognised(data: bytes, advice: str) -> None:
    """The error says what reads it."""
    Path("message.bin").write_bytes(data)
    result = check("message.bin")

    assert f"message.bin: expected Arrow data, got the message {advice}" in result.output
    assert result.exit_code == 2
