"""Mutants that answer well-formed messages with the wrong behaviour: sessions, streams, offsets, projection."""
