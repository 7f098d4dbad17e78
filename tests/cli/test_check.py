"""``conformance check`` on streams, files and tensors: its findings, its output and its exit status."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from conformance.cli import check as command
from conformance.cli._group import cli
from conformance.engine.annotated import regions_of
from conformance.reference.message import DraftMessage
from conformance.reference.serializer import Serializer
from conformance.wire import Region, Schema

BATCH = pa.record_batch({"x": pa.array([1, None, 3]), "d": pa.array(["a", "b", "a"]).dictionary_encode()})
END = bytes.fromhex("ffffffff00000000")


def written(kind: str, *batches: pa.RecordBatch) -> bytes:
    """A stream or file that pyarrow writes."""
    sink = pa.BufferOutputStream()
    with getattr(pa.ipc, f"new_{kind}")(sink, BATCH.schema) as writer:
        for batch in batches or (BATCH,):
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def tensor() -> bytes:
    """A tensor that pyarrow writes."""
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.arange(6).reshape(2, 3)), sink)
    return bytes(sink.getvalue().to_pybytes())


def without_fields(message: DraftMessage) -> bytes:
    """The message of a schema that has no vector of fields."""
    del message.header["fields"]
    return message.encode()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with clean files of each kind, in which the command is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.arrows").write_bytes(written("stream"))
    (tmp_path / "clean.arrow").write_bytes(written("file"))
    (tmp_path / "tensor.bin").write_bytes(tensor())
    (tmp_path / "schema.bin").write_bytes(BATCH.schema.serialize().to_pybytes())
    (tmp_path / "more.arrows").write_bytes(written("stream") + b"more")
    return tmp_path


def check(*arguments: str) -> Result:
    """The command, in this process."""
    return CliRunner().invoke(cli, ["check", *arguments])


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("name", "kind"),
    [("clean.arrows", "stream"), ("clean.arrow", "file"), ("tensor.bin", "tensor"), ("schema.bin", "message")],
)
def test_the_kind_is_found_out(name: str, kind: str) -> None:
    """Each kind is judged by its own profile, and what a library in wide use writes is clean."""
    result = check(name)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.output.startswith(f"{name}: 0 clauses fail, ")
    assert result.output.endswith(f" pass ({kind}, ipc-{kind})\n")


@pytest.mark.usefixtures("data")
def test_a_finding_is_shown_with_its_bytes() -> None:
    """The clause, the file, the source, and the bytes at fault marked."""
    result = check("clean.arrows", "more.arrows")

    assert result.exit_code == 1
    assert "stream.nothing-after-end  [SHOULD]\n  where     more.arrows\n" in result.output
    assert "\n  > 0x" in result.output
    assert "  source    https://arrow.apache.org/" in result.output
    assert "clean.arrows: 0 clauses fail" in result.output


def test_a_finding_is_told_to_programs(data: Path) -> None:
    """File, clause, level, range, what was required and what was there."""
    size = (data / "more.arrows").stat().st_size

    clean, more = json.loads(check("clean.arrow", "more.arrows", "--json").stdout)

    assert (clean["file"], clean["kind"], clean["failed"], clean["findings"]) == ("clean.arrow", "file", 0, [])
    (finding,) = more["findings"]
    assert (finding["file"], finding["clause"], finding["level"]) == (
        "more.arrows",
        "stream.nothing-after-end",
        "should",
    )
    assert (finding["start"], finding["end"]) == (size - 4, size)
    assert {"field", "required", "observed", "source"} < set(finding)


@pytest.mark.usefixtures("data")
def test_findings_below_the_level_do_not_count() -> None:
    """With the level MUST, findings at SHOULD are not reported."""
    assert check("more.arrows", "--level", "should").exit_code == 1
    assert check("more.arrows", "--level", "must").exit_code == 0


def test_writers_are_asked_for_more(data: Path) -> None:
    """A dictionary behind a batch of nulls is legal, and no writer's best."""
    nulls = pa.DictionaryArray.from_arrays(pa.nulls(2, pa.int32()), pa.array(["a", "b"]))
    stream = written("stream", pa.record_batch({"x": pa.nulls(2, pa.int64()), "d": nulls}))
    schema, dictionary, batch = pa.ipc.MessageReader.open_stream(stream)
    parts = [message.serialize().to_pybytes() for message in (schema, batch, dictionary)]
    (data / "late.arrows").write_bytes(b"".join(parts) + END)

    assert check("late.arrows").exit_code == 0
    result = check("late.arrows", "--writer")
    assert result.exit_code == 1
    assert result.output.startswith("dictionary.before-batches  [SHOULD]")


