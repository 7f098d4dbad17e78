"""Targets: running one implementation under test and recording every byte of it.

A target is one TOML file. :func:`load_target` reads it, :func:`prepare` creates its environment, and
:func:`open_target` starts it; then :meth:`Target.drive` turns a case into an exchange.
This package does not judge: it records a target's faults, and the clauses judge the record.
"""

from conformance.targets.environment import prepare
from conformance.targets.opening import Target, open_target
from conformance.targets.spec import ExpectedFailure, TargetKind, TargetSpec
from conformance.targets.specfile import load_target
from conformance.targets.targeterrors import CannotSeed, TargetError, TargetUnavailable

__all__ = [
    "CannotSeed",
    "ExpectedFailure",
    "Target",
    "TargetError",
    "TargetKind",
    "TargetSpec",
    "TargetUnavailable",
    "load_target",
    "open_target",
    "prepare",
]
