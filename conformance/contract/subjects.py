"""The subjects of clauses on calls of any protocol: all of them, and what ended before one."""

from __future__ import annotations

from conformance.contract.view import CallView, View, once_per_view
from conformance.records import CallEnd

__all__ = ["after_abandoned", "answered", "every_call"]


def after_abandoned(call: CallView) -> bool:
    """True if a read was abandoned before this call."""
    return any(index < call.index for index in _cancelled(call.view))


def every_call(view: View) -> tuple[CallView, ...]:
    """Return the calls that carry out a step, those that are not about sessions too."""
    return view.served if view.exchange.driven else ()


@once_per_view
def _cancelled(view: View) -> list[int]:
    return [call.index for call in view.calls if call.raw.end is CallEnd.CANCELLED]


def answered(call: CallView) -> bool:
    """True if the target ended the call itself, with any status."""
    return call.raw.end is CallEnd.COMPLETE
