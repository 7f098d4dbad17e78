"""Drives a server of the Storage Write API: it makes the case's table, empty, and carries out the steps.

The table is read by the Storage Read API of the same server: what was written through one API is what the other
serves. So no expected value comes from the target, and no model of it is needed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Final

import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_write.targets.conversation import WriteConversation
from conformance.protocols.storage_write.wire.messages import SERVICE
from conformance.records import Case
from conformance.targets.recordedcall import EXIT_SECONDS, Caller
from conformance.targets.rpc import Contact, Conversed, RpcTarget
from conformance.targets.targeterrors import CannotSeed, TargetUnavailable

__all__ = ["NO_REST", "WriteTarget"]

NO_REST: Final = (
    "cannot seed: the target names no REST API, through which the suite makes the case's table ([endpoint] rest in a"
    " file, ?rest=http://HOST:PORT in a URL)"
)


class WriteTarget(RpcTarget):
    """A server of the Storage Write API under test."""

    SERVICE = SERVICE

    def converse(self, contact: Contact, case: Case, table: pa.Table) -> Conversed:
        """Make the table, carry out every step, and remove the table from a server that outlives the run."""
        running = contact.running
        if running.seeder is None:
            return Conversed(untestable=NO_REST)
        try:
            until = time.monotonic() + self._deadlines.case
            seeded = running.seeder.seed(case.id, case.table.columns, (), withheld=0, until=until)
        except CannotSeed as error:
            words = running.last_words(EXIT_SECONDS if not error.answered else 0)
            if words or not error.answered:
                self._servers.give_up(running)
            return Conversed(untestable=f"cannot seed: {words or error}")
        running.clock.tick()
        reader = Caller(**{**contact.caller.settings, "service": proto.SERVICE})
        conversation = WriteConversation(
            case, table, seeded.names, caller=contact.caller, reader=reader, allowance=contact.allowance
        )
        try:
            return conversation.run()
        finally:
            with suppress(TargetUnavailable):  # there may be no token any more, and the calls are complete
                running.seeder.release(seeded)
