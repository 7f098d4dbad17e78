"""Fixtures that the tests of Flight share with those of all targets."""

from tests.targets.conftest import target_file

__all__ = ["target_file"]
