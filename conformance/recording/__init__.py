"""A proxy between any client and any server: it changes no byte, and keeps what both said as the log of a run.

:mod:`.passing` passes gRPC calls on, and lets happen to them what a fault plan says. :mod:`conformance.targets.splice`
passes connections on, :mod:`.keeping` keeps the messages of a call within bounds, and :mod:`.journal` writes each call
of the methods in :mod:`.methods` to the log as it ends. :mod:`.proxy` starts and ends them.
This package does not judge: :mod:`conformance.engine.conversed` makes exchanges of the calls.
"""

from conformance.recording.proxy import Listener, Proxy, ProxyPlan, Upstream

__all__ = ["Listener", "Proxy", "ProxyPlan", "Upstream"]
