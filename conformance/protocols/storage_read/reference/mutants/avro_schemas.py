"""Mutants of the Avro schema of a session; rows are written by the schema that is sent, where that can be."""

from __future__ import annotations

import abc
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession
from conformance.records import BqType, Column, Mode

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import AvroWriter


class _EditsTree(ReadService, abc.ABC):
    """A service that declares other types, and writes its rows by them."""

    def avro_writer(self, columns: Sequence[Column], *, display_names: bool) -> AvroWriter:
        from conformance.protocols.storage_read.reference.avrowriters import EditedWriter  # noqa: PLC0415  # fastavro

        return EditedWriter(columns, display_names=display_names, edit=self.edit)

    @abc.abstractmethod
    def edit(self, tree: dict[str, Any], _columns: Sequence[Column]) -> None:
        """Change the schema in place."""


class _EditsText(ReadService, abc.ABC):
    """A service that sends another schema than the one by which it writes its rows."""

    def put_schema(self, answer: Any, session: OpenedSession) -> None:
        super().put_schema(answer, session)
        if session.avro is not None:
            answer.avro_schema.schema = self.change(answer.avro_schema.schema)

    @abc.abstractmethod
    def change(self, text: str) -> str:
        """The schema that is sent."""


# --- JSON and declarations ------------------------------------------------------------------------


@behaviour_mutant("avro.schema-in-quotes", kills="avro-schema.is-json")
class SchemaInQuotes(_EditsText):
    """The schema is written as Python writes a dictionary, in single quotes."""

    def change(self, text: str) -> str:
        return str(json.loads(text))


@behaviour_mutant("avro.schema-with-a-key-twice", kills="avro-schema.keys-come-once")
class SchemaWithAKeyTwice(_EditsText):
    """The schema names its type twice."""

    def change(self, text: str) -> str:
        return text.replace("{", '{"type":"record",', 1)


@behaviour_mutant("avro.types-in-capitals", kills="avro-schema.is-valid")
class TypesInCapitals(_EditsText):
    """The names of types are in capitals, as in SQL."""

    def change(self, text: str) -> str:
        return text.replace('"long"', '"LONG"')


@behaviour_mutant("avro.root-is-an-array", kills="avro-schema.root-is-a-record")
class RootIsAnArray(_EditsText):
    """The schema is that of all rows: an array of records."""

    def change(self, text: str) -> str:
        return f'{{"type":"array","items":{text}}}'


@behaviour_mutant(
    "avro.dates-are-long",
    kills="avro-schema.logical-types-annotate-their-type",
    also={"avro-schema.types-are-the-columns": "without its logical type a date is a number"},
)
class DatesAreLong(_EditsTree):
    """A DATE is a long with the logical type date, which belongs to int."""

    def edit(self, tree: dict[str, Any], _columns: Sequence[Column]) -> None:
        from conformance.protocols.storage_read.reference.avrowriters import types_in  # noqa: PLC0415  # as above

        for made in types_in(tree):
            if made.get("logicalType") == "date":
                made["type"] = "long"


@behaviour_mutant(
    "avro.decimals-without-digits",
    kills="avro-schema.decimals-are-declared",
    also={"avro-schema.types-are-the-columns": "without its digits a decimal is bytes"},
)
class DecimalsWithoutDigits(_EditsText):
    """A decimal has no precision and no scale."""

    def change(self, text: str) -> str:
        return text.replace(',"precision":38,"scale":9', "").replace(',"precision":77,"scale":38', "")


# --- names ----------------------------------------------------------------------------------------


@behaviour_mutant(
    "avro.project-in-the-namespace",
    kills="avro-schema.names-are-legal",
    also={"avro-schema.root-has-its-name": "the namespace is a part of the full name"},
    defects=("B-92",),
)
class ProjectInTheNamespace(_EditsText):
    """The namespace of the record is the project and the dataset."""

    def change(self, text: str) -> str:
        return text.replace('"name":"__root__"', '"namespace":"my-project.dataset","name":"__root__"', 1)


