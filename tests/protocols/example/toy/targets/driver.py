"""Drives a server of the toy protocol: one call for each step."""

from __future__ import annotations

import pyarrow as pa
from conformance.protocols.toy.records import Say

from conformance.records import Case, Step
from conformance.targets.rpc import RpcTarget


class ToyTarget(RpcTarget):
    """A server of the toy protocol under test."""

    SERVICE = "/toy.Echo/"

    def asked(self, _case: Case, _table: pa.Table, step: Step) -> tuple[str, bytes] | None:
        """The call of a step."""
        return ("Say", step.words.encode()) if isinstance(step, Say) else None
