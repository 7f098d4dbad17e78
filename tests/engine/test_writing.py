"""Writers judged: the covering array that they are given, and a verdict for each way to go wrong."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from conformance.contract.ipc.judging import ipc_clauses
from conformance.engine.events import RunEnded, RunStarted
from conformance.engine.given import expected_of
from conformance.engine.reading import REUSE
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.engine.writing import WriterTask, WriteTask, factors
from conformance.generate.covering import coverage
from conformance.readers.ipc import Hello, IpcPool, JobAnswer, JobLimits, JobOutcome
from conformance.readers.rewrite import Rewrite
from conformance.records import Outcome
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.tensors import tensor_model
from conformance.reference.ipc.writer import write_file, write_stream
from conformance.wire import Kind
from tests.engine.ipc_library import ATTACHING, READER, WRITERS
from tests.patience import LONG

HELLO = Hello("x", "X", "X", "1", (), ("stream", "file"), write_options={"codec": ("", "lz4"), "min_space_savings": ()})


@pytest.fixture(scope="module")
def pool() -> Iterator[IpcPool]:
    """The stand-in that goes wrong by type."""
    writers = {**WRITERS, "attaching": ATTACHING}
    with IpcPool(limits=JobLimits(seconds=3, reuse=REUSE), readers={}, writers=writers) as started:
        yield started


def writing(pool: IpcPool, *select: str, writer: str = "standin") -> WriterTask:
    """The stand-in with some samples, judged under every clause on what is written."""
    all_clauses()
    by_id = {one.id: one for profile in ("ipc-stream", "ipc-file") for one in ipc_clauses(profile, writer=True)}
    return WriterTask(pool, writer, tuple(by_id.values()), select, readers={})


def judged(pool: IpcPool, sample: str, writer: str = "standin") -> dict[str, set[Outcome]]:
    """The outcomes of each clause for one sample, over all options."""
    found: dict[str, set[Outcome]] = {}
    for verdict in fold(writing(pool, sample, writer=writer).events()).verdicts:
        found.setdefault(verdict.clause, set()).add(verdict.outcome)
    return found


def test_an_honest_writer_passes(pool: IpcPool) -> None:
    """Bytes by the rules, with the rows that were given, fail nothing."""
    found = judged(pool, "types.int64")

    assert {outcome for outcomes in found.values() for outcome in outcomes} == {Outcome.PASS}
    assert {"written.rows", "written.types", "stream.schema-first", "file.magic"} <= found.keys()


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("types.int8", Outcome.CRASH),
        ("types.int16", Outcome.HANG),
        ("types.uint32", Outcome.UNSUPPORTED),
        ("types.uint64", Outcome.UNSUPPORTED),
    ],
)
def test_what_ends_without_bytes(pool: IpcPool, sample: str, expected: Outcome) -> None:
    """A death and a hang fail the whole case; a refusal does not, for nothing obliges a writer to have a type."""
    judge = writing(pool, sample)

    result = fold(judge.events(judge.rows()[:1]))

    assert [(verdict.clause, verdict.outcome) for verdict in result.verdicts] == [("case", expected)]


def test_rows_that_are_lost_fail(pool: IpcPool) -> None:
    """The bytes are by the rules, and the rows are not those that were given."""
    found = judged(pool, "types.uint16")

    assert [name for name, outcomes in found.items() if Outcome.FAIL in outcomes] == ["written.rows"]


def test_metadata_that_is_dropped_fails(pool: IpcPool) -> None:
    """A writer that forgets what it was given with each batch and for the file fails both clauses, and no other."""
    attached = {"written.batch-metadata", "written.file-metadata"}
    dropped, kept = (judged(pool, sample, "attaching") for sample in ("types.float32", "types.int64"))

    assert {clause for clause, outcomes in dropped.items() if Outcome.FAIL in outcomes} == attached
    assert [kept[clause] for clause in attached] == [{Outcome.PASS}] * 2
    assert {outcome for outcomes in kept.values() for outcome in outcomes} == {Outcome.PASS}


def test_a_writer_reads_what_it_wrote() -> None:
    """Its library is asked to read all that it wrote of the kinds that it reads."""
    with IpcPool(limits=JobLimits(seconds=LONG, reuse=REUSE), readers={"standin": READER}, writers=WRITERS) as both:
        verdicts = fold(writing(both, "types.int64").events()).verdicts

    asked = [(verdict.case_id, verdict.outcome) for verdict in verdicts if verdict.clause == "written.reads-back"]
    assert asked
    assert all(case.startswith("stream.") and outcome is Outcome.PASS for case, outcome in asked)


def test_the_encoding_of_encoded_columns_is_not_that_of_the_sample(pool: IpcPool) -> None:
    """A writer that is given dictionaries of dictionaries may keep the indices of either."""
    judge = writing(pool, "dictionary.index-int8")
    answer = JobAnswer("0", "standin", JobOutcome.WRITTEN, data=SAMPLES["dictionary.index-int16"].stream().encode())

    plain, encoded = (
        judge.verdicts(WriteTask("dictionary.index-int8", Kind.STREAM, options), answer)
        for options in ({}, {"given": "encoded"})
    )

    assert [one.clause for one in plain if one.outcome is Outcome.FAIL] == ["written.encoding"]
    assert {one.clause for one in plain} - {one.clause for one in encoded} == {"written.encoding"}


def test_a_writer_that_is_given_nulls_has_to_write_nulls(pool: IpcPool) -> None:
    """Values in their place are found, and so are fewer rows."""
    judge = writing(pool, "nested.run-end-encoded-32-in-struct")
    sample = SAMPLES["nested.run-end-encoded-32-in-struct"]
    nulls = expected_of(sample.batches, "nulls")
    row = WriteTask(sample.id, Kind.STREAM, {"given": "nulls"})

    def failing(data: bytes) -> list[str]:
        verdicts = judge.verdicts(row, JobAnswer("0", "standin", JobOutcome.WRITTEN, data=data))
        return [one.clause for one in verdicts if one.outcome is Outcome.FAIL]

    assert failing(write_stream(nulls)) == []
    assert failing(sample.stream().encode()) == ["written.rows"]
    assert failing(write_stream([nulls[0].slice(1), *nulls[1:]])) == ["written.rows"]


def test_what_is_no_stream_fails(pool: IpcPool) -> None:
    """Bytes that nobody can read are judged as the stream or file that was asked for."""
    assert Outcome.FAIL in judged(pool, "types.uint8")["file.magic"]


def test_the_option_space_is_what_the_writer_declares() -> None:
    """Samples, kinds, and each option; values are chosen for one that takes any."""
    assert factors(HELLO, ["one", "two"]) == {
        "sample": ("one", "two"),
        "kind": ("stream", "file"),
        "codec": ("", "lz4"),
        "min_space_savings": (None, 0.0, 0.5, 1.0),
    }


def test_what_was_not_written_is_not_counted_as_covered(pool: IpcPool) -> None:
    """A writer that refuses every type has covered nothing."""
    remarks = fold(writing(pool, "types.uint32").events()).remarks

    assert remarks[0].startswith("combinations of sample and options written: 0 of ")


def test_every_pair_is_asked_for(pool: IpcPool) -> None:
    """Each sample in each kind and with each option, the options with each other, and no row twice."""
    judge = writing(pool, "types.*")
    rows = judge.rows()
    space = factors(pool.hello("standin"), judge.samples())

    assert judge.coverage(space, rows).missing == ()
    assert len({row.id for row in rows}) == len(rows)
    assert {(str(row.kind), row.options.get("codec", "")) for row in rows} == {
        (kind, codec) for kind in ("stream", "file") for codec in ("", "lz4")
    }


def test_a_writer_of_files_may_refuse_what_no_file_holds(pool: IpcPool) -> None:
    """A stream with replaced dictionaries is to be written as a file too: who writes others' values is found."""
    replaced = next(name for name, sample in SAMPLES.items() if not sample.file)
    judge = writing(pool, replaced)
    row = judge.find(f"file.{replaced}")
    wrong = write_file([SAMPLES[replaced].batches[0]])

    refused = judge.verdicts(row, JobAnswer("0", "standin", JobOutcome.REFUSED))
    written = judge.verdicts(row, JobAnswer("0", "standin", JobOutcome.WRITTEN, data=wrong))

    assert {str(row.kind) for row in judge.rows()} == {"stream", "file"}
    assert [verdict.outcome for verdict in refused] == [Outcome.UNSUPPORTED]
    assert [verdict.clause for verdict in written if verdict.outcome is Outcome.FAIL] == ["written.rows"]


