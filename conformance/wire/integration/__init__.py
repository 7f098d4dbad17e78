"""The JSON form in which the Arrow project's implementations exchange schemas, batches and dictionaries for comparison.

The form is described at https://arrow.apache.org/docs/format/Integration.html#json-test-data-format. This package reads
and writes it buffer by buffer with its own code; it also reads the spellings of older versions of the form.
"""

from conformance.wire.integration.form import IntegrationError, schema_from
from conformance.wire.integration.reading import Integration, read_integration
from conformance.wire.integration.writing import write_integration

__all__ = ["Integration", "IntegrationError", "read_integration", "schema_from", "write_integration"]
