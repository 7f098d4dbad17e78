"""The name of a pair of answers, and whether it matters."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES
from conformance.drift.comparing import VersionChange, VersionDifference, compare_readings, compare_writings
from conformance.drift.readinputs import DriftInput
from conformance.drift.versions import VersionAnswer

STEP = ("1.0.0", "2.0.0")

ROWS = VersionAnswer("a", "rows", digest="d", rows=3, types=("int64",))
OTHER = VersionAnswer("a", "rows", digest="e", rows=3, types=("int64",))
RETYPED = VersionAnswer("a", "rows", digest="d", rows=3, types=("extension<uuid>",))
REFUSED = VersionAnswer("a", "refused", error="ArrowInvalid", text="no")
REWORDED = VersionAnswer("a", "refused", error="ArrowInvalid", text="never")
UNSOUND = VersionAnswer("a", "unsound", error="ArrowInvalid", text="late")
LACKS = VersionAnswer("a", "refused", error="ArrowInvalid", text="Unrecognized type: 24")
DIED = VersionAnswer("a", "died", error="SIGSEGV")
HUNG = VersionAnswer("a", "hung", text="no answer within 20 s")


def reading(
    old: VersionAnswer, new: VersionAnswer, *, valid: bool = True, refusable: bool = False
) -> VersionDifference:
    """The difference of two readings of the same bytes."""
    broken = () if valid else ("stream.end-missing",)
    return compare_readings(DriftInput("a", "streams", "stream", b"", broken, refusable), STEP, old, new)


@pytest.mark.parametrize(
    ("old", "new", "change", "matters_if_valid", "matters_if_broken"),
    [
        (ROWS, ROWS, VersionChange.EQUAL, False, False),
        (ROWS, OTHER, VersionChange.VALUES, True, False),
        (ROWS, RETYPED, VersionChange.TYPE, False, False),
        (REFUSED, REWORDED, VersionChange.ERROR, False, False),
        (REFUSED, ROWS, VersionChange.ACCEPTED, False, True),
        (REFUSED, UNSOUND, VersionChange.ACCEPTED, False, True),
        (UNSOUND, ROWS, VersionChange.ACCEPTED, False, True),
        (ROWS, REFUSED, VersionChange.REFUSED, True, False),
        (ROWS, UNSOUND, VersionChange.REFUSED, True, False),
        (ROWS, DIED, VersionChange.CRASH, True, True),
        (REFUSED, HUNG, VersionChange.HANG, True, True),
        (DIED, REFUSED, VersionChange.CURED, False, False),
        (DIED, HUNG, VersionChange.EQUAL, False, False),
    ],
)
def test_readings(
    old: VersionAnswer, new: VersionAnswer, change: VersionChange, *, matters_if_valid: bool, matters_if_broken: bool
) -> None:
    """The change in reading, and whether it matters for valid and for broken bytes."""
    sound, broken = reading(old, new), reading(old, new, valid=False)

    assert (sound.change, broken.change) == (change, change)
    assert (sound.matters, broken.matters) == (matters_if_valid, matters_if_broken)


def test_what_may_be_refused_may_be_newly_refused() -> None:
    """Refusing a form that the format leaves to readers does not matter."""
    assert reading(ROWS, REFUSED, refusable=True).matters is False


def test_a_version_that_lacks_the_type_has_judged_nothing() -> None:
    """Broken bytes of a type that the older version does not know are not newly accepted."""
    assert reading(LACKS, ROWS, valid=False).change is VersionChange.ABSENT
    assert reading(LACKS, ROWS).change is VersionChange.ACCEPTED


def test_another_type_is_named() -> None:
    """If only the type changed, both types are reported."""
    found = reading(ROWS, RETYPED)

    assert (found.before, found.after) == ("read as int64", "read as extension<uuid>")


# --- writing ----------------------------------------------------------------------------------------


def stream(values: list[int], codec: str | None = None, level: int = 1) -> bytes:
    """A stream of one column, as the installed pyarrow writes it."""
    batch = pa.record_batch([pa.array(values, pa.int64())], names=["a"])
    sink = pa.BufferOutputStream()
    compression = pa.Codec(codec, compression_level=level) if codec else None
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def written(data: bytes, name: str = "a/stream", *, spilled: bool = False) -> VersionAnswer:
    """The answer of a version that wrote ``data``."""
    return VersionAnswer(name, "written", data=data, spilled=spilled)


def writing(old: VersionAnswer, new: VersionAnswer, *, same: bool = True) -> VersionDifference:
    """The difference of two writings of the same rows."""
    return compare_writings(new.id, "write a", STEP, (old, new), container="stream", same=lambda *_: same)


PLAIN = stream([1, 2, 3])


def test_the_same_bytes_are_equal() -> None:
    """Nothing has changed where no byte has."""
    assert writing(written(PLAIN), written(PLAIN)).change is VersionChange.EQUAL


def test_other_bytes_that_conform_are_another_layout() -> None:
    """Bytes with the same meaning that break no rule do not matter, and their places are reported."""
    found = writing(written(PLAIN), written(PLAIN[:-8]))

    assert (found.change, found.matters) == (VersionChange.LAYOUT, False)
    assert found.places[0].gone


def test_bytes_that_break_a_rule_matter() -> None:
    """A rule that only the new bytes break is named."""
    found = writing(written(PLAIN), written(PLAIN[:-4]))

    assert (found.change, found.matters) == (VersionChange.NONCONFORMING, True)
    assert found.rules[0] == "prefix.truncated"
    assert set(found.rules[1:]) <= set(CLAUSES)
    assert found.rules[1:]


def test_a_rule_that_was_broken_before_is_no_drift() -> None:
    """A fault of both versions is no change."""
    assert writing(written(PLAIN[:-4]), written(PLAIN[:-5])).change is VersionChange.LAYOUT


def test_other_values_matter() -> None:
    """Bytes from which other values are read have changed their values."""
    found = writing(written(PLAIN), written(stream([1, 2, 4])), same=False)

    assert (found.change, found.matters) == (VersionChange.VALUES, True)


def test_recompressed_bytes_are_the_same() -> None:
    """Other compressed bytes of the same buffers are not another layout."""
    values = [number // 7 for number in range(2000)]
    old, new = (written(stream(values, "zstd", level), "a/stream+zstd") for level in (1, 19))

    assert old.data != new.data
    assert writing(old, new).change is VersionChange.RECOMPRESSED


def test_published_memory_matters_where_it_is_new() -> None:
    """A version that begins to write bytes from beyond its buffers is reported; one that continues to do so is not."""
    spilling = written(PLAIN + bytes(8), spilled=True)

    assert writing(written(PLAIN), spilling).change is VersionChange.SPILL
    assert writing(spilling, spilling).change is VersionChange.EQUAL


def test_a_table_that_is_no_longer_written_matters() -> None:
    """Refusing to write what was written is drift; writing what was refused is not, if it conforms."""
    refused = VersionAnswer("a/stream", "refused", error="ArrowInvalid", text="no")

    assert (writing(written(PLAIN), refused).change, writing(written(PLAIN), refused).matters) == (
        VersionChange.REFUSED,
        True,
    )
    assert (writing(refused, written(PLAIN)).change, writing(refused, written(PLAIN)).matters) == (
        VersionChange.ACCEPTED,
        False,
    )
    assert writing(refused, written(PLAIN[:-4])).matters is True


def test_a_lacking_version_is_not_compared() -> None:
    """A writing that one version has no type for is not applicable."""
    lacking = VersionAnswer("a/stream", "lacking", text="pyarrow 1.0.0 has no list_view")

    assert writing(lacking, written(PLAIN)).change is VersionChange.ABSENT