@behaviour_mutant("avro.root-is-the-table", kills="avro-schema.root-has-its-name")
class RootIsTheTable(_EditsText):
    """The record of a row is named after the table."""

    def change(self, text: str) -> str:
        return text.replace('"name":"__root__"', '"name":"table"', 1)


@behaviour_mutant("avro.records-have-the-fields-name", kills="avro-schema.names-are-unique")
class RecordsHaveTheFieldsName(_EditsText):
    """Each nested record is named after its field, wherever it is."""

    def change(self, text: str) -> str:
        tree = json.loads(text)
        self._name(tree)
        return json.dumps(tree)

    def _name(self, record: Any) -> None:
        for field in record["fields"]:
            made = field["type"]
            while isinstance(made, list) or (isinstance(made, dict) and made["type"] == "array"):
                made = made[-1] if isinstance(made, list) else made["items"]
            if isinstance(made, dict) and made["type"] == "record" and made["name"].startswith("__s_"):
                made["name"] = field["name"]
                self._name(made)


@behaviour_mutant("avro.named-types-are-spelled-out-in-records", kills="avro-schema.names-are-unique")
class NamedTypesAreSpelledOutInRecords(_EditsText):
    """Inside a nested record, a named type is defined again where its name should stand."""

    def change(self, text: str) -> str:
        return json.dumps(self._spelled_out(json.loads(text), {}, inside=False))

    def _spelled_out(self, made: Any, known: dict[str, Any], *, inside: bool) -> Any:
        if isinstance(made, str):
            return known.get(made, made) if inside else made
        if isinstance(made, list):
            return [self._spelled_out(each, known, inside=inside) for each in made]
        if "namespace" in made:
            known[f"{made['namespace']}.{made['name']}"] = made
            return made
        inside = inside or str(made.get("name")).startswith("__s_")
        below = {key: made[key] for key in ("fields", "items", "type") if key in made}
        return made | {key: self._spelled_out(each, known, inside=inside) for key, each in below.items()}


@behaviour_mutant(
    "avro.field-names-come-again",
    kills="avro-schema.field-names-are-unique",
    also={
        "avro-schema.fields-are-the-columns": "one of the columns has no field",
        "columns.new-session-has-those-of-the-table": "one of the columns has no field",
    },
)
class FieldNamesComeAgain(_EditsText):
    """The second field has the name of the first."""

    def change(self, text: str) -> str:
        tree = json.loads(text)
        if len(tree["fields"]) > 1:
            tree["fields"][1]["name"] = tree["fields"][0]["name"]
        return json.dumps(tree)


@behaviour_mutant(
    "avro.fields-by-name",
    kills="avro-schema.fields-are-the-columns",
    also={"columns.new-session-has-those-of-the-table": "the columns are in another order"},
)
class FieldsByName(_EditsTree):
    """The fields are in the order of their names."""

    def edit(self, tree: dict[str, Any], _columns: Sequence[Column]) -> None:
        tree["fields"].sort(key=lambda field: str(field["name"]))


# --- types and modes ------------------------------------------------------------------------------


class _EditsFields(_EditsTree, abc.ABC):
    """A service that declares fields of some columns otherwise."""

    def edit(self, tree: dict[str, Any], columns: Sequence[Column]) -> None:
        from conformance.protocols.storage_read.reference.avrowriters import fields_of  # noqa: PLC0415  # as above

        for field, column in [*fields_of(tree, columns)]:
            self.edit_field(field, column)

    @abc.abstractmethod
    def edit_field(self, field: dict[str, Any], column: Column) -> None:
        """Change a field in place."""


@behaviour_mutant("avro.null-is-last", kills="avro-schema.null-is-the-first-branch")
class NullIsLast(_EditsFields):
    """The union of a NULLABLE column has null as its second branch."""

    def edit_field(self, field: dict[str, Any], column: Column) -> None:
        if column.mode is Mode.NULLABLE:
            field["type"] = field["type"][::-1]


