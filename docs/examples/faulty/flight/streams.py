"""The messages of server.py: the plain stream of two batches, and one for each fault."""

import pyarrow as pa

HEADER, METADATA, BODY = 2, 3, 1000
"""The fields of FlightData."""


def part(number: int, value: bytes) -> bytes:
    """A field of protobuf with a value of fewer than 16,384 bytes."""
    return b"".join(bytes([one & 127 | 128, one >> 7]) for one in (number << 3 | 2, len(value))) + value


def written(*batches: pa.RecordBatch) -> list[tuple[bytes, bytes]]:
    """The header and the body of each message of a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    read = pa.ipc.MessageReader.open_stream(sink.getvalue())
    return [(one.metadata.to_pybytes(), one.body.to_pybytes() if one.body else b"") for one in read]


def data(header: bytes, body: bytes) -> bytes:
    """A FlightData."""
    return part(HEADER, header) + part(BODY, body)


TEXTS = [pa.record_batch({"s": two}) for two in (["a", "bb"], ["ccc", "dddd"])]
CODES = [pa.record_batch({"s": pa.array(two).dictionary_encode()}) for two in (["a", "bb"], ["a", "bb"])]
(_, (HEAD, TAIL), _) = written(*TEXTS)
SCHEMA, FIRST, SECOND = (data(*one) for one in written(*TEXTS))
STRAY, _ = (data(*one) for one in written(pa.record_batch({"t": ["x"]})))
CODED, WORDS, *PLACES = (data(*one) for one in written(*CODES))
OTHER = data(HEAD, TAIL.replace(b"abb", b"xyy"))
STREAMS: dict[str, list[bytes]] = {
    "none": [SCHEMA, FIRST, SECOND],
    "cancelled": [SCHEMA, FIRST],
    "last-missing": [SCHEMA, FIRST],
    "batch-twice": [SCHEMA, FIRST, FIRST, SECOND],
    "other-values": [SCHEMA, OTHER, SECOND],
    "no-message": [],
    "no-schema": [FIRST, SECOND],
    "schema-again": [SCHEMA, FIRST, SCHEMA, SECOND],
    "schema-twice": [SCHEMA, SCHEMA, FIRST, SECOND],
    "schema-last": [SCHEMA, FIRST, SECOND, SCHEMA],
    "schema-other": [SCHEMA, STRAY, FIRST, SECOND],
    "no-protobuf": [SCHEMA, FIRST, SECOND[:-4], SECOND],
    "no-field": [SCHEMA, FIRST, b"", SECOND],
    "body-alone": [SCHEMA, FIRST, part(BODY, bytes(64)), SECOND],
    "metadata-alone": [SCHEMA, FIRST, part(METADATA, b"alone"), SECOND],
    "header-noise": [SCHEMA, FIRST, data(bytes(range(64)), TAIL), SECOND],
    "header-with-prefix": [SCHEMA, data(b"\xff\xff\xff\xff" + len(HEAD).to_bytes(4, "little") + HEAD, TAIL), SECOND],
    "body-longer": [SCHEMA, data(HEAD, TAIL + bytes(8)), SECOND],
    "body-cut": [SCHEMA, data(HEAD, TAIL[: len(TAIL) // 2]), SECOND],
    "no-dictionary": [CODED, *PLACES],
    "dictionary-late": [CODED, PLACES[0], WORDS, *PLACES[1:]],
}
