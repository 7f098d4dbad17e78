"""The expected rows of sessions."""

from __future__ import annotations

from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.protocols.storage_read.contract.expected import expected_rows, expected_table, visible_rows
from conformance.records import AppendRows, Case, CreateSession, Expect
from tests.contract.exchanges import Obedient, case_of


def sessions(case: Case) -> View:
    """The view of what an obedient server answers."""
    server = Obedient(case)
    return view_of(case, server.freeze(server.run()), server.table)


def test_appended_rows_are_visible_to_later_sessions_only() -> None:
    """The seed has the rows that AppendRows steps do not append; each session sees the rows from before it."""
    view = sessions(
        case_of(
            CreateSession(label="a"),
            AppendRows(2),
            CreateSession(label="b"),
            AppendRows(3),
            CreateSession(label="c"),
            CreateSession(label="d", snapshot="before-append"),
        )
    )

    assert [len(visible_rows(view, session)) for session in view.sessions] == [5, 7, 10, 5]


def test_expected_rows_are_the_cases_or_all_that_are_visible() -> None:
    """Rows written in the case win; they and the selected fields make the table, once."""
    step = CreateSession(selected_fields=("name",), row_restriction="id > 7", expect=Expect(rows=(8, 9)))
    view = sessions(case_of(step, CreateSession()))

    assert expected_rows(view, view.sessions[0]) == (8, 9)
    assert expected_table(view, view.sessions[0]).to_pylist() == [{"name": "name 8"}, {"name": "name 9"}]
    assert expected_table(view, view.sessions[0]) is expected_table(view, view.sessions[0])
    assert expected_table(view, view.sessions[1]).num_rows == 10
