"""Dictionaries of a stream or file: their definitions, the order of these, and indices inside of them.

The clauses on bodies judge a dictionary batch itself, as any record batch. Dictionaries may be shared between
fields, may hold duplicates and nulls, may be appended to, and in streams may be replaced. An earlier definition of
`DictionaryEncoding` in Schema.fbs did not permit the children of an encoded field to be encoded themselves; golden
files of the Arrow project do so (`nested_dictionary`), and it is permitted here.
"""

from __future__ import annotations

from conformance.contract.clause import SEQUENCES, Role
from conformance.contract.ipc.selectors import encoded
from conformance.contract.rules import must, rule_clauses, should
from conformance.wire import Rule

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(encoded, SEQUENCES,
    must("dictionary.shared-type", Rule.DICTIONARY_TYPES_DIFFER,
      "readers decode the dictionary as one of the types, and show wrong values in the other field",
      "Fields that name the same dictionary have the same type of values; the widths of their indices may differ."),
    must("dictionary.known-id", Rule.DICTIONARY_ID_UNKNOWN,
      "the type of the values is unknown: readers refuse or drop them"),
    must("dictionary.data-present", Rule.DICTIONARY_DATA_MISSING, "readers that use the data without a check",
      "A dictionary batch has data: a record batch of one field."),
    must("dictionary.delta-has-base", Rule.DICTIONARY_DELTA_WITHOUT_BASE,
      "nanoarrow 0.9.0 and apache-arrow 21.2.0 (JavaScript) treat the delta as a dictionary, which hides the"
      " loss of values",
      "A delta (`isDelta`) appends to a dictionary that has been defined before."),
    must("dictionary.defined", Rule.DICTIONARY_MISSING, "every reader: the indices have no values",
      """A dictionary is defined before the batch whose values refer to it; in a file, anywhere in the file.

      "before any dictionary key is used in a `RecordBatch` it should be defined in a `DictionaryBatch`" (IPC Streaming
      Format), and no reader of a stream can decode the batch otherwise.
      """),
    should("dictionary.before-batches", Rule.DICTIONARY_LATE,
      "readers that collect all dictionaries before the first batch, as they are permitted to",
      """A writer defines a dictionary before the first batch, even if that batch has only nulls in the column.

      The texts of the format differ. A note on streams permits more: if columns "are completely null", "the dictionary
      for the encoded column might appear after the first record batch" (IPC Streaming Format). The description of files
      assumes that streams define all dictionaries first. So both orders are legal, a reader may refuse the late
      dictionary, and a writer should write it early.
      """, profiles=SEQUENCES[:1], role=Role.WRITER),
    must("dictionary.indices-inside", Rule.DICTIONARY_INDEX_RANGE,
      "readers without bounds checks read memory after the dictionary",
      """In a slot that is not null, a dictionary index is below the length that the dictionary has at that batch.

      A replacement or delta takes effect at its place in the stream. Another clause requires that indices are not
      negative. The length of a dictionary without data, or of two types, is unknown and not judged.
      """, unless=[Rule.DICTIONARY_DATA_MISSING, Rule.DICTIONARY_TYPES_DIFFER]),
)
# fmt: on