def test_the_report_tells_coverage_and_what_does_not_apply(pool: IpcPool) -> None:
    """Combinations written out of those possible, what is missing, and the options that the interface lacks."""
    start, *_, end = writing(pool, "types.int64", "types.uint32").events()

    assert isinstance(start, RunStarted)
    assert isinstance(end, RunEnded)
    assert start.target == "a library that writes by type 0.2"
    assert (start.seed, start.generated) == (0, 0)
    pairs = coverage([], factors(pool.hello("standin"), ["types.int64", "types.uint32"])).possible
    assert any(text.endswith(f" of {pairs}") for text in end.remarks)
    assert "combinations are not written, because the library refuses or lacks what they need" in end.remarks[1]
    assert any(text.startswith("not applicable") and "alignment" in text for text in end.remarks)


def test_documented_changes_of_types_are_not_judged(pool: IpcPool) -> None:
    """Where the maintainers document that types change, the clauses on types are left out, and the report says so."""
    rewrites = (Rewrite("int64", "int32", "https://example.org"),)
    judge = dataclasses.replace(
        writing(pool, "types.int64"), readers={"standin": dataclasses.replace(READER, rewrites=rewrites)}
    )

    result = fold(judge.events())

    assert "written.types" not in result.by_clause
    assert any(text.startswith("not judged") and "written.types" in text for text in result.remarks)