@pytest.mark.usefixtures("data")
def test_a_kind_or_profile_can_be_given() -> None:
    """A file judged as a stream is named as a file: it is a stream behind a magic."""
    assert check("clean.arrows", "--kind", "stream").exit_code == 0
    assert check("clean.arrow", "--profile", "ipc-file").exit_code == 0
    assert check("schema.bin", "--profile", "ipc-message").exit_code == 0
    assert "framing.schema-without-dictionary" in check("schema.bin", "--profile", "bq-arrow").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["empty.bin"], "empty.bin: expected Arrow data, got an empty file"),
        (["noise.bin"], "noise.bin: expected Arrow data, got 64 bytes without a message"),
        (["rows.csv"], "rows.csv: expected Arrow data, got CSV; read it with `pyarrow.csv.read_csv`"),
        (
            ["packed.gz"],
            "packed.gz: expected Arrow data, got data compressed with gzip; decompress it first: `gzip -dc",
        ),
        (
            ["clean.arrow", "--kind", "stream"],
            "clean.arrow: expected Arrow data, got an Arrow file; `conformance check",
        ),
        (["absent.arrow"], "absent.arrow: expected a file, a directory of files, a pattern or `-`, and found no file"),
        (["none/*.arrow"], "none/*.arrow: expected a file"),
        (["hidden"], "hidden: expected a file"),
        (["shell.bin"], "shell.bin: expected an Arrow file, got 8 bytes with neither a message nor a footer"),
        (["batch.bin"], "batch.bin: expected a stream, a file, a tensor or a schema message, got a RecordBatch alone"),
        (["clean.arrow", "--kind", "stream", "--profile", "ipc-file"], "expected --kind file with --profile ipc-file"),
        (["clean.arrows", "--schema", "schema.bin"], "expected one of FILE, --schema with --batch"),
        ([], "expected a FILE, or --schema"),
        (["--schema", "schema.bin", "--profile", "ipc-stream"], "expected a profile of messages"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_judged_is_refused(data: Path, arguments: Sequence[str], message: str) -> None:
    """Status 2, one sentence on standard error, nothing on standard output."""
    (data / "empty.bin").write_bytes(b"")
    (data / "noise.bin").write_bytes(bytes(range(64)))
    (data / "rows.csv").write_text("id,name\n1,Ada\n")
    (data / "packed.gz").write_bytes(gzip.compress(written("stream"), mtime=0))
    (data / "hidden" / ".git").mkdir(parents=True)
    (data / "hidden" / ".git" / "x.arrow").write_bytes(written("file"))
    (data / "shell.bin").write_bytes(b"ARROW1\0\0")
    (data / "batch.bin").write_bytes(pa.record_batch({"x": [1]}).serialize().to_pybytes())

    result = check(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("content", "observed"),
    [
        (b"\xff\xff\xff\xff\xf0\xff\xff\xff" + bytes(range(64)), "a metadata length of -16, where 64 bytes follow"),
        (written("stream")[:40], "a metadata length of "),
    ],
    ids=["negative", "cut"],
)
def test_a_length_beyond_the_end_is_a_finding(data: Path, content: bytes, observed: str) -> None:
    """Bytes that begin as a message does are judged, wherever they end."""
    (data / "broken.bin").write_bytes(content)

    result = check("broken.bin")

    assert result.exit_code == 1
    assert result.output.startswith("framing.metadata-length  [MUST]")
    assert f"  observed  {observed}" in result.output
    assert "\nbroken.bin: 1 clause fails, " in result.output


def test_a_stream_in_the_other_byte_order_is_named(data: Path) -> None:
    """The finding says what the length would be if its bytes were swapped."""
    stream = written("stream")
    (length,) = struct.unpack_from("<i", stream, 4)
    (data / "swapped.arrows").write_bytes(stream[:4] + struct.pack(">i", length) + stream[8:])

    result = check("swapped.arrows")

    assert result.exit_code == 1
    assert f"byte-swapped it would be {length}\n" in result.output


def test_a_schema_without_fields_is_a_finding(data: Path) -> None:
    """Readers in wide use refuse an absent vector of fields."""
    (data / "absent.bin").write_bytes(Serializer(write_schema=without_fields).serialize_schema(pa.schema([])))

    result = check("absent.bin")

    assert result.exit_code == 1
    assert result.output.startswith("structure.fields-listed  [SHOULD]")


FOREIGN = [pa.map_(pa.string(), pa.int64()), pa.int32(), pa.null()]
if hasattr(pa, "string_view"):
    FOREIGN.append(pa.string_view())


@pytest.mark.parametrize("kind", FOREIGN, ids=str)
def test_a_type_that_the_service_does_not_use_is_a_finding(data: Path, kind: pa.DataType) -> None:
    """Messages of a server are judged by its types too, and the profile is said."""
    batch = pa.record_batch([pa.nulls(2, kind)], names=["x"])
    (data / "own.schema").write_bytes(batch.schema.serialize().to_pybytes())
    (data / "own.batch").write_bytes(batch.serialize().to_pybytes())
    pair = ("--schema", "own.schema", "--batch", "own.batch")

    result = check(*pair)

    assert result.exit_code == 1
    assert result.output.startswith("types.known  [MUST]\n  where     own.schema, x\n")
    assert result.output.endswith(" pass, on 2 messages (bq-arrow)\n")
    assert check(*pair, "--profile", "ipc-message").exit_code == 0


def test_a_message_with_many_findings_is_dissected_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of a few hundred kilobytes has enough of both to keep the command busy for minutes."""
    whole = written("file")
    (data / "own.schema").write_bytes(BATCH.schema.serialize().to_pybytes() + bytes([255] * 4 + [0] * 4) + whole)
    (data / "own.batch").write_bytes(BATCH.serialize().to_pybytes()[:-8])
    dissected: list[bytes] = []

    def noted(data: bytes, schema: Schema | None) -> Sequence[Region]:
        dissected.append(data)
        return regions_of(data, schema)

    monkeypatch.setattr(command, "regions_of", noted)

    result = check("--schema", "own.schema", "--batch", "own.batch", "--batch", "own.batch")

    assert result.output.count("  where ") > len(dissected) == len(set(dissected)) + 1 == 3


@pytest.mark.usefixtures("data")
def test_a_whole_file_in_the_place_of_a_message_is_a_finding() -> None:
    """The finding on a whole file in the place of a message says that it is a file."""
    result = check("--schema", "schema.bin", "--batch", "clean.arrow")

    assert result.exit_code == 1
    assert "framing.batch-prefix  [MUST]" in result.output
    assert "which begin an Arrow file" in result.output


@pytest.mark.parametrize("named", [["."], ["*.arrow*", "*.bin", "notes.md"], ["clean.arrow", ".", "./clean.arrow"]])
def test_many_files_have_a_line_each_and_a_total(data: Path, named: list[str]) -> None:
    """A file that cannot be judged does not hide the others; the status is the worst."""
    (data / "notes.md").write_text("not Arrow\n")

    result = check(*named)

    assert result.exit_code == 2
    assert [line.split(":")[0] for line in result.stdout.splitlines() if line.startswith(("clean", "tensor"))] == [
        "clean.arrow",
        "clean.arrows",
        "tensor.bin",
    ]
    assert "notes.md: expected Arrow data, got text; " in result.stdout
    assert result.stdout.endswith("\n6 files: 4 clean, 1 with findings, 1 not judged\n")
    assert result.stderr == "Error: 1 of 6 files cannot be judged; standard output says why\n"


def test_many_files_are_told_to_programs(data: Path) -> None:
    """Each has its object, and one that cannot be judged says why."""
    (data / "nothing.bin").write_bytes(b"")

    clean, noise = json.loads(check("clean.arrow", "nothing.bin", "--json").stdout)

    assert clean["failed"] == 0
    assert noise == {"file": "nothing.bin", "unusable": "nothing.bin: expected Arrow data, got an empty file"}


def test_standard_input_is_a_file() -> None:
    """So a decompressor can be put before it."""
    result = CliRunner().invoke(cli, ["check", "-"], input=written("stream"))

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.output.startswith("-: 0 clauses fail, ")


def test_an_unfinished_file_is_a_finding(data: Path) -> None:
    """A writer that was not closed leaves messages without a footer: that can be judged, and is."""
    whole = written("file")
    (data / "open.arrow").write_bytes(whole[: whole.rindex(END) + len(END)])

    result = check("open.arrow", "--level", "must")

    assert result.exit_code == 1
    assert result.output.startswith("file.finished  [MUST]")


@pytest.mark.parametrize(
    ("clause", "command"),
    [
        ("stream.whole", "conformance check FILE"),
        ("dictionary.before-batches", "conformance check --writer FILE"),
        ("reader.survives", "conformance read"),
        ("written.rows", "conformance write"),
        ("body.node-count", "conformance run --target FILE --clause body.node-count"),
    ],
)
def test_a_clause_says_how_it_is_judged(clause: str, command: str) -> None:
    """Different commands judge files, readers and servers."""
    result = CliRunner().invoke(cli, ["explain", clause])

    assert result.output.endswith(f"judge it  {command}\n")
