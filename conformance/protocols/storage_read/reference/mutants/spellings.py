"""Mutants that write the text of a value in another spelling, where the server chooses the spelling."""

from __future__ import annotations

import abc
import json

import pyarrow as pa
import pyarrow.types as is_

from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession
from conformance.reference.reshaping import change_fields, sql_type


class _Rewriting(ReadService, abc.ABC):
    """A service that writes texts of one type in another way; the value is the same."""

    kind = ""

    @abc.abstractmethod
    def rewrite(self, text: str) -> str:
        """The same value in another spelling."""

    def serve(self, session: OpenedSession, rows: pa.Table) -> pa.RecordBatch:
        def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
            if sql_type(field) != self.kind or not is_.is_string(field.type):
                return field, array
            texts = [None if text is None else self.rewrite(text) for text in array.to_pylist()]
            return field, pa.array(texts, array.type)

        return change_fields(super().serve(session, rows), apply)


@behaviour_mutant("value.json-spaced", kills="values.json-compact")
class JsonSpaced(_Rewriting):
    """JSON is written with a space after each comma and colon."""

    kind = "json"

    def rewrite(self, text: str) -> str:
        return json.dumps(json.loads(text), ensure_ascii=False) if text[:1] in "[{" else text


@behaviour_mutant("value.geography-spaced", kills="values.geography-form")
class GeographySpaced(_Rewriting):
    """WKT is written with a space before its parentheses."""

    kind = "geography"

    def rewrite(self, text: str) -> str:
        return text.replace("(", " (", 1)
