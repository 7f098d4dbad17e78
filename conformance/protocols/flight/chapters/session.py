"""Sessions: options that a client sets, reads back and clears, and their end. Flight calls them experimental."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.view import View
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.actions import action_body, result_body
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.options import OptionsRead, errors_of, option_reads, options_of
from conformance.protocols.flight.contract.sources import FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about, asked_for
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import DoAction
from conformance.protocols.flight.wire.messages import CLOSE_SESSION, SET_OPTIONS
from conformance.records import Level

_clause = functools.partial(clause, source=FLIGHT_PROTO, profiles=FLIGHT, role=Role.APPLICATION)

_ERRORS: Final = {1: "INVALID_NAME", 2: "INVALID_VALUE", 3: "ERROR"}
_CLOSES: Final = {1: "CLOSED", 2: "CLOSING", 3: "NOT_CLOSEABLE"}


def _answered(kind: str) -> Callable[[FlightView], list[FlightCall]]:
    def select(view: FlightView) -> list[FlightCall]:
        return [one for one in view.flight_calls if one.ok and isinstance(one.step, DoAction) and one.step.type == kind]

    return select


def _open(view: View) -> list[OptionsRead]:
    return [one for one in option_reads(view) if not one.closed]


_IMPLIED: Final = (
    'Flight.proto, SetSessionOptionsResult: "a response without an Error for a name provided in the'
    ' SetSessionOptionsRequest implies that the named option value was set successfully."'
)


@_clause(
    "flight-session.set-is-read-back",
    over=_open,
    breaks="clients whose option is lost without an error",
    says=f"An option that was set without an error is among those that GetSessionOptions gives.\n\n{_IMPLIED}",
)
def _set_is_read_back(read: OptionsRead) -> Iterator[Violation]:
    for name, value in read.set.items():
        if name not in read.options:
            yield Violation(f"{name!r}: {value}", f"{many(len(read.options), 'option')}, not this one")


@_clause(
    "flight-session.value-is-kept",
    over=_open,
    level=Level.SHOULD,
    breaks="clients that compare the value with the one that they have set",
    says=f"An option is read back with the kind and the value that were set.\n\n{_IMPLIED}",
)
def _value_is_kept(read: OptionsRead) -> Iterator[Violation]:
    for name, value in read.set.items():
        if name in read.options and read.options[name] != value:
            yield Violation(f"{name!r}: {value}", f"{name!r}: {read.options[name] or 'no value'}")


@_clause("flight-session.refused-is-not-set", over=_open, level=Level.SHOULD)
def refused_is_not_set(read: OptionsRead) -> Iterator[Violation]:
    """An option for which SetSessionOptions gave an error does not have the new value.

    Flight.proto, SetSessionOptionsResult: "Option names should only be present in the response if they were not
    successfully set on the server".
    """
    for name, value in read.refused.items():
        if read.options.get(name) == value:
            yield Violation(f"{name!r} as before: setting it gave an error", f"{name!r}: {value}")


@_clause("flight-session.cleared-is-gone", over=_open, level=Level.SHOULD)
def cleared_is_gone(read: OptionsRead) -> Iterator[Violation]:
    """An option that was set to no value is not read back with one.

    Flight.proto, SessionOptionValue: "By convention, an attempt to set a valueless SessionOptionValue should attempt to
    unset or clear the named option value on the server."
    """
    for name in sorted(read.cleared):
        if read.options.get(name) is not None:
            yield Violation(f"no value for {name!r}", str(read.options[name]))


@_clause("flight-session.options-have-values", over=_open, level=Level.SHOULD)
def options_have_values(read: OptionsRead) -> Iterator[Violation]:
    """Each option that is read has a value.

    Flight.proto, SessionOptionValue: "Union of possible value types for a Session Option to be set to." One without a
    value clears the option.
    """
    for name, value in read.options.items():
        if value is None:
            yield Violation("a value", f"none for {name!r}")


@_clause("flight-session.errors-are-of-the-request", over=about(_answered(SET_OPTIONS)), level=Level.SHOULD)
def errors_are_of_the_request(call: FlightCall) -> Iterator[Violation]:
    """The names of the errors are names of the request.

    Flight.proto, SetSessionOptionsResult: "The results (individually) of setting a set of session options."
    """
    asked = options_of(message_of("SetSessionOptionsRequest", action_body(call))) or {}
    for name in errors_of(call) or {}:
        if name not in asked:
            yield Violation(f"names among {', '.join(map(repr, asked))}", repr(name), response=0)


@_clause("flight-session.errors-say-why", over=about(_answered(SET_OPTIONS)), level=Level.SHOULD)
def errors_say_why(call: FlightCall) -> Iterator[Violation]:
    """An error has a value: INVALID_NAME, INVALID_VALUE or ERROR.

    Flight.proto, on UNSPECIFIED: "Servers should avoid using this value."
    """
    for name, error in (errors_of(call) or {}).items():
        if error not in _ERRORS:
            yield Violation(f"{', '.join(_ERRORS.values())} for {name!r}", str(error), response=0)


@_clause("flight-session.close-says-what-happened", over=about(_answered(CLOSE_SESSION)), level=Level.SHOULD)
def close_says_what_happened(call: FlightCall) -> Iterator[Violation]:
    """CloseSession that ends in OK has one result: CLOSED, CLOSING or NOT_CLOSEABLE.

    Flight.proto, on UNSPECIFIED: "Servers should avoid using this value (send a NOT_FOUND error if the requested
    session is not known or expired)."
    """
    body = result_body(call)
    result = None if body is None else message_of("CloseSessionResult", body)
    wanted = f"one result with the status {', '.join(_CLOSES.values())}"
    if body is None:
        yield Violation(wanted, many(len(call.raw.responses), "message"))
    elif result is not None and result.number("status") not in _CLOSES:
        yield Violation(wanted, f"the status {result.number('status')}", response=0)


@_clause(
    "flight-session.closed-is-gone",
    over=lambda view: [one for one in option_reads(view) if one.closed],
    level=Level.SHOULD,
    breaks="the next user of a pooled connection: it has the options of another one",
)
def closed_is_gone(read: OptionsRead) -> Iterator[Violation]:
    """After CLOSED, the options of the session are not read any more.

    Flight.proto, on CLOSED: "Subsequent requests with the same session produce a NOT_FOUND error." A server that begins
    a new session instead gives no options.
    """
    for name in read.options:
        if name in read.set:
            yield Violation("an error, or no option of the closed session", f"{name!r}: {read.options[name]}")


@_clause("flight-session.needs-a-session", over=about(asked_for("no-session")), level=Level.SHOULD)
def needs_a_session(call: FlightCall) -> Iterator[Violation]:
    """GetSessionOptions with the cookie of no session gives no options.

    Flight.proto, GetSessionOptionsRequest: "it is an error to make this request with a missing, invalid, or expired
    session cookie header or other implementation-defined session reference token." Servers that begin a session with
    any call answer without options, which is permitted here as well.
    """
    body = result_body(call) if call.ok else None
    options = None if body is None else options_of(message_of("GetSessionOptionsResult", body))
    if options:
        yield Violation("an error, or no options", f"OK with {many(len(options), 'option')}", response=0)
