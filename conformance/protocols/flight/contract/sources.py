"""The public texts that the clauses on Arrow Flight rest on."""

from typing import Final

from conformance.protocols.flight import SOURCE

FLIGHT_PROTO: Final = SOURCE
"""The methods of Arrow Flight RPC, their requests and answers."""

FLIGHT_PAGE: Final = "https://arrow.apache.org/docs/format/Flight.html"
"""Arrow Flight RPC: request patterns, locations, authentication, error codes."""

FLIGHT_SQL_PROTO: Final = "https://github.com/apache/arrow/blob/main/format/FlightSql.proto"
"""The messages of Arrow Flight SQL, and the schemas of the answers to its metadata commands."""

FLIGHT_SQL_PAGE: Final = "https://arrow.apache.org/docs/format/FlightSql.html"
"""Arrow Flight SQL: which call carries which message."""

FLIGHT_CLIENT: Final = "https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/client.cc"
"""Arrow's C++ client, under pyarrow and R: a message without a header is one of metadata alone to it, whatever its body
is.
"""

INTEGRATION_CLIENT: Final = (
    "https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/integration_tests/test_integration_client.cc"
)
"""The client of Arrow's integration tests: it puts batches, asks for the flight, and fails if others come back."""

INTEGRATION_SCENARIOS: Final = (
    "https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/integration_tests/test_integration.cc"
)
"""The scenarios of Arrow's integration tests, server and client: an exchange that sends back batches and metadata."""