def test_one_row_alone(pool: IpcPool) -> None:
    """A replay writes that row and no other; its id says sample, kind and options."""
    judge = writing(pool, "types.int64")
    (row,) = [row for row in judge.rows() if row.id.startswith("file.") and "lz4" in row.id]

    result = fold(judge.events([row], whole=False))

    assert {case.case_id for case in result.cases} == {row.id}
    assert result.cases[0].replay == row.id
    assert not any(text.startswith("pairs") for text in result.remarks)


def test_every_case_is_found_by_its_id(pool: IpcPool) -> None:
    """The id alone makes the row again, whatever the selection."""
    rows = writing(pool, "types.*").rows()

    assert [writing(pool, "types.int64").find(row.id) for row in rows] == rows


@pytest.mark.parametrize("name", ["stream.nobody", "tensor.types.int64", "stream.types.int64+codec", "types.int64"])
def test_an_unknown_case_is_an_error(pool: IpcPool, name: str) -> None:
    """No sample, kind or option of that name: the text says so."""
    with pytest.raises(ValueError, match="expected"):
        writing(pool).find(name)


@pytest.fixture(scope="module")
def pyarrow() -> Iterator[IpcPool]:
    """The library itself: no stand-in reads tensors."""
    with IpcPool(["pyarrow"], limits=JobLimits(seconds=LONG, reuse=REUSE)) as started:
        yield started


def test_each_way_of_giving_batches_meets_each_sample_alone(pyarrow: IpcPool) -> None:
    """In each kind, with every other option at its first value: no fault of a way hides behind another option."""
    rows = WriterTask(pyarrow, "pyarrow", (), ("types.int32", "nested.runs-of-views")).rows()

    plain = {
        (row.sample, str(row.kind), row.options.get("given", "")) for row in rows if row.options.keys() <= {"given"}
    }
    given = pyarrow.hello("pyarrow").write_options["given"]
    of_old = {(row.sample, str(row.kind)) for row in rows if row.options == {"version": "V4"}}
    assert of_old == {*itertools.product(("types.int32", "nested.runs-of-views"), ("stream", "file"))}
    assert plain == {*itertools.product(("types.int32", "nested.runs-of-views"), ("stream", "file"), given)}


