"""google-cloud-bigquery-storage: ``rows(session).pages``, page by page, with each page's own count of rows."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.fullread import FullRead

INFO = _session.client_info(
    name="bqstorage.pages",
    title="the official Python client, page by page, num_items against the rows decoded",
)


class RowCountMismatch(Exception):  # noqa: N818  # its name becomes a reading's error class
    """A page declares a number of rows that differs from the number decoded from it."""


def read(whole: FullRead) -> pa.Table:
    """Read every page of every stream; a read without pages gives a table without columns.

    Raises:
        RowCountMismatch: A page's ``num_items``, by which the client resumes after a lost connection, is wrong.
    """
    batches = []
    with _session.without_deprecations():
        session = _session.replayed_session(whole)
        for stream in session.streams:
            for index, page in enumerate(_session.rows_of(stream.name).rows(session).pages):
                batch = page.to_arrow()
                if whole.counted and page.num_items != batch.num_rows:
                    raise RowCountMismatch(
                        f"expected num_items to be {batch.num_rows}, the rows decoded from page {index} of"
                        f" {stream.name}, got {page.num_items}"
                    )
                batches.append(batch)
    return pa.Table.from_batches(batches) if batches else pa.table({})


load = _session.loading(read)
