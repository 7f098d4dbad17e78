"""The view of a protocol whose clauses look at calls as they are, one by one."""

from __future__ import annotations

from conformance.contract.raised import remembered_property
from conformance.contract.view import CallView, View

__all__ = ["PlainView"]


class PlainView(View):
    """An exchange of a protocol without sessions and streams: all its calls are subjects."""

    @remembered_property
    def served(self) -> tuple[CallView, ...]:
        """The calls in order, whichever party made them."""
        return tuple(CallView(self, index, call) for index, call in enumerate(self.exchange.calls))
