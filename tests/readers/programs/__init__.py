"""Tests of client programs as readers."""
