"""The writer of streams and files: pyarrow reads every sample back in every form, and our own judge finds no fault."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pytest
from _pytest.mark import ParameterSet

from conformance.reference.ipc import WriterOptions, stream_model, write_file, write_stream
from conformance.reference.ipc.samples import SAMPLES, Sample
from conformance.wire import read_stream
from conformance.wire.file import read_file
from conformance.wire.plain import plain_table

FORMS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "big-endian": {"big_endian": True},
    "lz4": {"codec": "lz4"},
    "stored-raw": {"codec": "zstd", "min_space_savings": 1.0},
    "big-endian-zstd": {"codec": "zstd", "big_endian": True},
    "v4": {"version": "V4"},
    "legacy": {"legacy": True},
    "bitmaps-64": {"validity": "always", "alignment": 64},
    "metadata": {"end": "close", "message_metadata": {"a": "b"}, "opening_metadata": {"c": "d"}},
}

EVERY: Final = len(FORMS) - 1
"""Of the forms other than the default, each sample is fast tried in one: the next sample in the next one."""


def cases(samples: Sequence[Sample]) -> list[ParameterSet]:
    """Every sample in every form; those that a fast run leaves out are marked slow."""
    others = list(FORMS)[1:]
    return [
        pytest.param(
            sample,
            form,
            id=f"{sample.id}-{form}",
            marks=() if form in ("default", others[number % EVERY]) else pytest.mark.slow(env="thorough"),
        )
        for number, sample in enumerate(samples)
        for form in FORMS
    ]


def readable(sample: Sample, form: str) -> bool:
    """Whether Arrow C++ reads this: it cannot swap views and runs, and reads runs with V4 as nobody writes them."""
    kinds = str(sample.schema)
    if "big-endian" in form:
        return "run_end" not in kinds and "view" not in kinds.replace("list_view", "").replace("list-view", "")
    return form != "v4" or "run_end" not in kinds


def rows(batches: Sequence[pa.RecordBatch]) -> list[object]:
    """The content of the batches, one by one, whatever their dictionaries."""
    return [plain_table([batch]) for batch in batches]


def bare(sample: Sample) -> bool:
    """Whether pyarrow reads the sample's types under other names: it lacks two intervals, renames maps' fields, and has
    classes for canonical extension types.
    """
    names = [(field.metadata or {}).get(b"ARROW:extension:name", b"") for field in sample.schema]
    renamed = "arrow-conformance.interval" in str(sample.schema) or sample.id == "names.map-children"
    return renamed or any(name.startswith(b"arrow.") for name in names)


@pytest.mark.parametrize(("sample", "form"), cases(list(SAMPLES.values())))
def test_pyarrow_reads_the_stream_back(sample: Sample, form: str) -> None:
    """Schema, metadata and rows of a stream are those of the sample, dictionaries included."""
    data = sample.stream(**FORMS[form]).encode()

    assert [str(fault) for fault in read_stream(data).violations] == []
    if not readable(sample, form):
        return
    with pa.ipc.open_stream(data) as reader:
        assert bare(sample) or reader.schema.equals(sample.schema, check_metadata=True)
        got = list(reader)
    for batch in got:
        # pyarrow validates no array of the types that it has no class for.
        with contextlib.suppress(KeyError):
            batch.validate(full=True)
    assert rows(got) == rows(sample.batches)


@pytest.mark.parametrize(("sample", "form"), cases([each for each in SAMPLES.values() if each.file]))
def test_pyarrow_reads_the_file_back(sample: Sample, form: str) -> None:
    """Schema, metadata and rows of a file are those of the sample, whichever batch is asked for first."""
    data = sample.file_of(**FORMS[form]).encode()

    assert [str(fault) for fault in read_file(data).violations] == []
    if not readable(sample, form):
        return
    with pa.ipc.open_file(data) as reader:
        assert bare(sample) or reader.schema.equals(sample.schema, check_metadata=True)
        assert reader.metadata == ({b"c": b"d"} if form == "metadata" else None)
        got = [reader.get_batch(number) for number in reversed(range(reader.num_record_batches))]
    assert rows(got[::-1]) == rows(sample.batches)


def test_a_file_replaces_no_dictionary() -> None:
    """Batches that a file cannot hold are refused, with a way out."""
    with pytest.raises(ValueError, match="a file cannot replace a dictionary"):
        SAMPLES["dictionary.replaced"].file_of()
    with pytest.raises(ValueError, match="pass deltas=True"):
        SAMPLES["dictionary.delta"].file_of(deltas=False)


def test_shared_ids_share_one_dictionary() -> None:
    """Fields of one id make one dictionary batch, and have to agree on it."""
    assert len(SAMPLES["dictionary.shared"].stream().dictionaries) == 1
    with pytest.raises(ValueError, match="expected one dictionary for all its fields"):
        SAMPLES["dictionary.nested-struct"].stream(ids=(0, 1, 1))


def test_inner_dictionaries_come_first() -> None:
    """The outer of nested dictionaries has the lower id, and is sent after the inner."""
    assert [each.header["id"] for each in SAMPLES["dictionary.nested-thrice"].stream().dictionaries] == [2, 1, 0]


def test_deltas_are_sent_as_deltas() -> None:
    """A dictionary that grows is appended to; what was there is not sent again."""
    model = SAMPLES["dictionary.deltas"].stream()

    assert [each.header["isDelta"] for each in model.dictionaries] == [0, 1, 1, 1]
    assert [each.batch["length"] for each in model.dictionaries] == [1, 1, 1, 2]


def test_the_writer_wants_a_schema_that_batches_have() -> None:
    """Without batches there has to be a schema, and every batch has that of the stream."""
    one, other = pa.RecordBatch.from_pydict({"x": [1]}), pa.RecordBatch.from_pydict({"y": [1]})

    with pytest.raises(ValueError, match="expected a schema where there are no batches"):
        write_stream([])
    with pytest.raises(ValueError, match="batch 1: expected the stream's schema"):
        write_file([one, other])
    with pytest.raises(ValueError, match="expected one for each of the 0 dictionaries"):
        stream_model([one], WriterOptions(ids=(1,)))


@pytest.mark.parametrize(
    "wrong",
    [{"version": "V3"}, {"alignment": 4}, {"codec": "gzip"}, {"end": ""}, {"validity": ""}, {"min_space_savings": 2}],
    ids=str,
)
def test_options_are_checked(wrong: dict[str, Any]) -> None:
    """A choice that the writer does not know is refused by name."""
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}: expected"):
        WriterOptions(**wrong)


def test_families_are_the_known_ones() -> None:
    """Every sample's id starts with its family."""
    assert {each.kind for each in SAMPLES.values()} == {"types", "nulls", "rows", "dictionary", "nested", "names"}
