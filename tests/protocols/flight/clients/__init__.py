"""Tests of :mod:`conformance.protocols.flight.clients`."""
