"""Known deviations of the libraries, by name, version and family of types: findings, not permissions.

Each is marked as an expected failure, strictly for the version that it was seen in: a test that begins to pass there
means that the adapter hides something. In other versions either outcome is accepted until somebody has looked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from tests.adapters.conftest import Program

__all__ = ["LACKING", "READING", "SEEN_IN", "WRITING", "expect"]

SEEN_IN: Final = {
    "arrow-go": "18.8.0",
    "arrow-java": "19.0.0",
    "arrow-js": "21.2.0",
    "arrow-rs": "60.1.0",
    "flechette": "2.6.0",
}

LACKING: Final = {
    "arrow-java": {"small-decimals"},
    "arrow-js": {"list-views", "runs"},
}
"""Families with a type that the library says it does not have."""

_BOTH: Final = ("stream", "file")


def _each(*kinds: str, **families: str) -> dict[tuple[str, str], str]:
    return {(kind, family.replace("_", "-")): why for kind in kinds for family, why in families.items()}


READING: Final[Mapping[str, Mapping[tuple[str, str], str]]] = {
    "arrow-go": _each(
        *_BOTH,
        float16_subnormal="float16.Num.Float32 makes 2^-136 of 2^-24: it drops the exponent of every subnormal",
        lists_of_none="a fixed-size list of 0 elements is 'arrow: invalid size', from a file an escaping panic",
    ),
    "arrow-java": {
        **_each(*_BOTH, same_child_names="a struct's second child of one name replaces the first"),
        **_each("file", dictionary_delta="delta dictionaries of a file are not read"),
    },
    "arrow-js": _each(
        *_BOTH,
        wide_indices="`get` of a dictionary with 64-bit indices: 'Cannot mix BigInt and other types'",
    ),
    "flechette": _each(
        *_BOTH,
        negative_scale="10n ** BigInt(scale) raises RangeError for a negative scale",
        no_columns="the number of rows is that of the first column, and 0 without one",
    ),
}

WRITING: Final[Mapping[str, Mapping[tuple[str, str], str]]] = {
    "arrow-go": _each(
        *_BOTH,
        lists_of_none="not read, see above",
        union_code_127="the writer's slice of 127 + 1 codes is counted in int8: 'makeslice: len out of range'",
        dictionary_nearly_replaced="a dictionary of floats within 1e-5 of the last counts as the same: wrong values",
    ),
    "arrow-java": {
        **_each(*_BOTH, same_child_names="not read, see above"),
        **_each(
            "file",
            dictionary_delta="only the first dictionary is written; later indices point beyond it",
            dictionary_replaced="only the first dictionary is written, and later values are silently others",
            dictionary_nearly_replaced="only the first dictionary is written, and later values are silently others",
        ),
    },
    "arrow-js": _each(
        *_BOTH,
        list_of_null="the null count of a Null child under a list is written as -1",
        same_names="a batch's schema merges fields of one name, is then another than the reader's, and is not written",
    ),
    "flechette": _each(
        *_BOTH,
        negative_scale="not read, see above",
        no_columns="Schema.fields is left out where there are no fields",
        dictionary_delta="the dictionary of the first batch is written for all batches",
        dictionary_replaced="the dictionary of the first batch is written for all batches",
        dictionary_nearly_replaced="the dictionary of the first batch is written for all batches",
        dictionary_of_struct="the schema's field of a dictionary goes without the children of its values",
    ),
}


def expect(request: pytest.FixtureRequest, program: Program, why: str | None) -> None:
    """Mark the test as failing for the reason, if there is one."""
    if why is not None:
        strict = program.version == SEEN_IN[program.name]
        reason = f"{program.name} {SEEN_IN[program.name]}: {why}"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=strict))
