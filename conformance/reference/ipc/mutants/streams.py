"""Mutants of a stream as a sequence: its order, its end, and messages that are cut off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.reference.ipc.models import EncodedMessage, StreamModel
from conformance.reference.ipc.register import mutant
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.reference.ipc.tensors import write_sparse
from conformance.reference.message import CONTINUATION, END_OF_STREAM
from conformance.wire.faults import Rule

__all__: list[str] = []

_SOME = ("rows.several", "nested.mixed", "dictionary.two")


def _before_last(model: StreamModel) -> bytes:
    return b"".join(each.encode() for each in model.messages[:-1])


def _last(model: StreamModel) -> bytes:
    return model.messages[-1].encode()


def _version(version: int) -> Callable[[StreamModel], None]:
    """Every message has that metadata version, counted from V1 as 0."""

    def change(model: StreamModel) -> None:
        for message in (model.schema, *model.dictionaries, *model.batches):
            message.tree["version"] = version

    return change


# fmt: off
mutant("stream.empty", Rule.PREFIX_EMPTY, on=("rows.several",),
       fault="The stream has no bytes at all, not even a schema.")(lambda _: b"")
# fmt: on


@mutant(
    "stream.schema-missing", Rule.STREAM_SCHEMA_FIRST, on=_SOME, source="https://github.com/apache/arrow-rs/issues/5361"
)
def schema_missing(model: StreamModel) -> None:
    """The stream begins with a batch; its schema is taken to be known."""
    del model.messages[0]


@mutant(
    "stream.schema-after-dictionaries",
    Rule.STREAM_SCHEMA_FIRST,
    on=("dictionary.two",),
    also={Rule.STREAM_SECOND_SCHEMA: "a schema that is not the first message is one too many"},
)
def schema_late(model: StreamModel) -> None:
    """The schema comes after the dictionaries."""
    model.messages[0:2] = model.messages[1::-1]


# fmt: off
mutant("stream.end-alone", Rule.STREAM_SCHEMA_FIRST, on=("rows.several",),
       source="https://github.com/influxdata/influxdb_iox/pull/6668",
       fault="A result without batches is an end marker, without a schema.")(lambda _: END_OF_STREAM)
mutant("stream.second-schema", Rule.STREAM_SECOND_SCHEMA, on=_SOME,
       source="https://github.com/apache/arrow-rs/pull/3391",
       fault="The schema is sent again before the last batch.")(
    lambda model: model.messages.insert(len(model.messages) - 1, model.schema))
mutant("stream.second-schema-last", Rule.STREAM_SECOND_SCHEMA, on=_SOME,
       fault="The schema is sent again after the last batch.")(lambda model: model.messages.append(model.schema))
mutant("stream.tensor", Rule.STREAM_MESSAGE_KIND, on=("rows.several",),
       fault="A tensor stands between two batches.")(
    lambda model: model.messages.insert(2, EncodedMessage(TENSORS["dense.i32"].model().encode())))
mutant("stream.sparse-tensor", Rule.STREAM_MESSAGE_KIND, on=("rows.several",),
       fault="A sparse tensor stands between two batches.")(
    lambda model: model.messages.insert(2, EncodedMessage(write_sparse(np.eye(3), "CSR"))))
mutant("stream.end-between", Rule.STREAM_BYTES_AFTER_END, on=("rows.several", "dictionary.delta"),
       source="https://github.com/ytsaurus/ytsaurus/issues/490",
       fault="A message of no metadata stands between two batches: to a reader, the stream ends there.")(
    lambda model: model.messages.insert(len(model.messages) - 1, EncodedMessage(END_OF_STREAM)))
mutant("stream.end-zeros", (Rule.STREAM_FRAMING_MIXED, Rule.STREAM_BYTES_AFTER_END), on=_SOME,
       source="https://issues.apache.org/jira/browse/ARROW-6519",
       fault="The end marker is eight zeros: a reader consumes four of them.")(
    lambda model: StreamModel(model.messages, end=bytes(8)))
mutant("stream.end-half", Rule.PREFIX_TRUNCATED, on=_SOME,
       fault="The end marker is a continuation word without the length that belongs to it.")(
    lambda model: StreamModel(model.messages, end=CONTINUATION))
mutant("stream.stray-bytes", Rule.PREFIX_TRUNCATED, on=_SOME,
       fault="Three bytes that are no message follow the last one, and there is no end marker.")(
    lambda model: StreamModel(model.messages, end=b"\xff\xff\xff"))
mutant("stream.cut-in-prefix", Rule.PREFIX_TRUNCATED, on=_SOME,
       source="https://github.com/apache/arrow-go/pull/991",
       fault="The transport broke off inside the prefix of the last batch.")(
    lambda model: _before_last(model) + _last(model)[:6])
mutant("stream.cut-in-metadata", Rule.METADATA_TRUNCATED, on=_SOME,
       source="https://github.com/apache/arrow-go/pull/991",
       fault="The transport broke off inside the metadata of the last batch.")(
    lambda model: _before_last(model) + _last(model)[:40])
# fmt: on


@mutant(
    "stream.cut-after-metadata",
    Rule.MESSAGE_BODY_TRUNCATED,
    on=_SOME,
    source="https://issues.apache.org/jira/browse/ARROW-14769",
)
def cut_after_metadata(model: StreamModel) -> bytes:
    """The transport broke off between the metadata of the last batch and its body."""
    body = len(model.batches[-1].complete()[1])
    return _before_last(model) + _last(model)[:-body]


# fmt: off
mutant("stream.cut-in-body", Rule.MESSAGE_BODY_TRUNCATED, on=_SOME,
       source="https://github.com/apache/arrow-nanoarrow/pull/295",
       fault="The transport broke off before the last byte of the body, which is padding.")(
    lambda model: model.encode()[: -len(model.end) - 1])
mutant("stream.cut-in-schema", Rule.METADATA_TRUNCATED, on=_SOME,
       fault="The transport broke off inside the schema.")(lambda model: model.schema.encode()[:-8])
# fmt: on


@mutant(
    "stream.body-length-negative",
    Rule.MESSAGE_BODY_LENGTH_NEGATIVE,
    on=("types.int32", "types.utf8"),
    also={Rule.BUFFER_OUT_OF_BODY: "a body of less than nothing holds no buffer"},
    source="https://github.com/apache/arrow-rs/pull/8097",
)
def body_length_negative(model: StreamModel) -> bytes:
    """The last batch has a body of minus eight bytes, and none follow."""
    batch = model.batches[-1]
    body = len(batch.complete()[1])
    batch.tree["bodyLength"] = -8
    return _before_last(model) + batch.encode()[:-body]


@mutant("stream.body-length-long", Rule.MESSAGE_BODY_TRUNCATED, on=_SOME)
def body_length_long(model: StreamModel) -> None:
    """The last batch declares a body of 64 bytes more than it has; there is no end marker."""
    batch = model.batches[-1]
    batch.tree["bodyLength"] = len(batch.complete()[1]) + 64
    model.end = b""


# fmt: off
mutant("stream.version-v3", Rule.MESSAGE_VERSION_BEFORE_V4, on=_SOME,
       fault="Every message says metadata V3, which no release has read since 0.8.")(_version(2))
mutant("stream.version-v6", Rule.MESSAGE_VERSION_UNKNOWN, on=_SOME,
       source="https://github.com/apache/arrow-testing/tree/master/data/forward-compatibility",
       fault="Every message says metadata V6, which is not defined yet.")(_version(5))
mutant("stream.json", Rule.METADATA_TRUNCATED, on=("rows.several",),
       source="https://github.com/apache/arrow/issues/37631",
       fault="The bytes are a JSON text, whose first four are taken for a length.")(
    lambda _: b'[{"n": 1, "t": "a"}, {"n": 2, "t": null}]\n')
mutant("stream.is-a-file", Rule.METADATA_TRUNCATED, on=("rows.several",),
       fault="A reader of streams is given a file from its first byte: the magic is taken for a length.")(
    lambda model: b"ARROW1\0\0" + model.encode())
# fmt: on
