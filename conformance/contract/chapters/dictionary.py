"""Dictionaries of a stream or file: which are defined, when, by what, and whether indices stay inside them.

A dictionary batch by itself is judged by the clauses on bodies, as any record batch. Dictionaries may be shared
between fields, hold duplicates and nulls, be appended to, and in streams be replaced. The definition of
`DictionaryEncoding` in Schema.fbs once kept the children of an encoded field from being encoded themselves; golden
files of the Arrow project do so (`nested_dictionary`), and it is permitted here.
"""

from __future__ import annotations

from conformance.contract.clause import SEQUENCES, Role
from conformance.contract.ipc.selectors import encoded
from conformance.contract.rules import must, rule_clauses, should
from conformance.wire import Rule

# A table reads as a table: id, rules and who breaks, then the explanation where it says more than the rules.
# fmt: off
rule_clauses(encoded, SEQUENCES,
    must("dictionary.shared-type", Rule.DICTIONARY_TYPES_DIFFER,
      "readers read the dictionary as one of the types, and show the other field wrong values",
      "Fields that name the same dictionary have the same type of values; the widths of their indices may differ."),
    must("dictionary.known-id", Rule.DICTIONARY_ID_UNKNOWN,
      "nothing says of what type the values are: readers refuse or drop them"),
    must("dictionary.data-present", Rule.DICTIONARY_DATA_MISSING, "readers that take the data without looking",
      "A dictionary batch has data: a record batch of one field."),
    must("dictionary.delta-has-base", Rule.DICTIONARY_DELTA_WITHOUT_BASE,
      "nanoarrow 0.9.0 and apache-arrow 21.2.0 (JavaScript) take the delta for a dictionary, which hides that"
      " values are lost",
      "A delta (`isDelta`) appends to a dictionary that has been defined before."),
    must("dictionary.defined", Rule.DICTIONARY_MISSING, "every reader: the indices stand for nothing",
      """A dictionary is defined before the batch whose values point into it; in a file, anywhere in the file.

      "before any dictionary key is used in a `RecordBatch` it should be defined in a `DictionaryBatch`" (IPC Streaming
      Format), and no reader of a stream could do with less.
      """),
    should("dictionary.before-batches", Rule.DICTIONARY_LATE,
      "readers that collect all dictionaries before the first batch; they may",
      """A writer defines a dictionary before the first batch, even where that batch has only nulls in the column.

      The format says two things. A note on streams permits more: where columns "are completely null", "the dictionary
      for the encoded column might appear after the first record batch" (IPC Streaming Format). The description of files
      takes streams to define all dictionaries first. So bytes of either kind are legal, a reader may refuse the late
      one, and a writer does best to be early.
      """, profiles=SEQUENCES[:1], role=Role.WRITER),
    must("dictionary.indices-inside", Rule.DICTIONARY_INDEX_RANGE,
      "readers that do not check read memory behind the dictionary",
      """A dictionary index is below the length of the dictionary, as it is at that batch, in a slot that is not null.

      A replacement or delta counts from its place in the stream on. That indices are not negative is another clause's;
      and of a dictionary without data, or of two types, nobody knows the length.
      """, unless=[Rule.DICTIONARY_DATA_MISSING, Rule.DICTIONARY_TYPES_DIFFER]),
)
# fmt: on
