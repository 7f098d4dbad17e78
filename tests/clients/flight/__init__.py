"""Tests of :mod:`conformance.clients.flight`."""
