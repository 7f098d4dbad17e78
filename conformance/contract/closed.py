"""The closed sets of the contract: evidence for a clause, features of a request, the format's judgement of input."""

from __future__ import annotations

import enum
from typing import Self

__all__ = ["EvidenceKind", "Feature", "Form", "OffsetPlace", "Paths", "Question", "Tier", "Validity"]


class EvidenceKind(enum.StrEnum):
    """The kind of evidence that a requirement rests on, strongest first.

    ``words`` names it in reports. Only with ``carries_must`` is it enough for a MUST.
    """

    words: str
    carries_must: bool

    def __new__(cls, value: str, words: str, carries_must: bool) -> Self:  # noqa: FBT001  # the columns of a table
        """Make a member from its row: value, words, and whether it is enough for a MUST."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words
        member.carries_must = carries_must
        return member

    RECORDED = "recorded", "recorded from the service", True
    """Bytes or texts of the service that somebody published, or an assertion of a test against the service."""
    MEASURED = "measured", "measured on the service", True
    """Somebody measured the service and published the result with its date."""
    NORMATIVE = "normative", "normative text", True
    """A specification says it: Arrow, FlatBuffers, protobuf, gRPC."""
    CLIENT = "client", "client behaviour", True
    """A public client fails without it, or checks it: run, reported in public, or read in its source."""
    DOCUMENTATION = "documentation", "documentation", False
    """The service's own documentation says it, comments in its proto files included."""
    INFERRED = "inferred", "inferred", False
    """No text says it; it follows from what the source says."""


class Feature(enum.StrEnum):
    """The distinctive feature of a request; the first that applies, in this order, decides which clauses check it."""

    OFFERED_OR_NOT = "offered-or-not"
    QUERY_RESULT = "query-result"
    PARTITIONED = "partitioned"
    SAMPLE = "sample"
    SNAPSHOT = "snapshot"
    COLUMNS = "columns"
    APPEND = "append"
    FILTERED_PROJECTION = "filtered-projection"
    RESTRICTION = "restriction"
    RESPONSE_CODEC = "response-codec"
    BODY_CODEC = "body-codec"
    LARGE = "large"
    ABANDONED = "abandoned"
    PROJECTION = "projection"
    FOREIGN_PARENT = "foreign-parent"
    NO_OPTIONS = "no-options"
    PREFERRED_STREAMS = "preferred-streams"
    SEVERAL_STREAMS = "several-streams"
    PLAIN = "plain"


class Paths(enum.StrEnum):
    """The distinctive feature of a list of selected fields; the first that applies decides."""

    REPEATED = "repeated"
    OTHER_CASE = "other-case"
    INSIDE = "inside"
    MERGED = "merged"
    NESTED = "nested"
    RECORD = "record"
    PLAIN = "plain"


class Form(enum.StrEnum):
    """The distinctive feature of a restriction; the first that applies, in this order, decides which clause checks
    it. An operator on columns and literals is checked in any case.
    """

    FUNCTION = "a function"
    KEYWORD_LITERAL = "a keyword inside a literal"
    KEYWORD_NAME = "a column named like a statement"
    DOUBLE_QUOTED = "a double-quoted literal"
    TEMPORAL = "a date or timestamp literal"
    NESTED_FIELD = "a field of a record"
    LIKE = "LIKE"
    BETWEEN = "BETWEEN"
    IN = "IN"
    IS_NULL = "IS NULL"
    NOT = "NOT"
    LOGIC = "AND or OR"
    COMPARISON = "a comparison"


class OffsetPlace(enum.StrEnum):
    """The place of an offset in its stream."""

    INSIDE = "inside a response"
    BOUNDARY = "at the first row of a later response"
    LAST = "at the last row"
    END = "at the number of rows"
    BEYOND = "beyond the number of rows"


class Validity(enum.StrEnum):
    """The format's judgement of the bytes."""

    VALID = "valid"
    INVALID = "invalid"
    PERMITTED = "permitted"
    """The texts conflict or are silent: a reader may accept them or refuse."""


class Tier(enum.StrEnum):
    """The freedom of a reader for some input."""

    CORE = "core"
    """Legal, and in the format since 1.0: a reader has to read it."""
    OPTIONAL = "optional"
    """Legal, of a kind that a reader may lack if it reports so."""
    STRUCTURE = "structure"
    """Invalid in a way that no reader can ignore: a reader has to refuse it."""
    CONTENT = "content"
    """Invalid in its values, or in a way that readers need not notice: a reader may accept it."""


class Question(enum.StrEnum):
    """The question about a reader that a clause answers; reports answer each apart, in this order."""

    CONFORMANCE = "conformance"
    """Does it read legal input: all that it has to, with the right rows? The text of the format decides."""
    ROBUSTNESS = "robustness"
    """Does it get over malformed input: does it survive, refuse, and end with an error that callers can handle? The
    format's page on security recommends this.
    """
