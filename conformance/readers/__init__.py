"""Independent decoders and real client libraries behind one small interface, run in processes that may crash.

An exchange that was recorded from a target is replayed: decoders get its Arrow bytes, and the calls of clients are
answered with exactly the recorded response bytes. The result of a reader is a :class:`~conformance.records.Reading`.
:mod:`conformance.readers.held` decodes the rows that the bytes contain, and :mod:`conformance.readers.compare`
compares readings with them and with each other. This package applies no clauses and never talks to a target.
Those two modules are not imported here: every worker process imports this package, and starts faster without them.
"""

from __future__ import annotations

from conformance.readers.fullread import FullRead, full_reads
from conformance.readers.info import ReaderInfo, Rewrite, Takes
from conformance.readers.pool import ReaderPool
from conformance.readers.registry import READERS

__all__ = ["READERS", "FullRead", "ReaderInfo", "ReaderPool", "Rewrite", "Takes", "full_reads"]
