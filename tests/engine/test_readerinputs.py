"""Inputs for readers: vectors, the same under options, and mangled ones, each made again from its id."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import threading

import pytest

from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expecting import expect
from conformance.engine import readerinputs
from conformance.engine.readerinputs import Inputs, ReadInput, counted, option_text
from conformance.generate.vectors import VectorError
from conformance.reference.ipc.samples import SAMPLES
from conformance.wire import Kind
from tests.contract.ipc.broken import tensor
from tests.engine.ipc_standins import stream, vectors

SOME = vectors(
    stream__one=stream("a"), stream__cut=stream("a")[:-40], **{"stream__rows.several": stream("a", columns=3)}
)


def test_vectors_come_with_their_rows() -> None:
    """The bytes, the rows and the schema of a vector; the id replays it."""
    found = Inputs(SOME).find("stream.one")

    assert found.data == stream("a")
    assert found.expectation.rows is not None
    assert found.expectation.rows.columns == ([1, None, 3],)
    assert found.schema is not None
    assert found.schema.names == ["a"]


@pytest.mark.parametrize("kind", [Kind.STREAM, Kind.TENSOR])
def test_rows_are_those_of_the_document_unless_it_can_hold_none(kind: Kind) -> None:
    """A valid stream is expected to have the rows beside it; a tensor, which that form lacks, those of its bytes."""
    made = vectors(one=stream("a"), two=stream("a", columns=2))
    one, two = made.chapters["few"].vectors
    data, rows = (tensor(), "") if kind is Kind.TENSOR else (stream("a"), two.rows)
    made.contents[one.file] = data
    swapped = dataclasses.replace(one, kind=str(kind), rows=rows)
    made.chapters["few"] = dataclasses.replace(made.chapters["few"], vectors=(swapped,))

    found = Inputs(made).find("one").expectation

    assert found.rows == (expect(data, kind) if kind is Kind.TENSOR else expect(made.contents[two.file])).rows
    assert found.rows is not None
    assert (found.statistics is None) is (kind is Kind.TENSOR)


def test_a_tensor_that_is_broken_has_no_rows() -> None:
    """They would be those of other bytes."""
    made = vectors(one=stream("a"))
    (one,) = made.chapters["few"].vectors
    made.contents[one.file] = tensor()
    broken = dataclasses.replace(one, kind="tensor", rows="", result=Validity.INVALID)
    made.chapters["few"] = dataclasses.replace(made.chapters["few"], vectors=(broken,))

    assert Inputs(made).find("one").expectation.rows is None


def test_what_is_cut_off_has_no_rows() -> None:
    """If the rows are not defined, none are given."""
    found = Inputs(SOME).find("stream.cut")

    assert (found.expectation.result, found.expectation.tier) == (Validity.INVALID, Tier.STRUCTURE)
    assert found.expectation.rows is None


def test_globs_choose() -> None:
    """All without globs; those that one of them matches otherwise."""
    made = Inputs(SOME)

    assert made.ids() == ["stream.one", "stream.cut", "stream.rows.several"]
    assert made.ids(["*.cut", "*.one"]) == ["stream.one", "stream.cut"]


def test_samples_for_options_are_read_under_each() -> None:
    """One option at a time, each value, on the samples that are for it; the id says which."""
    found = [each.id for each in Inputs(SOME).chosen([], {"threads": (True, False), "included_fields": ()})]

    assert found == [
        "stream.one",
        "stream.cut",
        "stream.rows.several",
        "stream.rows.several@threads=true",
        "stream.rows.several@threads=false",
        "stream.rows.several@included_fields=[0]",
        "stream.rows.several@included_fields=[1]",
    ]


def test_chosen_fields_are_what_is_expected() -> None:
    """Under ``included_fields`` other rows are expected, in the order of the schema."""
    found = Inputs(SOME).find("stream.rows.several@included_fields=[2,0]")

    assert found.options == {"included_fields": [2, 0]}
    assert found.expectation.rows is not None
    assert found.expectation.rows.names == ("a", "more 2")
    assert found.schema is not None
    assert found.schema.names == ["a", "more 2"]


def test_fields_that_are_not_there_are_not_asked_for() -> None:
    """A sample of one column is not read without it."""
    few = Inputs(vectors(**{"stream__rows.several": stream("a")}))

    assert [each.id for each in few.chosen([], {"included_fields": ()})][1:] == [
        "stream.rows.several@included_fields=[0]"
    ]


def test_an_input_that_is_not_asked_for_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise three plain inputs would wait for a hundred thousand mangled ones, and an interrupt with them."""
    made: list[str] = []
    mangle = Inputs._mangle

    def noted(self: Inputs, seed: int, number: int) -> ReadInput:
        made.append(f"mangled.s{seed}.i{number}")
        return mangle(self, seed, number)

    monkeypatch.setattr(Inputs, "_mangle", noted)
    found = Inputs(SOME, seed=5, generated=1000).chosen([], {}, holds="mangled.s5.i7".__eq__)

    assert [each.id for each in found] == made == ["mangled.s5.i7"]


