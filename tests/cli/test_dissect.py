"""``conformance dissect`` of whole streams, files and tensors."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from conformance.cli._group import cli
from conformance.wire import Rule
from tests.protocols.flight.wire.samples import flight_data
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA
from tests.wire.breaking_files import FILES, GOOD_FILE, GOOD_TENSOR


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """A runner in a folder with bytes of every kind."""
    monkeypatch.chdir(tmp_path)
    Path("table.arrow").write_bytes(GOOD_FILE)
    Path("table.arrows").write_bytes(GOOD_SCHEMA + GOOD_BATCH)
    Path("box.tensor").write_bytes(GOOD_TENSOR)
    Path("cut.arrow").write_bytes(GOOD_FILE[:200])
    Path("wrong.arrow").write_bytes(FILES[Rule.BLOCK_BODY_LENGTH_DIFFERS])
    Path("schema.bin").write_bytes(GOOD_SCHEMA)
    return CliRunner()


def _dissect(run: CliRunner, *arguments: str) -> Result:
    return run.invoke(cli, ["dissect", *arguments])


@pytest.mark.parametrize(
    ("file", "heading"),
    [("table.arrow", "head of the file"), ("table.arrows", "1. Schema message"), ("box.tensor", "1. Tensor message")],
)
def test_kind_is_found_out(run: CliRunner, file: str, heading: str) -> None:
    """No option is needed to dissect a file, a stream or a tensor."""
    result = _dissect(run, file)

    assert result.output.startswith(f"── {heading}")
    assert result.exit_code == 0


def test_parts_are_dumped_alone(run: CliRunner) -> None:
    """Several parts may be asked for at once."""
    result = _dissect(run, "table.arrow", "--dump", "footer", "--dump", "schema")

    headings = [line for line in result.output.splitlines() if line.startswith("──")]
    assert [heading.split(",")[0] for heading in headings] == ["── 1. Schema message V5", "── footer of the file"]
    assert result.exit_code == 0


def test_json_names_kind_and_sections(run: CliRunner) -> None:
    """The JSON form of a file gives its kind and the positions of its parts; it can be limited to some parts."""
    whole = json.loads(_dissect(run, "table.arrow", "--json").stdout)
    footer = json.loads(_dissect(run, "table.arrow", "--json", "--dump", "footer").stdout)

    assert whole["kind"] == "file"
    assert whole["sections"][-1] == footer["sections"][0]
    assert footer["regions"] == [
        region for region in whole["regions"] if region["start"] >= footer["sections"][0]["start"]
    ]


def test_a_cut_file_is_printed_up_to_the_break(run: CliRunner) -> None:
    """The existing bytes are annotated, and the missing ones are reported."""
    result = _dissect(run, "cut.arrow")

    assert "1. Schema message V5" in result.output
    assert "!! file.magic-end" in result.output
    assert "!! metadata.truncated" in result.output
    assert result.exit_code == 1


def test_a_lie_of_the_footer_stands_at_its_place(run: CliRunner) -> None:
    """The fault follows the block that is wrong."""
    lines = _dissect(run, "wrong.arrow", "--dump", "footer").output.splitlines()

    at = next(number for number, line in enumerate(lines) if "block.body-length-differs" in line)
    assert any("[1]" in line and "RecordBatch" in line for line in lines[at - 4 : at])


def test_kind_may_be_said(run: CliRunner) -> None:
    """Bytes are read as what they are said to be, whatever they are."""
    result = _dissect(run, "table.arrow", "--kind", "tensor")

    assert result.exit_code == 1
    assert "head of the file" not in result.output


def test_what_is_permitted_is_a_note_and_no_fault(run: CliRunner) -> None:
    """A stream may end without a marker: `check` passes it, so it has status 0 and a mark of its own."""
    result = _dissect(run, "table.arrows")

    assert "! stream.end-missing" in result.output.replace("!  ", "! ")
    assert "!!" not in result.output
    assert json.loads(_dissect(run, "table.arrows", "--json").stdout)["findings"] == []


def test_a_finding_without_a_fault_of_the_bytes_is_shown(run: CliRunner) -> None:
    """A clause may decide on the content of well-formed bytes; its finding follows the dump."""
    field = pa.field("x", pa.int32(), metadata={"ARROW:extension:metadata": "of nothing"})
    Path("odd.arrows").write_bytes(pa.schema([field]).serialize().to_pybytes() + END)

    result = _dissect(run, "odd.arrows")

    assert result.exit_code == 1
    assert result.output.splitlines()[-1].startswith("!! metadata.extension-named: x")
    (finding,) = json.loads(_dissect(run, "odd.arrows", "--json").stdout)["findings"]
    assert finding["clause"] == "metadata.extension-named"


def test_a_bare_batch_is_judged_as_a_batch(run: CliRunner) -> None:
    """With its schema or without, a legal batch has no fault, and a cut one has."""
    Path("batch.bin").write_bytes(GOOD_BATCH)
    Path("cut.bin").write_bytes(GOOD_BATCH[:-8])

    assert _dissect(run, "batch.bin", "--schema", "schema.bin").exit_code == 0
    assert _dissect(run, "batch.bin").exit_code == 0
    assert "!! message.body-truncated" in _dissect(run, "cut.bin", "--schema", "schema.bin").output


@pytest.mark.parametrize("arguments", [["page.json"], ["batch.bin", "--schema", "table.arrow"]])
def test_another_format_is_named(run: CliRunner, arguments: list[str]) -> None:
    """Bytes that are known to be something else are not annotated as a broken message."""
    Path("page.json").write_text('{"rows": []}')
    Path("batch.bin").write_bytes(GOOD_BATCH)

    result = _dissect(run, *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "got JSON; read it with" in result.stderr or "got an Arrow file; `conformance check" in result.stderr


def test_schema_belongs_to_bare_messages(run: CliRunner) -> None:
    """A stream has a schema of its own, and another one is refused."""
    result = _dissect(run, "table.arrow", "--kind", "file", "--schema", "schema.bin")

    assert result.exit_code == 2
    assert "--schema: expected a bare message to go with it, got --kind file" in result.output


@pytest.fixture
def flight(run: CliRunner) -> CliRunner:
    """The runner, with messages of Flight in its folder."""
    Path("first.bin").write_bytes(flight_data(GOOD_SCHEMA))
    Path("second.bin").write_bytes(flight_data(GOOD_BATCH, metadata=b"m"))
    Path("cut.bin").write_bytes(flight_data(GOOD_BATCH[:-4]))
    Path("ticket.bin").write_bytes(b"\x0a\x01x\x0e")
    Path("reversed.bin").write_bytes(flight_data(GOOD_BATCH, order="body header"))
    return run


def test_flight_data_is_dissected_with_the_message_inside(flight: CliRunner) -> None:
    """The schema may be in a FlightData too, or a message of its own."""
    for schema in ("first.bin", "schema.bin"):
        result = _dissect(flight, "second.bin", "--message", "FlightData", "--schema", schema)

        assert "data_body               field 1000, LEN of 8 bytes" in result.output
        assert "data                    1, 2" in result.output
        assert result.exit_code == 0


def test_notes_on_the_encoding_are_no_faults(flight: CliRunner) -> None:
    """Another order of fields is permitted."""
    result = _dissect(flight, "reversed.bin", "--message", "FlightData")

    assert "!  protobuf.field-order: FlightData.data_header: field 2 after field 1000" in result.output
    assert result.exit_code == 0


def test_faults_inside_flight_data_are_at_its_bytes(flight: CliRunner) -> None:
    """A clause that fails on the message inside names the bytes of the FlightData."""
    shown = _dissect(flight, "cut.bin", "--message", "FlightData", "--schema", "first.bin")
    made = json.loads(_dissect(flight, "cut.bin", "--message", "FlightData", "--schema", "first.bin", "--json").stdout)

    assert "!! message.body-truncated: body: a body of 4 bytes" in shown.output
    assert shown.exit_code == 1
    size = Path("cut.bin").stat().st_size
    assert {finding["end"] for finding in made["findings"]} == {size}
    assert made["kind"] == "FlightData"


def test_a_fault_of_the_encoding_fails(flight: CliRunner) -> None:
    """Also in a message that carries no Arrow message."""
    result = _dissect(flight, "ticket.bin", "--message", "Ticket")

    assert "!! protobuf.wire-type-unknown: Ticket: wire type 6 of field 1" in result.output
    assert result.exit_code == 1


def test_a_message_and_a_kind_exclude_each_other(flight: CliRunner) -> None:
    """The file is one of them."""
    result = _dissect(flight, "first.bin", "--message", "FlightData", "--kind", "stream")

    assert result.output.startswith("Error: --message: expected a message of Arrow Flight or ")
    assert result.exit_code == 2


def test_flight_data_without_the_option_is_recognised(flight: CliRunner) -> None:
    """The error names the option that is missing."""
    result = _dissect(flight, "second.bin")

    assert result.output == (
        "Error: second.bin: expected Arrow data, got the message FlightData of Arrow Flight; add --message FlightData\n"
    )
    assert result.exit_code == 2
