"""A proof as text and as JSON: everything that breaks a gate is said, and the totals are those of the proof."""

from __future__ import annotations

import dataclasses
import json

from conformance.engine.fates import Fate
from conformance.engine.proof import Trial
from conformance.engine.prove import Proof
from conformance.engine.shown import FEW
from conformance.report.prooftext import LISTED, as_json, as_text

GOOD = Trial("batch.empty", {"framing.batch-not-empty": ("a", "b")}, kills=("framing.batch-not-empty",))
HOLDS = Proof(
    trials=(GOOD,),
    faulty_servers={"liar.null": ("calls.end-in-time",)},
    alarms={},
    unproven=(),
    unknown=(),
    changes={"rejected": 9, "permitted": 1},
    types={"rejected": 7},
    survivors=(),
    raised=(),
    variations=23,
)
SURVIVOR = Trial("m.survivor", {}, kills=("x.y",))
BROAD = Trial("m.broad", {"x.y": ("a",), "x.z": ("a", "b", "c")}, kills=("x.y",))
BROKEN = dataclasses.replace(
    HOLDS,
    trials=(GOOD, SURVIVOR, BROAD),
    alarms={"align-64": {"body.padding-zero": ("a",)}},
    unproven=("x.unproven",),
    unknown=("x.unknown",),
    survivors=(Fate("Schema.version", "+1"),),
    raised=(Fate("ARRAY.JSON, served", "as struct", ("types.json",), errors=("x.y: the suite raised KeyError",)),),
)


def test_a_proof_that_holds_says_so_and_gives_its_totals() -> None:
    """The totals are one line each."""
    text = as_text(HOLDS)

    assert text.splitlines() == [
        "faulty servers, and how many MUST clauses each holds:",
        "  liar.null                1",
        "1 of 1 mutant killed, 0 over-broad",
        "10 systematic changes: 1 permitted, 9 rejected",
        "7 substituted types: 7 rejected",
        "23 legal variations, 0 false alarms",
        "the proof holds",
    ]


def test_whatever_breaks_a_gate_has_a_line() -> None:
    """Survivors, over-broad mutants, unproven and unknown clauses, false alarms, changes that survive."""
    lines = as_text(BROKEN).splitlines()

    assert lines[:7] == [
        "SURVIVED    m.survivor: x.y did not fail",
        "OVER-BROAD  m.broad: x.z on a and 2 more",
        "UNPROVEN    x.unproven: no mutant is made for it",
        "UNKNOWN     x.unknown: a mutant is made for it, but the clause does not exist",
        "FALSE ALARM align-64: body.padding-zero on a",
        "SURVIVED    Schema.version +1: nothing rejects the change and nothing permits it",
        "RAISED      ARRAY.JSON, served as struct: x.y: the suite raised KeyError",
    ]
    assert lines[-1] == "the proof does NOT hold"


def test_the_matrix_names_every_mutant_with_what_failed() -> None:
    """Intended clauses first, the others behind them."""
    lines = as_text(BROKEN, matrix=True).splitlines()

    assert lines[1].split() == ["batch.empty", "framing.batch-not-empty"]
    assert lines[3].endswith("x.y; also x.z")


def test_the_json_form_is_plain_and_sorted() -> None:
    """Programs get everything, in an order that does not depend on which process was first."""
    form = json.loads(json.dumps(as_json(BROKEN)))

    assert form["holds"] is False
    assert list(form["mutants"]) == ["batch.empty", "m.broad", "m.survivor"]
    assert form["mutants"]["m.broad"]["surplus"] == ["x.z"]
    assert form["survivors"] == [["Schema.version", "+1"]]
    assert form["alarms"] == {"align-64": {"body.padding-zero": ["a"]}}


def test_the_cases_that_are_listed_decide_which_cases_can_show_a_clause() -> None:
    """``golden/shown.json`` is made from the published proof: one case more than it lists of a clause is enough."""
    assert LISTED > FEW
