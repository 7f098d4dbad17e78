"""Custom metadata of fields: extension types.

Keys may repeat, and what they mean is their owner's business. Keys that begin with `ARROW:` are reserved for the
format, which does not list those that it uses itself: golden files of the project have some of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contract.clause import SEQUENCES, Role, Violation, clause
from conformance.contract.ipc.selectors import AsData
from conformance.contract.ipc.view import IpcView
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
"""The canonical extension types of the page as it was in the summer of 2026; the page grows."""


def _schemas(view: IpcView) -> Sequence[SchemaBytes]:
    return [one for one in view.schemas if one.message.schema is not None]


legible: Final = AsData[SchemaBytes](_schemas)
"""Every schema that could be read, that of the footer among them."""


@clause(
    "metadata.extension-named",
    over=legible,
    source=EXTENSIONS,
    level=Level.SHOULD,
    breaks="readers find parameters of no type",
    profiles=SEQUENCES,
)
def extension_named(message: SchemaBytes) -> Iterator[Violation]:
    """Where a field has the parameters of an extension type, it has its name, too; a name alone will do."""
    assert message.message.schema is not None, "only legible schemas are asked about"
    for path, field in message.message.schema.walk():
        keys = {key for key, _ in field.metadata}
        if PARAMETERS in keys and NAME not in keys:
            yield Violation(f"a pair {NAME}", f"{PARAMETERS} alone", path)


@clause(
    "metadata.canonical-names",
    over=legible,
    source=CANONICAL,
    level=Level.MAY,
    breaks="libraries that come to know a canonical type of that name",
    profiles=SEQUENCES,
    role=Role.WRITER,
)
def canonical_names(message: SchemaBytes) -> Iterator[Violation]:
    """Names of extension types that begin with `arrow.` are canonical ones: no one else may take such a name.

    The list of canonical types grows. A name of a later version of the list is told here as well, and is right.
    """
    assert message.message.schema is not None, "only legible schemas are asked about"
    for path, field in message.message.schema.walk():
        for key, value in field.metadata:
            if key == NAME and (value or "").startswith(CANONICAL_PREFIX) and value not in CANONICAL_NAMES:
                yield Violation("the name of a canonical extension type", repr(value), path)
