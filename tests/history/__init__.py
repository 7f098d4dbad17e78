"""Tests of the history checker."""
