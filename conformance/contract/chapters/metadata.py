"""Custom metadata of fields: extension types.

Keys may repeat, and their meaning is left to their owner. Keys that begin with `ARROW:` are reserved for the format,
which does not list the keys that it uses itself: golden files of the project have keys beyond the documented ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contract.clause import SEQUENCES, Role, Violation, clause
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.selectors import AsData
from conformance.contract.sources import CANONICAL, COLUMNAR
from conformance.contract.view import SchemaBytes
from conformance.records import Level

EXTENSIONS: Final = f"{COLUMNAR}#extension-types"

NAME: Final = "ARROW:extension:name"
PARAMETERS: Final = "ARROW:extension:metadata"
CANONICAL_PREFIX: Final = "arrow."
CANONICAL_NAMES: Final = frozenset(
    {
        "arrow.bool8",
        "arrow.fixed_shape_tensor",
        "arrow.json",
        "arrow.opaque",
        "arrow.parquet.variant",
        "arrow.timestamp_with_offset",
        "arrow.uuid",
        "arrow.variable_shape_tensor",
    }
)
"""The canonical extension types on the page in the summer of 2026; the page grows."""


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
        if PARAMETERS in keys and NAME not in keys:
            yield Violation(f"a pair {NAME}", f"{PARAMETERS} alone", path)


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
            if key == NAME and (value or "").startswith(CANONICAL_PREFIX) and value not in CANONICAL_NAMES:
                yield Violation("the name of a canonical extension type", repr(value), path)
