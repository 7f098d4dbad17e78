"""Attributes of a primitive type: the logical type, BigQuery's ``sqlType``, and the digits of a decimal.

The Avro specification says that readers ignore an invalid logical type and use the type below it. So each fault here
leaves a primitive that can be decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from conformance.contain.text import representation
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import AvroPrimitive, PrimitiveKind

__all__ = ["Reporter", "annotated", "text_of"]

Reporter: TypeAlias = Callable[[AvroRule, str, str], None]
"""Reports a broken rule: the rule, the part of the type, and the observation."""

_BASES: Final[Mapping[str, tuple[PrimitiveKind, ...]]] = {
    "date": (PrimitiveKind.INT,),
    "time-micros": (PrimitiveKind.LONG,),
    "timestamp-micros": (PrimitiveKind.LONG,),
    "timestamp-nanos": (PrimitiveKind.LONG,),
    "datetime": (PrimitiveKind.STRING,),
    "decimal": (PrimitiveKind.BYTES,),
}
"""The logical types that BigQuery maps its types to, each with the types that it may annotate.

``datetime`` is BigQuery's own. The protocol announces timestamps of nanoseconds as a 64-bit timestamp.
"""
_DIGITS: Final = 77
"""Documented precision of BIGNUMERIC in Avro."""
_FRACTION: Final = 38
"""Scale of BIGNUMERIC."""


def annotated(kind: PrimitiveKind, attributes: Mapping[str, Any], report: Reporter) -> AvroPrimitive:
    """The primitive type of an object with these attributes."""
    logical, sql = text_of(attributes, "logicalType", report), text_of(attributes, "sqlType", report)
    if not logical:
        return AvroPrimitive(kind, sql=sql)
    bases = _BASES.get(logical)
    if bases is None:
        report(AvroRule.LOGICAL_UNKNOWN, "logicalType", f"the logical type {logical!r}")
    elif kind not in bases:
        report(AvroRule.LOGICAL_BASE, "logicalType", f"{logical} on {kind}")
    elif logical != "decimal":
        return AvroPrimitive(kind, logical, sql)
    elif (digits := _digits(attributes, report)) is not None:
        return AvroPrimitive(kind, logical, sql, *digits)
    return AvroPrimitive(kind, sql=sql)


def _digits(attributes: Mapping[str, Any], report: Reporter) -> tuple[int, int] | None:
    """Precision and scale of a decimal; None if they break a rule, or exceed those of BIGNUMERIC."""
    precision = attributes.get("precision")
    if precision is None:
        report(AvroRule.DECIMAL_PRECISION, "precision", "a decimal without a precision")
        return None
    scale = attributes.get("scale", 0)
    for name, value in (("precision", precision), ("scale", scale)):
        if not isinstance(value, int) or isinstance(value, bool):
            report(AvroRule.ATTRIBUTE_TYPE, name, f"{representation(value)}, which is no integer")
            return None
    if precision <= 0:
        report(AvroRule.DECIMAL_PRECISION, "precision", f"a precision of {precision}")
    elif not 0 <= scale <= precision:
        report(AvroRule.DECIMAL_SCALE, "scale", f"a scale of {scale} with a precision of {precision}")
    elif precision > _DIGITS or scale > _FRACTION:
        report(AvroRule.DECIMAL_WIDE, "precision", f"a precision of {precision} with a scale of {scale}")
    else:
        return precision, scale
    return None


def text_of(attributes: Mapping[str, Any], name: str, report: Reporter) -> str:
    """An attribute that has to be a text; empty if it is absent, or no text."""
    value = attributes.get(name, "")
    if isinstance(value, str):
        return value
    report(AvroRule.ATTRIBUTE_TYPE, name, f"{representation(value)}, which is no text")
    return ""
