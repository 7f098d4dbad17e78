"""The fake server of the tests of targets, and what is made of it."""

from tests.targets.conftest import client, endpoint, fake, seeder, serve, started, target_file

__all__ = ["client", "endpoint", "fake", "seeder", "serve", "started", "target_file"]
