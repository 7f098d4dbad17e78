"""A strict reader of Arrow's encapsulated messages: it turns untrusted bytes into a structure and a list of faults.

``read_schema`` and ``read_batch`` read bytes that should be one message, and return its content and its faults; no
bytes make them raise. ``read_stream`` does the same for a full IPC stream with its dictionaries, ``read_file`` for a
file with its footer, and ``read_tensor`` for dense and sparse tensors. ``sniff`` guesses which of these some bytes are.
``batch_to_arrow`` decodes a batch without pyarrow's IPC reader. ``dissect`` explains every byte. The package does not
decide which faults break which contract; :mod:`conformance.contract` does.

>>> import pyarrow as pa
>>> batch = pa.RecordBatch.from_pydict({"x": [1, None, 3]})
>>> schema = read_schema(batch.schema.serialize().to_pybytes()).schema
>>> message = read_batch(batch.serialize().to_pybytes(), schema)
>>> message.faults
[]
>>> message.nodes
(Node(length=3, null_count=1),)
>>> batch_to_arrow(message).to_pydict()
{'x': [1, None, 3]}
"""

from conformance._protobuftables import MessageSpec
from conformance.wire.arrays import batch_to_arrow
from conformance.wire.arrow import DecodingError, UndecodableError, UnsupportedHereError, schema_to_arrow
from conformance.wire.batch import BatchMessage, BufferRange, Node, batch_lengths, read_batch
from conformance.wire.closed import Kind, RegionKind, RowKind, SectionKind
from conformance.wire.dense import Tensor
from conformance.wire.dictionaries import DictionaryMessage
from conformance.wire.dissect import DissectedSection, Dissection, Region, dissect
from conformance.wire.dump import Row, lines, rows
from conformance.wire.faults import Fault, Rule, Severity, WireRule
from conformance.wire.file import FileReading, read_file
from conformance.wire.footer import Block, Footer
from conformance.wire.foreign import recognise
from conformance.wire.messages import Header, KeyValues, Message, read_messages
from conformance.wire.plain import Plain, PlainError, PlainTable, differences, plain_table, plain_values
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtobufReading, ProtoField, ProtoMessage
from conformance.wire.protobufrules import EncodingNote, PermittedEncoding, ProtobufRule
from conformance.wire.schema import SchemaMessage, read_schema
from conformance.wire.sniff import sniff
from conformance.wire.sparse import SparseIndex, SparseTensor
from conformance.wire.stream import StreamReading, read_stream
from conformance.wire.tensorbody import TensorPart
from conformance.wire.tensors import TensorReading, read_tensor
from conformance.wire.types import Dictionary, Endianness, Field, Schema, Type, TypeKind

__all__ = [
    "BatchMessage",
    "Block",
    "BufferRange",
    "DecodingError",
    "Dictionary",
    "DictionaryMessage",
    "DissectedSection",
    "Dissection",
    "EncodingNote",
    "Endianness",
    "Fault",
    "Field",
    "FileReading",
    "Footer",
    "Header",
    "KeyValues",
    "Kind",
    "Message",
    "MessageSpec",
    "Node",
    "PermittedEncoding",
    "Plain",
    "PlainError",
    "PlainTable",
    "ProtoField",
    "ProtoMessage",
    "ProtobufReading",
    "ProtobufRule",
    "Region",
    "RegionKind",
    "Row",
    "RowKind",
    "Rule",
    "Schema",
    "SchemaMessage",
    "SectionKind",
    "Severity",
    "SparseIndex",
    "SparseTensor",
    "StreamReading",
    "Tensor",
    "TensorPart",
    "TensorReading",
    "Type",
    "TypeKind",
    "UndecodableError",
    "UnsupportedHereError",
    "WireRule",
    "batch_lengths",
    "batch_to_arrow",
    "differences",
    "dissect",
    "lines",
    "plain_table",
    "plain_values",
    "read_batch",
    "read_file",
    "read_messages",
    "read_protobuf",
    "read_schema",
    "read_stream",
    "read_tensor",
    "recognise",
    "rows",
    "schema_to_arrow",
    "sniff",
]
