"""Our own BigQueryRead server, in memory, that obeys every clause; and the mutants that break one each.

``ReferenceServer`` is the embedded default target: it proves that the suite can be passed.
"""

from conformance.reference.server import ReferenceServer

__all__ = ["ReferenceServer"]
