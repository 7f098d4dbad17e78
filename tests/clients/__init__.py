"""Tests of judging clients."""
