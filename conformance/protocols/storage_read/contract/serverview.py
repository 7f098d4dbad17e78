"""What the clauses on servers see of an exchange of Storage Read."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.comparing.expected import expected_columns
from conformance.contract.view import DeclaredSchema, ReadTable
from conformance.history import History
from conformance.protocols.storage_read.contract.queryview import QueriesView
from conformance.protocols.storage_read.contract.rowhistory import observed
from conformance.protocols.storage_read.contract.sessions import whole_sessions

__all__ = ["ServerView"]


class ServerView(QueriesView):
    """An exchange with sessions and queries, and what they let compare with the case."""

    def declared_schemas(self) -> Iterator[DeclaredSchema]:
        """Yield the schemas of a serializer, of sessions, and of reads whose session has none."""
        yield from super().declared_schemas()
        for session in self.sessions:
            selected = session.step.selected_fields
            columns = expected_columns(session.columns, selected)
            if "OK" not in session.expected_codes or columns is None:
                continue
            schemas = [session.schema]
            if session.schema is None:
                schemas = [response.schema for read in session.reads for response in read.responses[:1]]
            found = (schema for schema in schemas if schema is not None)
            yield from (DeclaredSchema(schema, columns, selected=bool(selected)) for schema in found)

    def read_tables(self) -> Iterator[ReadTable]:
        """Yield the sessions whose streams were all read in full."""
        for read in whole_sessions(self) if self.sessions else ():
            columns = expected_columns(read.session.columns, read.session.step.selected_fields) or ()
            yield ReadTable(read.call, columns, read.expected, read.got, read.batches)

    def history(self) -> History | None:
        """The sessions over rows with unique ids."""
        found = observed(self)
        return None if found is None else found.history
