"""What an exchange is to a clause, where no clause shows it."""

from __future__ import annotations

from conformance.contract.view import View
from conformance.records import CreateSession, ReadRows
from tests.contract.exchanges import Obedient, case_of, read


def test_a_response_that_is_no_message_has_no_rows() -> None:
    """The rows of a read are those that its messages count."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    answers = server.run()
    read(answers).responses.append(b"\x0a\xff")

    (whole,) = View(server.case, server.freeze(answers), server.table).reads

    assert whole.responses[-1].message is None
    assert whole.row_count == 10
