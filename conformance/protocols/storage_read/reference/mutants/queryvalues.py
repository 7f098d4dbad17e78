"""Mutants of query results whose page is made of the rows in JSON, which loses values that JSON has no form for."""

from __future__ import annotations

import abc
import math
from typing import Any

import pyarrow as pa

from conformance.protocols.storage_read.reference.mutants.queries import IN_ROWS, PYTHON
from conformance.protocols.storage_read.reference.queries import RunOfQuery
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService


class _ChangedValues(ReadService, abc.ABC):
    """A service that changes values of its pages, those in lists too."""

    @abc.abstractmethod
    def changed(self, value: Any) -> Any:
        """The value that a page has for one that is not NULL."""

    def page_content(self, asked: RunOfQuery, page: pa.Table) -> pa.Table:
        content = super().page_content(asked, page)
        for place, field in enumerate(content.schema):
            kind = field.type.value_type if pa.types.is_list(field.type) else field.type
            if kind not in (pa.float64(), pa.utf8(), pa.binary()):
                continue
            values = content.column(place).to_pylist()
            made = [self._in_page(value) for value in values]
            if made != values:
                content = content.set_column(place, field, pa.array(made, field.type))
        return content

    def _in_page(self, value: Any) -> Any:
        if isinstance(value, list):
            return [one for one in map(self._in_page, value) if one is not None]
        return None if value is None else self.changed(value)


@behaviour_mutant("query-results.page-has-finite-numbers", kills="query-results.page-has-rows-of-the-result",
                  also=IN_ROWS, source=PYTHON)  # fmt: skip
class PageHasFiniteNumbers(_ChangedValues):
    """NaN and the infinities are NULL in the page, as JSON has no numbers for them, and are left out of its arrays."""

    def changed(self, value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value


@behaviour_mutant("query-results.page-has-no-empty-texts", kills="query-results.page-has-rows-of-the-result",
                  also=IN_ROWS, source=PYTHON)  # fmt: skip
class PageHasNoEmptyTexts(_ChangedValues):
    """Empty texts and bytes are NULL in the page, and are left out of its arrays."""

    def changed(self, value: Any) -> Any:
        return None if value in ("", b"") else value


@behaviour_mutant("query-results.page-texts-end-at-nul", kills="query-results.page-has-rows-of-the-result",
                  also=IN_ROWS, source=PYTHON)  # fmt: skip
class PageTextsEndAtNul(_ChangedValues):
    """Texts in the page end before U+0000."""

    def changed(self, value: Any) -> Any:
        return value.partition("\0")[0] if isinstance(value, str) else value
