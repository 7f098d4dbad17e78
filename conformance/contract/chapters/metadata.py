"""Names in a schema that have a meaning elsewhere: extension types, in the custom metadata of fields, and time zones.

Keys may repeat, and their meaning is left to their owner. Keys that begin with `ARROW:` are reserved for the format,
which does not list the keys that it uses itself: golden files of the project have keys beyond the documented ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contract.clause import SEQUENCES, Role, Violation, clause
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.selectors import AsData
from conformance.contract.messages import written_schemas
from conformance.contract.rules import must, rule_clauses
from conformance.contract.sources import CANONICAL, COLUMNAR
from conformance.contract.view import SchemaBytes
from conformance.records import Level
from conformance.wire import Rule
from conformance.wire.meanings import CANONICAL_TYPES, EXTENSION_NAME, EXTENSION_PARAMETERS

EXTENSIONS: Final = f"{COLUMNAR}#extension-types"

CANONICAL_PREFIX: Final = "arrow."


def _schemas(view: IpcView) -> Sequence[SchemaBytes]:
    return [one for one in view.schemas if one.message.schema is not None]


legible: Final = AsData[SchemaBytes](_schemas)
"""Every schema that could be read, including that of the footer."""


@clause(
    "metadata.extension-named",
    over=legible,
    source=EXTENSIONS,
    level=Level.SHOULD,
    breaks="readers find parameters without a type",
    profiles=SEQUENCES,
)
def extension_named(message: SchemaBytes) -> Iterator[Violation]:
    """A field with the parameters of an extension type also has its name; a name alone is enough."""
    assert message.message.schema is not None, "the selector takes only legible schemas"
    for path, field in message.message.schema.walk():
        keys = {key for key, _ in field.metadata}
        if EXTENSION_PARAMETERS in keys and EXTENSION_NAME not in keys:
            yield Violation(f"a pair {EXTENSION_NAME}", f"{EXTENSION_PARAMETERS} alone", path)


@clause(
    "metadata.canonical-names",
    over=legible,
    source=CANONICAL,
    level=Level.MAY,
    breaks="libraries that later support a canonical type of that name",
    profiles=SEQUENCES,
    role=Role.WRITER,
)
def canonical_names(message: SchemaBytes) -> Iterator[Violation]:
    """Extension names that begin with `arrow.` are those of canonical types: nobody else may use such a name.

    The list of canonical types grows. A name from a later version of the list is reported too, although it is
    correct.
    """
    assert message.message.schema is not None, "the selector takes only legible schemas"
    for path, field in message.message.schema.walk():
        for key, value in field.metadata:
            canonical = key == EXTENSION_NAME and (value or "").startswith(CANONICAL_PREFIX)
            if canonical and value not in CANONICAL_TYPES:
                yield Violation("the name of a canonical extension type", repr(value), path)


# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(written_schemas, SEQUENCES,
    must("metadata.time-zones", Rule.SCHEMA_TIME_ZONE,
      "polars 2.1.0 panics: `unable to parse time zone`; arro3 0.9.1 panics when it prints a value",
      """The time zone of a timestamp is a name of the time zone database, or an offset of the form `+07:30`.

      A name is told by its form, because the database grows; the case of its letters is not judged. An empty text is
      no time zone.
      """),
    must("metadata.extension-storage", Rule.SCHEMA_EXTENSION_STORAGE,
      "pyarrow 26.0.1: `Invalid storage type for UuidType: binary`; polars 2.1.0, arro3 0.9.1 and nanoarrow 0.9.0 read"
      " the storage",
      """A field with the name of a canonical extension type has a storage type of that extension type.

      A field of dictionary indices is not judged: the page does not say whether it may have the name.
      """),
    must("metadata.extension-parameters", Rule.SCHEMA_EXTENSION_PARAMETERS,
      "pyarrow 26.0.1: `Product of shape dimensions (6) does not match FixedSizeList size (4)`, and `Not a JSON object`"
      " of `arrow.opaque`; polars 2.1.0, arro3 0.9.1 and nanoarrow 0.9.0 read the storage",
      """The parameters of a canonical extension type are serialized as its definition says.

      The shape of a fixed tensor fits the size of its lists. Those of `arrow.uuid` are open: the page has no word on
      them.
      """),
)
# fmt: on
