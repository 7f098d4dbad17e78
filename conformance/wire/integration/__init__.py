"""The JSON form in which the Arrow project's implementations compare what they read: schema, batches, dictionaries.

The form is described at https://arrow.apache.org/docs/format/Integration.html#json-test-data-format. It is read and
written buffer by buffer by this package's own code, old spellings included.
"""

from conformance.wire.integration.form import IntegrationError, schema_from
from conformance.wire.integration.reading import Integration, read_integration
from conformance.wire.integration.writing import write_integration

__all__ = ["Integration", "IntegrationError", "read_integration", "schema_from", "write_integration"]