def test_mangled_inputs_are_made_again_from_their_ids() -> None:
    """The same bytes, expectation and title, from another set of inputs as well."""
    drawn = [each for each in Inputs(SOME, seed=5, generated=40).chosen([], {}) if each.generated]

    assert [each.id for each in drawn] == [f"mangled.s5.i{number}" for number in range(40)]
    assert [Inputs(SOME).find(each.id) for each in drawn] == drawn


def test_mangled_inputs_are_judged_by_their_own_bytes() -> None:
    """A change may be legal: the expectation is that of the bytes, and not of the change."""
    drawn = list(Inputs(SOME, generated=40).chosen(["none"], {}))

    assert len(drawn) == 40
    assert {each.expectation.result for each in drawn} >= {Validity.VALID, Validity.INVALID}
    assert all(each.expectation == expect(each.data, each.kind) for each in drawn)


def test_a_mangled_input_has_a_schema_where_it_has_rows() -> None:
    """Options are for rows that are expected; their columns are those of the schema in the bytes."""
    drawn = list(Inputs(SOME, generated=40).chosen(["none"], {}))

    columns = [None if each.schema is None else each.schema.names for each in drawn]
    assert columns == [None if (rows := each.expectation.rows) is None else list(rows.names) for each in drawn]
    assert None in columns
    assert any(columns)


def test_only_sound_vectors_are_mangled() -> None:
    """One change to what was broken already would say nothing."""
    titles = {each.title for each in Inputs(SOME, generated=40).chosen(["none"], {})}

    assert titles == {"stream.one, with one change", "stream.rows.several, with one change"}


@pytest.mark.parametrize("name", ["nobody", "mangled.s0", "stream.one@threads", "stream.one@threads=maybe"])
def test_an_unknown_id_is_an_error(name: str) -> None:
    """The text says what an id looks like."""
    with pytest.raises(VectorError, match="expected"):
        Inputs(SOME).find(name)


def test_options_as_text() -> None:
    """JSON without spaces, so that an id is one word."""
    assert option_text({"included_fields": [0, 1], "codec": "lz4"}) == 'included_fields=[0,1],codec="lz4"'


def test_true_counts_of_a_stream_are_its_messages() -> None:
    """Deltas and replacements are dictionary batches too; the end-of-stream marker is no message."""
    deltas = counted(SAMPLES["dictionary.delta"].stream().encode(), Kind.STREAM)
    replaced = counted(SAMPLES["dictionary.replaced"].stream().encode(), Kind.STREAM)

    assert deltas == {
        "messages": (5,),
        "record_batches": (2,),
        "dictionary_batches": (2,),
        "dictionary_deltas": (1,),
        "replaced_dictionaries": (0,),
    }
    assert replaced is not None
    assert (replaced["dictionary_deltas"], replaced["replaced_dictionaries"]) == ((0,), (1,))


def test_the_schema_message_of_a_file_may_be_counted_or_not() -> None:
    """Its footer has the schema too; the other counts are those of the blocks. A tensor has no such counts."""
    found = counted(SAMPLES["dictionary.delta"].file_of().encode(), Kind.FILE)

    assert found == {
        "messages": (4, 5),
        "record_batches": (2,),
        "dictionary_batches": (2,),
        "dictionary_deltas": (1,),
        "replaced_dictionaries": (0,),
    }
    assert counted(tensor(), Kind.TENSOR) is None


NAME = "combined.file.V4.zstd.little.reversed.several.some.dictionary"


