"""Rows in Avro: the datums of consecutive rows, with nothing before, between and behind them.

Every byte is read by the schema of the session (:mod:`conformance.formats.avro`). How many rows there are, and which
values they have, is judged by the chapters on rows and values, as it is for Arrow.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.clause import PROFILES
from conformance.contract.rules import must, rule_clauses, should
from conformance.contract.sources import AVRO_GUIDE, AVRO_SPEC, CAPTURED, SERVICE_TESTS
from conformance.contract.view import once_per_view
from conformance.formats.avro import AvroRule
from conformance.protocols.storage_read.contract.avrobytes import AvroRowsBytes
from conformance.protocols.storage_read.contract.view import StorageView

SERVER: Final = PROFILES[:1]
BY_THE_SPEC: Final = (AVRO_SPEC, CAPTURED)
_LOST: Final = (
    AvroRule.ROW_TRUNCATED, AvroRule.VARINT_TRUNCATED, AvroRule.FIXED_TRUNCATED, AvroRule.LENGTH_BEYOND,
)  # fmt: skip


@once_per_view
def _rows(view: StorageView) -> list[AvroRowsBytes]:
    return view.avro_rows if view.exchange.driven else []


# fmt: off
rule_clauses(_rows, SERVER,
    must("avro-rows.are-whole", _LOST,
      "google-cloud-bigquery-storage 2.43.0 (Python): such a row is left out, without an error",
      "The bytes of a response end with the end of a row: no row is cut, and none goes on in the next response.",
      source=BY_THE_SPEC),
    must("avro-rows.numbers-have-their-width", (
      AvroRule.VARINT_TOO_LONG, AvroRule.VARINT_OVERFLOW, AvroRule.INT_RANGE), source=BY_THE_SPEC),
    should("avro-rows.numbers-are-minimal", AvroRule.VARINT_NOT_MINIMAL,
      says="A number takes no more bytes than its value needs: writers make no others."),
    must("avro-rows.booleans-are-0-or-1", AvroRule.BOOLEAN,
      says="A value of BOOL is the byte 0 or 1, in the one byte that the schema gives to it.", source=BY_THE_SPEC),
    must("avro-rows.lengths-are-not-negative", AvroRule.LENGTH_NEGATIVE,
      says="The length before a text or bytes is not negative; zero bytes are an empty value.", source=BY_THE_SPEC),
    must("avro-rows.branches-exist", AvroRule.UNION_BRANCH, source=BY_THE_SPEC),
    must("avro-rows.blocks-are-as-declared", (AvroRule.BLOCK_COUNT, AvroRule.BLOCK_SIZE), source=BY_THE_SPEC),
    must("avro-rows.texts-are-utf-8", AvroRule.UTF8,
      says="A text, of STRING, JSON or GEOGRAPHY, is UTF-8 from its first byte to its last.",
      source=BY_THE_SPEC),
    must("avro-rows.days-and-times-exist", (
      AvroRule.DATE_RANGE, AvroRule.TIME_RANGE, AvroRule.TIMESTAMP_RANGE),
      says="Dates, times of day and timestamps are within the ranges of BigQuery's types.",
      source=(AVRO_GUIDE, CAPTURED)),
    must("avro-rows.datetimes-are-texts-of-their-form", AvroRule.DATETIME_TEXT,
      source=(AVRO_GUIDE, CAPTURED, SERVICE_TESTS)),
    must("avro-rows.decimals-fit", (
      AvroRule.DECIMAL_EMPTY, AvroRule.DECIMAL_DIGITS, AvroRule.DECIMAL_RANGE), source=BY_THE_SPEC),
)
# fmt: on
