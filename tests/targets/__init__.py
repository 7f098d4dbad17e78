"""Tests of the targets package: tiny servers and programs have every fault of a target on purpose."""
