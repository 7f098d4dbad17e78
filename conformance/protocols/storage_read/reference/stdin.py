"""Tables for the reference on its standard input: the messages that a server sends and gets that seeds itself.

A server without REST is filled in this way (docs/seeding.md). The messages are those of
``conformance/targets/protocol.schema.json``; every line is one request, and its answer is one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from conformance.protocols.storage_read.reference.catalogue import AlreadyExistsError, MissingError, TableId
from conformance.protocols.storage_read.reference.rest import Api
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import Column, from_json
from conformance.reference.tableschema import SchemaError
from conformance.targets.values import rest_schema, rest_value

__all__ = ["serve_tables"]


def serve_tables(service: ReadService, lines: Iterable[str], say: Callable[[str], object]) -> None:
    """Answer each of ``lines`` until they end; ``say`` gets the answers."""
    api = Api(service)
    for line in lines:
        request = json.loads(line)
        say(json.dumps({"id": request["id"], **_answer(api, request)}))


def _answer(api: Api, request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "hello":
        return {"status": "ok", "protocol": 1, "name": "reference", "capabilities": [], "input": "rows"}
    place = TableId(request["project"], request["dataset"], request["table"])
    try:
        match request["op"]:
            case "make":
                _make(api, place, request)
            case "append":
                _append(api, place, request)
            case "drop":
                api.catalogue.drop_table(place)
            case _:
                return {"status": "unsupported"}
    except AlreadyExistsError as error:
        return {"status": "error", "code": "ALREADY_EXISTS", "message": str(error)}
    except (MissingError, SchemaError, ValueError) as error:
        return {"status": "error", "message": str(error)}
    return {"status": "ok"}


def _make(api: Api, place: TableId, request: dict[str, Any]) -> None:
    if not api.catalogue.has_dataset(place.project, place.dataset):
        api.catalogue.create_dataset(place.project, place.dataset)
    fields = [rest_schema(column) for column in _columns(request)]
    api.insert_table(
        {"tableReference": {"tableId": place.table}, "schema": {"fields": fields}}, {}, place.project, place.dataset
    )
    _append(api, place, request)


def _append(api: Api, place: TableId, request: dict[str, Any]) -> None:
    columns = _columns(request)
    rows = [{column.name: rest_value(column, row.get(column.name)) for column in columns} for row in request["rows"]]
    body = {"rows": [{"json": row} for row in rows]}
    if errors := api.insert_all(body, {}, place.project, place.dataset, place.table).get("insertErrors"):
        raise ValueError(str(errors[0]))


def _columns(request: dict[str, Any]) -> tuple[Column, ...]:
    return tuple(from_json(Column, column, path="columns") for column in request["columns"])
