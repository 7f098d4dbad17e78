"""Tests of the programs that make the published files."""
