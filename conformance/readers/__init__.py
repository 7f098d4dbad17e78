"""Independent decoders and the real client libraries, each behind one small interface, run where a crash cannot hurt.

An exchange that was recorded from a target is replayed: decoders get its Arrow bytes, clients read from a loopback
server that answers with exactly the recorded response bytes. What a reader makes of it is a
:class:`~conformance.records.Reading`; :mod:`conformance.readers.compare` says in what readings differ, and
:mod:`conformance.readers.held` from what. This room judges by no clause, and never talks to a target.

Those two are not imported here: every worker process imports this package, and starts sooner without them.
"""

from __future__ import annotations

from conformance.readers.fullread import FullRead, full_reads
from conformance.readers.info import ReaderInfo, Rewrite, Takes
from conformance.readers.pool import ReaderPool
from conformance.readers.registry import READERS

__all__ = ["READERS", "FullRead", "ReaderInfo", "ReaderPool", "Rewrite", "Takes", "full_reads"]