def test_combined_vectors_follow_the_others() -> None:
    """They are among the ids, globs choose them, and each comes plainly and under options with all its values."""
    made = Inputs(SOME, combined=True)

    found = list(made.chosen(["combined.stream.*.int32"], {"threads": (True, False)}, ["stream"]))

    assert made.ids()[:3] == Inputs(SOME).ids()
    assert len(found) > 10
    assert all(each.kind is Kind.STREAM and each.row["layout"] == "int32" for each in found)
    assert {each.row["threads"] for each in found} == {True, False}
    assert {each.id.partition("@")[2] for each in found} == {"", "threads=false"}
    assert list(Inputs(SOME).chosen(["combined.*"], {})) == []


def test_a_combined_vector_is_made_again_from_its_id() -> None:
    """With all of its options, also where the set of inputs has none of them."""
    options = {"included_fields": [0, 2], "way": "scan", "mapped": True}

    found = Inputs(SOME).find(f"{NAME}@{option_text(options)}")

    assert found.options == options
    assert found.expectation.rows is not None
    assert found.expectation.rows.names == ("before", "after")
    assert found.expectation.result is Validity.VALID
    assert found.id == f"{NAME}@{option_text(options)}"


def test_a_combination_that_does_not_exist_is_refused() -> None:
    """The error says which value is unknown."""
    with pytest.raises(VectorError, match="expected a form of combined vectors, got 'odd'"):
        Inputs(SOME).find(NAME.replace("reversed", "odd"))


def test_rare_input_follows_the_combined_vectors() -> None:
    """Globs choose it, a reader gets the kinds that it reads, long input once, and an id gives the input again."""
    made = Inputs(SOME, combined=True)

    options = {"threads": (True, False), "way": ("", "table")}
    found = list(made.chosen(["rare.long.*.batches"], options, ["stream"]))

    assert [each.id for each in found] == ["rare.long.stream.batches"]
    assert found[0].expectation.result is Validity.VALID
    assert found[0].expectation.rows is not None
    assert found[0].expectation.rows.columns == ([1, None, 3],)
    assert found[0].expectation.statistics is not None
    assert found[0].expectation.statistics["record_batches"] == (3001,)
    assert dict(found[0].row) == {}
    assert Inputs(SOME).find("rare.long.stream.batches") == found[0]
    assert list(Inputs(SOME).chosen(["rare.*"], {})) == []


def test_rare_input_meets_each_way_into_and_out_of_a_library() -> None:
    """One at a time, without the library's default; other options do not make it other input."""
    options = {"threads": (True, False), "way": ("", "table"), "after": ("", "taken")}

    found = [*Inputs(SOME, combined=True).chosen(["rare.inside.runs.int8"], options, ["stream"])]

    base = "rare.inside.runs.int8"
    assert [each.id for each in found] == [base, f'{base}@way="table"', f'{base}@after="taken"']
    assert [each.expectation for each in found] == [found[0].expectation] * 3
    assert Inputs(SOME).find(found[2].id) == found[2]


def test_input_on_ends_meets_every_option() -> None:
    """Each value of each, one at a time: how bytes arrive decides whether the last message is seen."""
    options = {"threads": (True, False), "chunk": (), "mapped": (False, True), "included_fields": ()}

    found = Inputs(SOME, combined=True).chosen(["rare.end.stream.closed.usual.nulls"], options, ["stream"])

    assert [each.id.partition("@")[2] for each in found] == [
        "",
        "threads=false",
        "chunk=1",
        "chunk=7",
        "chunk=64",
        "mapped=true",
        "included_fields=[0]",
        "included_fields=[1]",
    ]


def test_rare_input_may_be_refused_where_the_text_leaves_it_open() -> None:
    """Its rows are known all the same."""
    found = Inputs(SOME).find("rare.union.dense-128").expectation

    assert (found.result, found.tier, found.clauses) == (Validity.PERMITTED, Tier.OPTIONAL, ())
    assert "more than 127 possible types" in found.reason
    assert found.rows is not None
    assert found.rows.columns[1] == [*range(128)]


def test_an_input_is_made_once_for_all_threads() -> None:
    """Readers in several threads ask for the same inputs at the same time."""
    made: list[str] = []
    both = threading.Barrier(2)

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    once = readerinputs._once(make)  # the property of one function

    def ask(name: str) -> str:
        both.wait()
        return once(name)

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        found = list(threads.map(ask, ["a", "a"]))

    assert (found, made) == (["A", "A"], ["a"])
