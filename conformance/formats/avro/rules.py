"""The rules that an Avro schema and the rows of a read can break, as one closed set.

A *violation* is forbidden by the Avro specification. A *note* is legal Avro: either BigQuery does not send it
(``of_service``), or readers accept it although writers rarely do it, or it exceeds a limit of this reader. Each rule
names the document that says so. Codes are permanent, because other packages and expectation files refer to them.
"""

from __future__ import annotations

from typing import Final

from conformance.wire.faults import Severity, WireRule

__all__ = ["AvroRule"]

_SPEC: Final = "https://avro.apache.org/docs/1.12.0/specification/"
_DECLARATION: Final = f"{_SPEC}#schema-declaration"
_NAMES: Final = f"{_SPEC}#names"
_RECORD: Final = f"{_SPEC}#schema-record"
_ARRAYS: Final = f"{_SPEC}#arrays"
_UNIONS: Final = f"{_SPEC}#unions"
_LOGICAL: Final = f"{_SPEC}#logical-types"
_DECIMAL: Final = f"{_SPEC}#decimal"
_BINARY: Final = f"{_SPEC}#binary-encoding"
_PRIMITIVES: Final = f"{_SPEC}#primitive-types-1"
_COMPLEX: Final = f"{_SPEC}#complex-types-1"
_JSON: Final = "https://www.rfc-editor.org/rfc/rfc8259"
_GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#avro_schema_details"
_CAPTURE: Final = "GoogleCloudDataproc/spark-bigquery-connector, alltypes.avroschema.json (captured from the service)"
_TYPES: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types"
_LIMITS: Final = "https://cloud.google.com/bigquery/quotas#all_tables"
_PROTO: Final = "google/cloud/bigquery/storage/v1/storage.proto, ReadRowsResponse.row_count"

_V: Final = Severity.VIOLATION
_N: Final = Severity.NOTE


