"""Tests of the targets room: everything that a target can do wrong, done on purpose by tiny servers and programs."""
