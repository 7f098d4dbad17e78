"""A small, typed, vectorised interpreter of BigQuery expressions over Arrow columns.

The grammar is sqlglot's BigQuery dialect, narrowed to a closed list: what is not on it is refused, never ignored.
"""

from conformance.protocols.storage_read.reference.sql.evaluate import NODES, Interpreter, Nodes, evaluate
from conformance.protocols.storage_read.reference.sql.syntax import parse_expression
from conformance.protocols.storage_read.reference.sql.values import SqlError, Value

__all__ = ["NODES", "Interpreter", "Nodes", "SqlError", "Value", "evaluate", "parse_expression"]
