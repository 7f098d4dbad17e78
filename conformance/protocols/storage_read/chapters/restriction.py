"""The effect of ``row_restriction``: it selects exactly the rows for which it is TRUE, or it is refused.

A clause judges a valid restriction by the distinctive feature of its text (:class:`Form`). If that is an operand, such
as a date, a second clause judges an operator such as BETWEEN; if no row is selected, another one judges that. The rows
that it selects are written in the case, by hand. The chapter on errors judges the codes of refusals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature, Form
from conformance.contract.sources import (
    BAD_FILTER,
    GUIDE,
    LIVE_TESTS,
    LONG_FILTER,
    QUOTAS,
    RECORDED,
    RUST_CLIENT,
    SQL_FUNCTIONS,
    SQL_KEYWORDS,
    SQL_LITERALS,
    SQL_OPERATORS,
    SQL_WHERE,
    STREAM_PROTO,
    Sources,
)
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import refuses
from conformance.protocols.storage_read.contract.expected import expected_rows, visible_rows
from conformance.protocols.storage_read.contract.restrictions import calls_function, null_rows, tokens
from conformance.protocols.storage_read.contract.sessions import (
    SessionRead,
    restriction_of,
    session_of,
    whole_or_refused,
)
from conformance.protocols.storage_read.contract.subjects import refused_as, served
from conformance.protocols.storage_read.contract.view import SessionView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import selection_differs, unwanted_rows
from conformance.records import Level

INVALID: Final = (STREAM_PROTO, BAD_FILTER)
"""The proto says which restrictions are valid; the service was recorded refusing one that is not."""
BREAKS: Final = "Spark, Trino and Flink (from their source): filters that they push down fail or lose rows"


_KEYWORDS: Final = re.compile(
    r"\b(select|insert|update|delete|drop|create|alter|union|merge|truncate|from|where|join|group|having)\b",
    re.IGNORECASE,
)
_TEMPORAL: Final = re.compile(
    r"\b(DATE|TIMESTAMP|DATETIME|TIME)\s*['\"(]|\bAS\s+(DATE|TIMESTAMP|DATETIME|TIME)\b", re.IGNORECASE
)

PREDICATES: Final = (Form.LIKE, Form.BETWEEN, Form.IN, Form.IS_NULL)
"""Operators of which each has a clause, whatever its operands are."""


def forms_of(session: SessionView) -> tuple[Form, ...]:
    """Return the distinctive feature of the restriction of a valid request, and its operator if that is another one.

    One with a function has no other form: its rows rest on the function, whatever else it has.
    """
    restriction = session.step.row_restriction
    if calls_function(restriction):
        return (Form.FUNCTION,)
    literals, words = tokens(restriction)
    upper = {word.upper() for word in words}
    columns = {column.name.casefold() for column in session.columns}
    applies = (
        (Form.KEYWORD_LITERAL, any(_KEYWORDS.search(literal) for literal in literals)),
        (Form.KEYWORD_NAME, any(_KEYWORDS.fullmatch(word) for word in words if word.casefold() in columns)),
        (Form.TEMPORAL, bool(_TEMPORAL.search(restriction))),
        (Form.DOUBLE_QUOTED, any(literal.startswith('"') for literal in literals)),
        (Form.NESTED_FIELD, any("." in word for word in words)),
        (Form.LIKE, "LIKE" in upper),
        (Form.BETWEEN, "BETWEEN" in upper),
        (Form.IN, "IN" in upper),
        (Form.IS_NULL, "IS" in upper and bool(upper & {"NULL", "TRUE", "FALSE"})),
        (Form.NOT, "NOT" in upper),
        (Form.LOGIC, bool(upper & {"AND", "OR"})),
        (Form.COMPARISON, True),
    )
    found = [form for form, applicable in applies if applicable]
    return tuple(dict.fromkeys((found[0], *[form for form in found if form in PREDICATES][:1])))


# --- valid restrictions ---------------------------------------------------------------------------

Subject: TypeAlias = SessionRead | StorageCall
"""A restricted session whose streams were read in full, or a refused valid request for one, or a refused read of
one.
"""


@once_per_view
def _restricted(view: StorageView) -> list[Subject]:
    return [one for one in whole_or_refused(view, Feature.RESTRICTION) if not _has_function(one)]


@once_per_view
def _with_function(view: StorageView) -> list[Subject]:
    features = (Feature.RESTRICTION, Feature.FILTERED_PROJECTION)
    return [one for name in features for one in whole_or_refused(view, name) if _has_function(one)]


def _has_function(subject: Subject) -> bool:
    return calls_function(restriction_of(subject))


def _of_form(form: Form) -> Callable[[StorageView], list[Subject]]:
    return lambda view: [subject for subject in _restricted(view) if form in forms_of(session_of(subject))]


def _selects(subject: Subject) -> Iterator[Violation]:
    session = session_of(subject)
    if isinstance(subject, SessionRead):
        aside = () if _has_function(subject) else _with_null(session)
        yield from selection_differs(subject, aside=frozenset(aside))
    else:
        yield from served(subject, f"the restriction {session.step.row_restriction!r}")


def _with_null(session: SessionView) -> set[int]:
    """Return visible rows outside the selection for which the restriction compares NULL."""
    view = session.view
    found = null_rows(view.table, session.step.row_restriction)
    return (found & set(visible_rows(view, session))) - set(expected_rows(view, session))


def _selected_by(
    clause_id: str, form: Form, source: Sources, says: str, *, breaks: str = BREAKS, level: Level = Level.MUST
) -> None:
    """Register the clause that restrictions of one form select exactly the rows for which they are TRUE."""
    clause(clause_id, over=_of_form(form), source=source, level=level, breaks=breaks, says=says)(_selects)


clause(
    "restriction.function",
    over=_with_function,
    source=(SQL_FUNCTIONS, STREAM_PROTO),
    level=Level.SHOULD,
    says="""A restriction with a function of GoogleSQL selects exactly the rows for which it is TRUE, or is refused.

    The proto promises a text that is similar to a WHERE clause and has no functions in its examples but those on
    geographies, and the service refused a valid one. So this clause alone judges such a restriction, whatever else it
    has. CAST is an example of the proto, and no function here.
    """,
)(_selects)

# A table, one row per clause: id, form, source, explanation, affected software.
# fmt: off
_selected_by("restriction.comparison", Form.COMPARISON, (STREAM_PROTO, RECORDED, LIVE_TESTS),
  "A comparison of a column with a literal selects exactly the rows for which it is TRUE.")
_selected_by("restriction.and-or", Form.LOGIC, (SQL_OPERATORS, LIVE_TESTS),
  "AND binds tighter than OR, parentheses bind tightest, and the rows are those for which the whole is TRUE.")
_selected_by("restriction.not", Form.NOT, SQL_OPERATORS,
  "NOT selects only the rows for which its operand is FALSE: NULL stays NULL.")
_selected_by("restriction.in-list", Form.IN, (SQL_OPERATORS, RECORDED),
  "IN selects the rows whose value is in the list, NOT IN the rows whose value is not NULL and not in the list.")
_selected_by("restriction.between", Form.BETWEEN, STREAM_PROTO,
  "BETWEEN selects the rows whose value is between the bounds, both included.")
_selected_by("restriction.is-null", Form.IS_NULL, (STREAM_PROTO, SQL_OPERATORS),
  """IS NULL selects the rows without a value, IS NOT NULL the rows with one.

  IS TRUE and IS FALSE are never NULL: IS NOT TRUE selects the rows for which its operand is FALSE or NULL.
  """)
_selected_by("restriction.like", Form.LIKE, SQL_OPERATORS,
  "LIKE matches the whole string: ``%`` stands for any characters, ``_`` for one, all others for themselves.")
_selected_by("restriction.double-quoted-literal", Form.DOUBLE_QUOTED, SQL_LITERALS,
  "A text in double quotes is a string literal, as in the proto's own examples, and never the name of a column.")
_selected_by("restriction.temporal-literal", Form.TEMPORAL, STREAM_PROTO,
  "Dates and timestamps compare with DATE and TIMESTAMP literals as instants, not as texts.")
_selected_by("restriction.nested-field", Form.NESTED_FIELD, SQL_OPERATORS,
  "A field of a record is named by its path; in a row whose record is NULL it is NULL.")
_selected_by("restriction.keyword-inside-a-literal", Form.KEYWORD_LITERAL, SQL_LITERALS,
  "Words inside a string literal are data: they neither cause a refusal nor change the meaning of a restriction.",
  breaks="Spark and Trino, which push down filters on text (from their source): a word in it is refused")
_selected_by("restriction.keyword-as-a-name", Form.KEYWORD_NAME, SQL_KEYWORDS,
  """A column may be named like a statement (``update``, ``merge``): words that are not reserved are names.

  A restriction on such a column is not refused because of its name.
  """, breaks="every client of a table with such a column", level=Level.SHOULD)
# fmt: on


def selects_nothing(session: SessionView) -> bool:
    """Whether a session has a valid restriction that is TRUE for no row."""
    return bool(session.step.row_restriction) and not expected_rows(session.view, session)


@clause(
    "restriction.nothing-selected",
    over=lambda view: [subject for subject in _restricted(view) if selects_nothing(session_of(subject))],
    source=SQL_WHERE,
    breaks=BREAKS,
)
def nothing_selected(subject: Subject) -> Iterator[Violation]:
    """A restriction that is TRUE for no row is served, and yields no row."""
    yield from _selects(subject)


@once_per_view
def _with_nulls_outside(view: StorageView) -> list[SessionRead]:
    return [whole for whole in _restricted(view) if isinstance(whole, SessionRead) and _with_null(whole.session)]


@clause(
    "restriction.null-is-not-true",
    over=_with_nulls_outside,
    source=(SQL_WHERE, RUST_CLIENT),
    breaks="every client: it gets rows that its filter excludes",
)
def null_is_not_true(whole: SessionRead) -> Iterator[Violation]:
    """A row for which the restriction is NULL is not selected: only TRUE selects a row, and NOT of NULL is NULL."""
    restriction = whole.session.step.row_restriction
    if wrong := sorted(set(unwanted_rows(whole)) & _with_null(whole.session)):
        observed = f"{many(len(wrong), 'row')} for which it compares NULL, the first row {wrong[0]} of the table"
        yield Violation(f"only rows for which {restriction!r} is TRUE", observed, field="row_restriction")


# --- restrictions to refuse -----------------------------------------------------------------------


def _text(call: StorageCall) -> str:
    assert isinstance(call, SessionView)
    return f"the restriction {call.step.row_restriction!r}"


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
refuses("restriction.malformed-is-refused", refused_as("malformed-restriction"), INVALID, _text,
  "A restriction that is not an SQL expression is refused, even if a query that contains it would run.",
  breaks="clients with a mistake in their filter")
# fmt: on

BAD_RESTRICTIONS: Final = (
    "malformed-restriction",
    "restriction-too-long",
    "restriction-unknown-column",
    "restriction-aggregate",
    "restriction-subquery",
    "restriction-statement",
    "restriction-not-boolean",
)
"""The reason classes of a restriction that has to be refused."""


@once_per_view
def _read_under_bad_restrictions(view: StorageView) -> list[SessionView]:
    return [call for call in refused_as(*BAD_RESTRICTIONS)(view) if isinstance(call, SessionView)]


@clause(
    "restriction.bad-one-yields-no-rows",
    over=_read_under_bad_restrictions,
    source=(GUIDE, BAD_FILTER),
    breaks="every client: it treats unfiltered rows as filtered",
)
def bad_one_yields_no_rows(session: SessionView) -> Iterator[Violation]:
    """With a restriction that cannot be applied, no row is delivered; above all, not the unfiltered table."""
    for read in session.reads:
        if read.raw.responses:
            observed = f"{many(len(read.raw.responses), 'response')} with {many(read.rows_came, 'row')}"
            yield Violation("no rows", observed, field="row_restriction", call=read.index)


# fmt: off
refuses("restriction.too-long-is-refused", refused_as("restriction-too-long"), (QUOTAS, LONG_FILTER),
  lambda call: f"a restriction of {len(call.request.read_session.read_options.row_restriction)} characters",
  "A restriction of more than 1,048,576 bytes is refused: that is the limit of the service.")
refuses("restriction.unknown-column-is-refused", refused_as("restriction-unknown-column"), INVALID, _text,
  "A restriction on a column that the table does not have is refused: it cannot be TRUE for any row.")
refuses("restriction.aggregate-is-refused", refused_as("restriction-aggregate"), INVALID, _text,
  "A restriction with an aggregate function is refused: aggregates are not supported.")
refuses("restriction.subquery-is-refused", refused_as("restriction-subquery"), STREAM_PROTO, _text,
  "A restriction with a subquery is refused: a restriction is one expression over the columns of the table.",
  level=Level.SHOULD)
refuses("restriction.second-statement-is-refused", refused_as("restriction-statement"), INVALID, _text,
  "A restriction that ends its expression and begins a statement, or comments out the rest, is refused.",
  breaks="every user of the server: a filter becomes a way to run SQL")
refuses("restriction.not-boolean-is-refused", refused_as("restriction-not-boolean"), INVALID, _text,
  "A restriction that is an expression of another type than BOOL is refused.")
# fmt: on
