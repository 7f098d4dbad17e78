"""The scenarios of Arrow's integration tests, as services of the reference: one module for each group of them.

Arrow's clients ask for them by name, and fail if anything differs from what they expect. Nothing here is judged: the
clauses do not ask for these names and values.

Source: https://github.com/apache/arrow/blob/main/dev/archery/archery/integration/runner.py.
"""

from conformance.protocols.flight.reference.scenarios import (  # noqa: F401  # each registers its scenarios
    actions,
    data,
    infos,
    logins,
    polls,
    sessions,
    sql,
)
from conformance.protocols.flight.reference.scenarios.register import SCENARIOS

__all__ = ["SCENARIOS"]
