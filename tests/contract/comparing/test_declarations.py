"""Which schemas an exchange declares for columns that a case knows."""

from __future__ import annotations

from conformance.contract.comparing.declarations import declared
from conformance.contract.viewing import view_of
from conformance.records import CreateSession, ReadRows
from tests.contract.exchanges import Obedient, case_of, read, session


def test_without_a_schema_in_the_session_that_of_each_first_response_counts() -> None:
    """A later response may repeat the schema, and declares nothing by it."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    answers = server.run()
    session(answers).ClearField("arrow_schema")
    for response in read(answers).responses:
        response.arrow_schema.CopyFrom(read(answers).responses[0].arrow_schema)

    found = declared(view_of(server.case, server.freeze(answers), server.table))

    assert [(one.call, one.response) for one in found] == [(1, 0)]
