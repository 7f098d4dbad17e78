"""``conformance check`` on streams, files and tensors: its findings, its output and its exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from conformance.cli._group import cli

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
        (["noise.bin"], "noise.bin: "),
        (["cut.bin"], "cut.bin: the file ends inside its first message"),
        (["shell.bin"], "shell.bin: expected an Arrow file, got 8 bytes with neither a message nor a footer"),
        (["batch.bin"], "batch.bin: expected a stream, a file, a tensor or a schema message, got a RecordBatch alone"),
        (["clean.arrow", "--kind", "stream", "--profile", "ipc-file"], "expected --kind file with --profile ipc-file"),
        (["clean.arrows", "--schema", "schema.bin"], "expected either FILE or --schema"),
        ([], "expected a FILE, or --schema"),
        (["--schema", "schema.bin", "--profile", "ipc-stream"], "expected a profile of messages"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_judged_is_refused(data: Path, arguments: Sequence[str], message: str) -> None:
    """Status 2, one sentence on standard error, nothing on standard output."""
    (data / "empty.bin").write_bytes(b"")
    (data / "noise.bin").write_bytes(b"\xff\xff\xff\xff\xf0\xff\xff\xff" + bytes(range(64)))
    (data / "cut.bin").write_bytes(written("stream")[:40])
    (data / "shell.bin").write_bytes(b"ARROW1\0\0")
    (data / "batch.bin").write_bytes(pa.record_batch({"x": [1]}).serialize().to_pybytes())

    result = check(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


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
