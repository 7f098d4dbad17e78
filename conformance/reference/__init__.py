"""Our own BigQueryRead server, in memory, that obeys every clause; and the mutants that break one each.

:class:`conformance.reference.server.ReferenceServer` is the embedded default target: it proves that the suite can be
passed. This package imports nothing by itself, so that the serializer can be had where gRPC is not installed.
"""
