"""Messages that obey every clause on bytes, the mutants of these bytes, and what the references of all protocols share.

The reference of a protocol is in its folder; that of Storage Read is the embedded default target: it proves that the
suite can be passed. This package imports nothing by itself, so the serializer can be imported where gRPC is not
installed.
"""