@behaviour_mutant("avro.required-are-unions", kills="avro-schema.modes-are-the-columns")
class RequiredAreUnions(_EditsFields):
    """A REQUIRED column is a union with null, as a NULLABLE one is."""

    def edit_field(self, field: dict[str, Any], column: Column) -> None:
        if column.mode is Mode.REQUIRED:
            field["type"] = ["null", field["type"]]


@behaviour_mutant("avro.items-are-unions", kills="avro-schema.modes-are-the-columns")
class ItemsAreUnions(_EditsFields):
    """The items of a REPEATED column are unions with null."""

    def edit_field(self, field: dict[str, Any], column: Column) -> None:
        if column.mode is Mode.REPEATED:
            field["type"]["items"] = ["null", field["type"]["items"]]


class _EditsTypes(_EditsTree):
    """A service that declares all types with one logical type or attribute otherwise."""

    has: ClassVar[tuple[str, str]]

    def edit(self, tree: dict[str, Any], _columns: Sequence[Column]) -> None:
        from conformance.protocols.storage_read.reference.avrowriters import types_in  # noqa: PLC0415  # as above

        for made in types_in(tree):
            if made.get(self.has[0]) == self.has[1]:
                del made[self.has[0]]


@behaviour_mutant("avro.datetimes-are-plain-texts", kills="avro-schema.types-are-the-columns")
class DatetimesArePlainTexts(_EditsTypes):
    """A DATETIME is a string without its logical type."""

    has = ("logicalType", "datetime")


@behaviour_mutant("avro.times-are-plain-numbers", kills="avro-schema.types-are-the-columns")
class TimesArePlainNumbers(_EditsTypes):
    """A TIME is a long without its logical type."""

    has = ("logicalType", "time-micros")


@behaviour_mutant("avro.intervals-in-longs", kills="avro-schema.types-are-the-columns")
class IntervalsInLongs(_EditsTree):
    """Months and days of an INTERVAL are of the type long."""

    def edit(self, tree: dict[str, Any], _columns: Sequence[Column]) -> None:
        from conformance.protocols.storage_read.reference.avrowriters import types_in  # noqa: PLC0415  # as above

        for made in types_in(tree):
            if made.get("name") == "INTERVAL":
                for field in made["fields"]:
                    field["type"] = "long"


@behaviour_mutant("avro.json-is-a-plain-text", kills="avro-schema.sql-types-are-named")
class JsonIsAPlainText(_EditsTypes):
    """A JSON column has no sqlType: nothing tells it from a STRING."""

    has = ("sqlType", "JSON")


@behaviour_mutant(
    "avro.doubles-are-floats",
    kills="avro-schema.types-are-bigquerys",
    also={"avro-schema.types-are-the-columns": "a float of four bytes is no double"},
)
class DoublesAreFloats(_EditsFields):
    """A FLOAT64 is a float of four bytes."""

    def edit_field(self, field: dict[str, Any], column: Column) -> None:
        if column.type is BqType.FLOAT64:
            field["type"] = json.loads(json.dumps(field["type"]).replace('"double"', '"float"'))


@behaviour_mutant(
    "avro.bounds-are-never-null",
    kills="avro-schema.bounds-are-unions",
    also={"values.range": "an unbounded end is a day"},
)
class BoundsAreNeverNull(_EditsTree):
    """The bounds of a RANGE have no union; an unbounded end is written as the first day."""

    def avro_writer(self, columns: Sequence[Column], *, display_names: bool) -> AvroWriter:
        from conformance.protocols.storage_read.reference.avrowriters import BoundedWriter  # noqa: PLC0415  # as above

        return BoundedWriter(columns, display_names=display_names, edit=self.edit)

    def edit(self, tree: dict[str, Any], _columns: Sequence[Column]) -> None:
        from conformance.protocols.storage_read.reference.avrowriters import types_in  # noqa: PLC0415  # as above

        for made in types_in(tree):
            if made.get("sqlType") == "RANGE":
                for field in made["fields"]:
                    field["type"] = field["type"][-1]
