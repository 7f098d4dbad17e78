"""A replay server for clients in any language, and the test bench of ``read_retry.json``.

Recorded exchanges are served again as gRPC and REST, in plain text, over TLS, and through a proxy for clients without
an option for their endpoint. Faults happen to calls as a plan says, and everything that clients ask for is logged.
All listeners are on the loopback interface. This package does not judge.
"""
