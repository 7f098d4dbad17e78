"""Record batches of the types that BigQuery does not have, so that the clauses on them have something to judge."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["samples", "times"]


def samples() -> list[pa.RecordBatch]:
    """One batch of three rows per family of types; families that this pyarrow does not know are left out."""
    codes = pa.array([0, 1, 0], pa.int8())
    families: list[dict[str, pa.Array]] = [
        {
            "map": pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.utf8(), pa.int32())),
            "fixed": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int16(), 2)),
            "null": pa.nulls(3),
            "days": pa.array([0, 86_400_000, None], pa.date64()),
            "time": pa.array([1, None, 3], pa.time32("s")),
            "width": pa.array([b"abc", None, b"def"], pa.binary(3)),
            "large": pa.array(["x", None, "yz"], pa.large_utf8()),
            "codes": pa.array([0, 1, None], pa.int32()),
        },
        {
            "sparse": pa.UnionArray.from_sparse(codes, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]),
            "dense": pa.UnionArray.from_dense(
                codes, pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a"])]
            ),
            "runs": pc.run_end_encode(pa.array([1, 1, 2])),
        },
    ]
    if hasattr(pa, "string_view"):
        long = "a text that is too long to stand in its view"
        families.append({"text": pa.array(["short", None, long], pa.string_view())})
    if hasattr(pa, "list_view"):
        families.append({"views": pa.array([[1, 2], None, [3]], pa.list_view(pa.int32()))})
    if hasattr(pa, "decimal32"):
        families.append({"small": pa.array([1, None, 2], pa.decimal32(5, 2))})
    return [pa.record_batch(family) for family in families]


def times() -> pa.RecordBatch:
    """The types of BigQuery whose values have limits of their own, so that these are judged without a table too."""
    return pa.record_batch(
        {
            "date": pa.array([0, 1, None], pa.date32()),
            "datetime": pa.array([0, 1, None], pa.timestamp("us")),
            "timestamp": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
        }
    )
