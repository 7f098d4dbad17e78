"""What the listeners of the suite have in common."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from conformance.reference.listening import MOST_DETAILS, abort
from conformance.reference.statuses import Refusal


class Context:
    """Takes a status as gRPC does."""

    details = ""

    def set_trailing_metadata(self, _trailers: object) -> None:
        """No test looks at them."""

    def abort(self, _code: grpc.StatusCode, details: str) -> None:
        """End the call."""
        self.details = details
        raise EOFError


@pytest.mark.parametrize("letter", ["x", "\N{SNOWMAN}"])
def test_a_refusal_fits_into_metadata(letter: str) -> None:
    """A client takes 8 KiB of it, and would otherwise see that the stream was removed."""
    context: Any = Context()

    with pytest.raises(EOFError):
        abort(context, Refusal(grpc.StatusCode.INVALID_ARGUMENT, letter * 100_000))

    assert context.details == letter * (MOST_DETAILS // len(letter.encode()))