class AvroRule(WireRule):
    """One requirement on an Avro schema or on rows in Avro, as the Storage Read API sends them."""

    # fmt: off
    # One rule per entry, without the formatter: code, severity and source, then the requirement.
    # --- the schema: JSON ----------------------------------------------------------------------------

    SCHEMA_JSON = ("avro-schema.json", _V, _JSON,
        "the schema is JSON in UTF-8, of at most 256 levels and 1000000 values")
    SCHEMA_KEY_REPEATED = ("avro-schema.key-repeated", _N, f"{_JSON}#section-4",
        "an object has each key once; of several values parsers take the last one, the first one, or none")
    SCHEMA_FORM = ("avro-schema.form", _V, _DECLARATION,
        "a schema is a JSON text, object or array")
    ATTRIBUTE_TYPE = ("avro-schema.attribute-type", _V, _DECLARATION,
        "an attribute has the JSON type that its definition requires")

    # --- the schema: types ---------------------------------------------------------------------------

    ROOT = ("avro-schema.root", _N, _GUIDE,
        "the schema of a session is a record, with a field for each column")
    TYPE_MISSING = ("avro-schema.type-missing", _V, _DECLARATION,
        "an object that declares a schema or a field has the attribute type")
    TYPE_UNKNOWN = ("avro-schema.type-unknown", _V, _DECLARATION,
        "a type is one of Avro's types, or a name that the schema defines")
    TYPE_UNMAPPED = ("avro-schema.type-unmapped", _N, _GUIDE,
        "a type is one to which BigQuery maps its types: not float, map, enum, fixed, or null alone")
    NAME_UNDEFINED = ("avro-schema.name-undefined", _V, _NAMES,
        "a full name is defined before it is used")
    NAME_MISSING = ("avro-schema.name-missing", _V, _NAMES,
        "a record and a field have a name, which is not empty")
    NAME_ILLEGAL = ("avro-schema.name-illegal", _V, _NAMES,
        "each part of a record's name matches [A-Za-z_][A-Za-z0-9_]*")
    NAMESPACE_ILLEGAL = ("avro-schema.namespace-illegal", _V, _NAMES,
        "each part of a namespace matches [A-Za-z_][A-Za-z0-9_]*")
    FIELD_NAME_ILLEGAL = ("avro-schema.field-name-illegal", _V, _NAMES,
        "the name of a field matches [A-Za-z_][A-Za-z0-9_]*")
    NAME_RESERVED = ("avro-schema.name-reserved", _V, _NAMES,
        "no record has the name of a primitive type")
    NAME_REDEFINED = ("avro-schema.name-redefined", _V, _NAMES,
        "a schema defines a full name once")
    FIELDS_MISSING = ("avro-schema.fields-missing", _V, _RECORD,
        "a record has the attribute fields, an array of objects")
    FIELD_REPEATED = ("avro-schema.field-repeated", _V, _RECORD,
        "the fields of a record have different names")
    ITEMS_MISSING = ("avro-schema.items-missing", _V, _ARRAYS,
        "an array has the attribute items")
    UNION_NESTED = ("avro-schema.union-nested", _V, _UNIONS,
        "a union does not directly contain another union")
    UNION_REPEATED = ("avro-schema.union-repeated", _V, _UNIONS,
        "a union has at most one branch of each unnamed type and of each name")
    UNION_BRANCHES = ("avro-schema.union-branches", _N, _CAPTURE,
        "a union has two branches: null, and the type of a NULLABLE column")
    UNION_NULL_FIRST = ("avro-schema.union-null-first", _N, _CAPTURE,
        "null is the first branch of a union, so that the byte 00 means NULL")
    RECURSION = ("avro-schema.recursion", _N, _GUIDE,
        "a record does not contain itself; no type of BigQuery does")

    # --- the schema: logical types -------------------------------------------------------------------

    LOGICAL_UNKNOWN = ("avro-schema.logical-type-unknown", _N, _LOGICAL,
        "a logical type is one that BigQuery is known to use; readers ignore others, and it may use more")
    LOGICAL_BASE = ("avro-schema.logical-type-base", _V, _LOGICAL,
        "a logical type annotates the type that its definition names")
    DECIMAL_PRECISION = ("avro-schema.decimal-precision", _V, _DECIMAL,
        "a decimal has a precision, which is greater than 0")
    DECIMAL_SCALE = ("avro-schema.decimal-scale", _V, _DECIMAL,
        "the scale of a decimal is not negative and at most its precision")
    DECIMAL_WIDE = ("avro-schema.decimal-wide", _N, _GUIDE,
        "a decimal has at most the precision of BIGNUMERIC, 77, and at most its scale, 38")

    # --- the schema: limits of this reader -----------------------------------------------------------

    DEPTH = ("avro-schema.depth", _N, _LIMITS,
        "types nest at most 64 deep; the columns of BigQuery nest 15 deep")
    SIZE = ("avro-schema.size", _N, _LIMITS,
        "a row has at most 100000 types, with each reference in full; a table has at most 10000 columns")
    NAME_LONG = ("avro-schema.name-long", _N, _LIMITS,
        "a full name has at most 1024 characters; the name of a column of BigQuery has at most 300")

    # --- the rows: numbers, lengths, branches --------------------------------------------------------

    ROW_TRUNCATED = ("avro-rows.truncated", _V, _BINARY,
        "a row has every part that the schema requires")
    VARINT_TRUNCATED = ("avro-rows.varint-truncated", _V, _PRIMITIVES,
        "the last byte of a variable-length number has no high bit")
    VARINT_TOO_LONG = ("avro-rows.varint-too-long", _V, _PRIMITIVES,
        "a variable-length number has at most 10 bytes")
    VARINT_OVERFLOW = ("avro-rows.varint-overflow", _V, _PRIMITIVES,
        "a variable-length number has at most 64 bits, so that its tenth byte is 1 at most")
    VARINT_NOT_MINIMAL = ("avro-rows.varint-not-minimal", _N, _PRIMITIVES,
        "a variable-length number has no more bytes than its value needs; parsers accept zero bits above it")
    INT_RANGE = ("avro-rows.int-range", _V, _PRIMITIVES,
        "an int has at most 32 bits")
    FIXED_TRUNCATED = ("avro-rows.fixed-truncated", _V, _PRIMITIVES,
        "a double has 8 bytes, a float 4")
    BOOLEAN = ("avro-rows.boolean", _V, _PRIMITIVES,
        "a boolean is the byte 0 or 1")
    LENGTH_NEGATIVE = ("avro-rows.length-negative", _V, _PRIMITIVES,
        "the length of a text or of bytes is not negative")
    LENGTH_BEYOND = ("avro-rows.length-beyond", _V, _PRIMITIVES,
        "as many bytes follow a length as it declares")
    UNION_BRANCH = ("avro-rows.union-branch", _V, _COMPLEX,
        "the number before a union's value is the position of one of its branches")

    # --- the rows: arrays ----------------------------------------------------------------------------

    BLOCK_COUNT = ("avro-rows.block-count", _V, _COMPLEX,
        "a block of an array has as many items as its count declares, so the bytes have room for them")
    BLOCK_SIZE = ("avro-rows.block-size", _V, _COMPLEX,
        "the items of a block with a negative count have as many bytes as the size after the count declares")
    ITEMS_LIMIT = ("avro-rows.items-limit", _N, _LIMITS,
        "at most 1048576 values take no bytes, the limit of this reader; BigQuery has no such types")

    # --- the rows: values ----------------------------------------------------------------------------

    UTF8 = ("avro-rows.utf8", _V, _PRIMITIVES,
        "a text is UTF-8")
    DATE_RANGE = ("avro-rows.date-range", _N, f"{_TYPES}#date_type",
        "a date is from 0001-01-01 to 9999-12-31")
    TIME_RANGE = ("avro-rows.time-range", _V, _LOGICAL,
        "a time of day is from 0 to less than 24 hours after midnight")
    TIMESTAMP_RANGE = ("avro-rows.timestamp-range", _N, f"{_TYPES}#timestamp_type",
        "a timestamp is from 0001-01-01 00:00:00 to 9999-12-31 23:59:59.999999")
    DATETIME_TEXT = ("avro-rows.datetime-text", _N, _GUIDE,
        "a DATETIME is the text YYYY-MM-DDTHH:MM:SS, with at most 6 digits after a point, and exists in the calendar")
    DECIMAL_EMPTY = ("avro-rows.decimal-empty", _V, _DECIMAL,
        "a decimal has at least one byte, as every number in two's complement")
    DECIMAL_RANGE = ("avro-rows.decimal-range", _N, f"{_TYPES}#decimal_types",
        "a BIGNUMERIC has at most 256 bits, which leaves out most numbers of 77 digits")
    DECIMAL_DIGITS = ("avro-rows.decimal-digits", _V, _DECIMAL,
        "a decimal has at most as many digits as its precision")

    # --- the rows: their number ----------------------------------------------------------------------

    ROWS_MISSING = ("avro-rows.missing", _N, _PROTO,
        "the bytes have as many rows as the response declares")
    ROWS_BEHIND = ("avro-rows.behind", _N, _PROTO,
        "nothing follows the last row that the response declares")
    # fmt: on

    @property
    def of_service(self) -> bool:
        """True if BigQuery's documents, its protocol or a capture of its bytes say it, and not Avro's specification."""
        return self.source in (_GUIDE, _CAPTURE, _PROTO, _LIMITS) or self.source.startswith(_TYPES)

    @property
    def binds(self) -> bool:
        """True if the rule binds a server: Avro forbids anything else, or BigQuery sends nothing else."""
        return self.severity is _V or self.of_service
