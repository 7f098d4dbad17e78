"""polars, whose own Rust code reads and writes IPC data: streams and files, each read completely into a DataFrame.

polars converts to its own types (text and binary become views, lists large lists, time of day nanoseconds,
dictionary indices unsigned). pyarrow then takes the result over the Arrow C stream interface, without copying or
validating it. The batches therefore have the layout of polars, not the layout in which they were written.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.readers.ipc.cinterface import exported, in_slices
from conformance.readers.ipc.implementation import Decoded, IpcReaderInfo, Library
from conformance.readers.ipc.sources import in_pieces, on_disk
from conformance.readers.rewrite import Rewrite

_DATA_TYPES: Final = "https://docs.pola.rs/api/python/stable/reference/datatypes.html"
_LACKS: Final = (
    "not yet implemented|not supported|does not support primitive|cannot create series from|could not import from"
)
"""polars reports missing features by panics as often as by errors."""

_WIDER: Final = {
    **{f"{sign}nt{bits}": f"{sign}nt{2 * bits}" for sign in ("I", "UI") for bits in (8, 16, 32)},
    "Float32": "Float64",
    "Categorical": "String",
}
"""Another type with the same values, by polars' name of a type."""

READER = IpcReaderInfo(
    name="polars",
    title="polars",
    language="Rust",
    kinds=("stream", "file"),
    options={
        "included_fields": (),
        "chunk": (),
        "mapped": (False, True),
        "way": ("", "scan", "streaming-scan", "imported"),
        "after": ("", "cast", "concatenated", "taken"),
    },
    lacks=_LACKS,
    rewrites=(
        *(Rewrite(f"time32[{unit}]", "time64[ns]", _DATA_TYPES) for unit in ("s", "ms")),
        Rewrite("time64[us]", "time64[ns]", _DATA_TYPES),
        Rewrite("timestamp[s]", "timestamp[ms]", _DATA_TYPES),
        Rewrite("duration[s]", "duration[ms]", _DATA_TYPES),
    ),
)
WRITER = READER.as_writer(
    options={"codec": ("", "lz4", "zstd"), "compat_level": (0, 1), "given": ("", "sliced", "nulls")}
)


def load() -> Library:
    """Import polars; its thread pool starts with the first use, which is in a forked child."""
    import polars as pl  # noqa: PLC0415  # only a worker imports a library under test

    class Polars:
        version: str = pl.__version__

        def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Any:
            del schema  # kind message is not declared
            if options.get("way") == "imported":
                return pl.DataFrame(exported(kind, data))
            chosen = options.get("included_fields")
            with contextlib.ExitStack() as stack:
                source = _source(stack, data, options)
                if options.get("way"):
                    frame = pl.scan_ipc(source)
                    names = frame.collect_schema().names()
                    scanned = frame if chosen is None else frame.select([names[place] for place in sorted(chosen)])
                    return scanned.collect(engine="streaming" if options["way"] == "streaming-scan" else "in-memory")
                read = pl.read_ipc if kind == "file" else pl.read_ipc_stream
                return read(source, columns=chosen)

        def hand_over(self, made: Any) -> Decoded:
            return Decoded.of(pa.RecordBatchReader.from_stream(made), [str(dtype) for dtype in made.dtypes])

        def own(self, made: Any, place: int) -> Sequence[Any]:
            values: Sequence[Any] = made.to_series(place).to_list()
            return values

        def after(self, made: Any, what: str) -> Decoded:
            return self.hand_over(_after(pl, made, what))

        def source(self, data: bytes) -> Any:
            return pl.read_ipc_stream(io.BytesIO(data))

        def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
            given = _given(data, options.get("given", ""))
            sink = io.BytesIO()
            write = given.write_ipc if kind == "file" else given.write_ipc_stream
            level = options.get("compat_level")
            newest = None if level is None else pl.CompatLevel.newest() if level else pl.CompatLevel.oldest()
            write(sink, compression=options.get("codec") or "uncompressed", compat_level=newest)
            return sink.getvalue()

    return Polars()


def _after(pl: Any, made: Any, what: str) -> Any:
    """The frame after what the option ``after`` names."""
    if what == "concatenated":
        middle = made.height // 2
        return pl.concat([made.slice(0, middle), made.slice(middle)]).rechunk()
    if what == "taken":
        places = pl.Series([*range(made.height - 1, -1, -1)], dtype=pl.UInt32)
        return made[places][places]
    wider = {name: getattr(pl, _WIDER[str(kind)]) for name, kind in made.schema.items() if str(kind) in _WIDER}
    return made.cast(wider)


def _given(frame: Any, form: str) -> Any:
    """The frame in the form that the write option ``given`` names."""
    import polars as pl  # noqa: PLC0415  # only a worker imports a library under test

    if form == "sliced":
        return pl.concat(in_slices(frame, frame.height), rechunk=False)
    return frame.clear(frame.height) if form == "nulls" else frame


def _source(stack: contextlib.ExitStack, data: bytes, options: Mapping[str, Any]) -> Any:
    """What the options ask to read from: a buffer, a file object, or the path of a file, which polars maps."""
    if options.get("mapped"):
        return stack.enter_context(on_disk(data))
    return in_pieces(data, options["chunk"]) if "chunk" in options else io.BytesIO(data)