class TestTensors:
    """A writer of tensors gets messages of tensors, and is judged by the clauses on them."""

    def judge(self, pool: IpcPool, *select: str) -> WriterTask:
        """The library under every clause on tensors and on streams."""
        all_clauses()
        by_id = {one.id: one for kind in ("tensor", "stream") for one in ipc_clauses(f"ipc-{kind}", writer=True)}
        return WriterTask(pool, "pyarrow", tuple(by_id.values()), select)

    def test_a_dense_tensor_is_judged_whatever_its_layout(self, pyarrow: IpcPool) -> None:
        """Each sample in each layout; all clauses on what was written are observed, and pass."""
        result = fold(self.judge(pyarrow, "dense.i32", "dense.scalar").events())

        assert {verdict.case_id for verdict in result.verdicts} == {
            f"tensor.dense.{sample}{layout}{through}"
            for sample in ("i32", "scalar")
            for layout in ("", '+layout="column-major"', '+layout="strided"')
            for through in ("", *(f'+through="{form}"' for form in ("coo", "csr", "csc", "csf")))
        }
        plain = [verdict for verdict in result.verdicts if "through" not in verdict.case_id]
        assert {verdict.outcome for verdict in plain} == {Outcome.PASS}
        assert {"written.tensor-values", "written.tensor-names", "tensor.aligned"} <= result.by_clause.keys()

    def test_a_sparse_form_between_changes_nothing(self, pyarrow: IpcPool) -> None:
        """Of matrices in row-major order all forms pass; pyarrow 26 gives other values of column-major ones (COO)."""
        verdicts = fold(self.judge(pyarrow, "dense.f16").events()).verdicts

        wrong = {
            one.case_id for one in verdicts if (one.clause, one.outcome) == ("written.tensor-values", Outcome.FAIL)
        }
        assert wrong == {'tensor.dense.f16+layout="column-major"+through="coo"'}

    def test_what_a_sparse_form_may_lose_is_a_negative_zero_alone(self, pyarrow: IpcPool) -> None:
        """A zero in its place passes where the tensor was sparse, and fails where it was not; another value fails."""
        judge = self.judge(pyarrow)

        def failing(values: list[float], **options: str) -> list[str]:
            row = WriteTask("dense.vector", Kind.TENSOR, options)
            data = tensor_model(np.array(values)).encode()
            verdicts = judge.verdicts(row, JobAnswer("0", "pyarrow", JobOutcome.WRITTEN, data=data))
            return [one.clause for one in verdicts if one.outcome is Outcome.FAIL]

        assert failing([1.5, -0.0, np.inf], through="coo") == failing([1.5, 0.0, np.inf], through="coo") == []
        assert failing([1.5, 0.0, np.inf]) == ["written.tensor-values"]
        assert failing([1.5, 0.0, 0.0], through="coo") == ["written.tensor-values"]

    def test_what_a_library_cannot_write_is_not_judged(self, pyarrow: IpcPool) -> None:
        """The library has no function for messages of sparse tensors."""
        verdicts = fold(self.judge(pyarrow, "sparse.coo-vector").events()).verdicts

        assert {(verdict.clause, verdict.outcome) for verdict in verdicts} == {("case", Outcome.UNSUPPORTED)}

    def test_a_case_replays(self, pyarrow: IpcPool) -> None:
        """The id has the sample, the kind and the layout."""
        judge = self.judge(pyarrow)

        row = judge.find('tensor.dense.cube+layout="strided"')

        assert (row.sample, row.kind, row.options) == ("dense.cube", Kind.TENSOR, {"layout": "strided"})
        assert row in judge.rows()

    @pytest.mark.parametrize("name", ["stream.dense.i32", "tensor.types.int64", 'tensor.dense.i32+codec="lz4"'])
    def test_tensors_and_streams_do_not_mix(self, pyarrow: IpcPool, name: str) -> None:
        """A tensor is no stream, and has none of its options."""
        with pytest.raises(ValueError, match="expected"):
            self.judge(pyarrow).find(name)

    def test_a_writer_without_tensors_gets_none(self, pool: IpcPool) -> None:
        """Nor is its coverage counted with theirs."""
        assert {row.kind for row in writing(pool, "types.int64", "dense.*").rows()} == {Kind.STREAM, Kind.FILE}
