"""References: equal values are equal references, two runs agree, and verdicts stay what they were."""

from __future__ import annotations

import dataclasses
import json

import pytest

from conformance.contract import proto
from conformance.contract.judge import judge
from conformance.engine.events import ExchangeRecorded
from conformance.generate import materialise
from conformance.records import Exchange, from_json, to_json
from conformance.truth.records import TruthExchange
from conformance.truth.references import UnresolvedError, kept, normalised, resolved, undefined
from tests.truth.packs import edited


def made(one: ExchangeRecorded) -> TruthExchange:
    """The exchange with references."""
    return normalised(one.case, one.exchange)


def test_two_runs_are_equal(runs: list[list[ExchangeRecorded]]) -> None:
    """Nothing but names, instants and ids differs, and these are references."""
    first, second = ([kept(made(one)) for one in run] for run in runs)

    assert first == second


def test_verdicts_stay_what_they_were(runs: list[list[ExchangeRecorded]]) -> None:
    """Canonical values have the proper form, also for refusals and instants."""
    for one in runs[0]:
        table = materialise(one.case.table)
        before = judge(one.case, one.exchange, table)
        after = judge(one.case, resolved(made(one)), table)

        assert [(item.clause, item.outcome) for item in after] == [(item.clause, item.outcome) for item in before]


def test_a_name_is_the_same_reference_wherever_it_occurs(runs: list[list[ExchangeRecorded]]) -> None:
    """The split of a child names the stream that the first split gave."""
    split = made(runs[0][0])

    answer = json.loads(json.dumps(split.calls[2].responses[0]))
    name = "projects/<project:1>/locations/<location:1>/sessions/<session:1>/streams/<stream:2>"
    assert split.calls[2].method == "SplitReadStream"
    assert answer["primary_stream"]["name"] == name
    assert split.calls[3].request == {"name": name, "fraction": 0.5}


def test_what_the_case_has_written_is_no_reference(runs: list[list[ExchangeRecorded]]) -> None:
    """A table that does not exist has its name in the request and in the refusal."""
    refused = made(runs[0][1])

    assert refused.calls[0].details == "Not found: Table <project:1>:<dataset:1>.no_such_table"


def test_instants_are_minutes_from_the_beginning(runs: list[list[ExchangeRecorded]]) -> None:
    """A session expires in six hours, and its snapshot is now."""
    assert made(runs[0][2]).times == {"<time:1>": "+0 min", "<time:2>": "+360 min"}


def test_no_private_value_is_left(runs: list[list[ExchangeRecorded]]) -> None:
    """The project, the dataset and the table are nowhere in the exchange with references."""
    for one in runs[0]:
        form = to_json(made(one))
        form.pop("case")
        text = json.dumps(form)

        assert [value for value in ("test-project", one.exchange.table) if value in text] == []


def test_a_private_value_in_an_unknown_field_is_refused(runs: list[list[ExchangeRecorded]]) -> None:
    """Where no reference can stand, the exchange is not kept."""

    def leak(exchange: Exchange) -> Exchange:
        call = exchange.calls[0]
        data = call.responses[0] + b"\xfa\x01\x0ctest-project"
        return dataclasses.replace(exchange, calls=(dataclasses.replace(call, responses=(data,)), *exchange.calls[1:]))

    with pytest.raises(UnresolvedError, match="call 0, CreateReadSession, response 0: the value of <project:1>"):
        made(edited(runs[0][0], leak))


def test_renumbering_changes_nothing(runs: list[list[ExchangeRecorded]]) -> None:
    """A pack in which stream 1 is called stream 7 everywhere is the same pack."""
    one = made(runs[0][0])
    text = json.dumps(to_json(one)).replace("<stream:1>", "<stream:77>").replace("<session:1>", "<session:9>")

    assert kept(from_json(TruthExchange, json.loads(text))) == kept(one)


def test_a_reference_is_defined_before_it_is_used(runs: list[list[ExchangeRecorded]]) -> None:
    """A read of a stream that no answer has named is no exchange that happened."""
    one = made(runs[0][0])
    read = dataclasses.replace(one.calls[1], request={"read_stream": "<stream:9>"})
    strange = dataclasses.replace(one, calls=(one.calls[0], read, *one.calls[2:]), times={})

    assert list(undefined(one)) == []
    assert list(undefined(strange)) == [
        "calls[1].request: <stream:9> is used before an answer has given its value",
        "times: expected exactly the references to instants that the calls have; see <time:1>",
    ]


def test_every_occurrence_is_resolved_alike(runs: list[list[ExchangeRecorded]]) -> None:
    """The name that a read asks for is, byte for byte, the one that the session gave."""
    exchange = resolved(made(runs[0][0]))

    session = proto.ReadSession.FromString(exchange.calls[0].responses[0])
    assert proto.ReadRowsRequest.FromString(exchange.calls[1].request).read_stream == session.streams[0].name
