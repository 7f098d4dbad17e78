"""Rules of the wire as clauses: what a row says, and that each clause reports the rules that it names and no other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from conformance import wire
from conformance.contract.clause import CLAUSES, Clause, load_chapters
from conformance.contract.ipc.messages import Container, MessageInBatches, MessageOfSchema, is_of_the_whole
from conformance.contract.ipc.selectors import Wholes
from conformance.contract.messages import Messages, ShownMessages
from conformance.contract.rules import ANY_VIOLATION, NOT_ASKED, Faulty, must, should
from conformance.records import Level
from conformance.wire import Fault, Header, Message, Rule

load_chapters()
ON_FAULTS = [clause for clause in CLAUSES.values() if isinstance(clause.over, Messages | Wholes)]
SCHEMA = wire.Schema(())
BEHIND = (Message(0, 0, Header.SCHEMA), Message(0, 0, Header.RECORD_BATCH))


def fault(rule: Rule, path: str = "") -> Fault:
    """A rule broken at a path."""
    return Fault(rule, 0, 0, path, rule.requirement, rule.value)


def subjects(clause: Clause, *faults: Fault) -> Iterator[Faulty]:
    """A clause's subjects with these faults alone: an IPC input, or messages of every kind."""
    if isinstance(clause.over, Wholes):
        yield Container(faults)
        return
    assert isinstance(clause.over, Messages)
    for header, legacy in product(Header, (False, True)):
        first = Message(0, 0, header, legacy=legacy)
        if ShownMessages.SCHEMAS in clause.over.shown:
            schema = MessageOfSchema(b"", first, SCHEMA, list(faults))
            schema.message = wire.SchemaMessage(list(faults), first, BEHIND, SCHEMA)
            yield schema
        if ShownMessages.BATCHES in clause.over.shown:
            yield MessageInBatches(b"", first, wire.BatchMessage(list(faults), first, (), SCHEMA), list(faults))


def reports(clause: Clause, rule: Rule) -> bool:
    """Whether a clause reports a rule that is broken in something, where nothing else is."""
    return any(list(clause.check(subject)) for subject in subjects(clause, fault(rule)))


@pytest.mark.parametrize("clause", ON_FAULTS, ids=lambda clause: clause.id)
def test_a_clause_reports_the_rules_that_it_names(clause: Clause) -> None:
    """Each rule is broken alone: the clauses that name it report it, and no others do."""
    assert {rule for rule in Rule if reports(clause, rule)} == set(clause.rules)


def test_every_rule_is_named_or_left_for_a_reason() -> None:
    """Each rule of wire is named by a clause, or is in the table of rules that no clause uses."""
    named = {rule for clause in CLAUSES.values() for rule in clause.rules}

    assert set(Rule) - named == set(NOT_ASKED)
    assert all(len(reason) > 30 for reason in NOT_ASKED.values())


def test_a_whole_reports_what_is_of_the_whole() -> None:
    """The clauses on wholes name such rules, rules that one broken message and a whole share, and gaps in tensors."""
    shared = {rule for clause in ON_FAULTS if isinstance(clause.over, Messages) for rule in clause.rules}

    for clause in ON_FAULTS:
        if isinstance(clause.over, Wholes):
            assert all(is_of_the_whole(rule) or rule in shared for rule in clause.rules), clause.id


# --- rows -----------------------------------------------------------------------------------------


def reported(faults: list[Fault], **columns: object) -> list[str]:
    """The paths that a row on overlapping buffers reports."""
    row = must("body.x", Rule.BUFFER_OVERLAP, **columns)  # type: ignore[arg-type]  # whatever a test is about
    return [violation.field for violation in row.check(Container(faults))]


def test_a_row_takes_from_its_rule_what_it_leaves_out() -> None:
    """Explanation and source are the rule's, the file of a definition as its address; the level is the word's."""
    row = should("body.x", Rule.BUFFER_OFFSET_NEGATIVE)

    assert row.explanation == "A buffer's offset is not negative."
    assert row.source == "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
    assert row.level is Level.SHOULD
    assert must("body.x", Rule.UTF8_INVALID).source == Rule.UTF8_INVALID.source


def test_a_row_of_several_rules_says_all_of_them() -> None:
    """Their words are joined."""
    row = must("file.x", (Rule.BLOCK_REPEATED, Rule.BLOCK_OVERLAP))

    assert row.explanation == "The footer lists a message once; two blocks share no bytes."


def test_a_row_in_its_own_words() -> None:
    """The text of a row precedes the rule's text, without the indentation of the table."""
    row = must("body.x", Rule.UTF8_INVALID, "", "One.\n\n        Two.\n        ", source="https://example.org")

    assert (row.explanation, row.source) == ("One.\n\nTwo.", "https://example.org")


def test_a_row_reports_each_fault_under_its_rules() -> None:
    """With the place and the words of the fault."""
    row = must("body.x", (Rule.BUFFER_OVERLAP, Rule.BUFFER_UNALIGNED))
    one, two = Fault(Rule.BUFFER_OVERLAP, 3, 7, "a", "apart", "shared"), fault(Rule.BUFFER_UNALIGNED, "b")

    first, second = row.check(Container([fault(Rule.UTF8_INVALID), one, two]))

    assert (first.required, first.observed, first.field, first.start, first.end) == ("apart", "shared", "a", 3, 7)
    assert second.field == "b"


def test_a_row_reports_nothing_where_its_fault_follows_from_another() -> None:
    """Where one of the rules in ``unless`` is broken, whatever its path; without, the fault is reported."""
    overlap, cause = fault(Rule.BUFFER_OVERLAP, "a"), fault(Rule.BATCH_NODE_COUNT, "b")

    assert reported([overlap], unless=[Rule.BATCH_NODE_COUNT]) == ["a"]
    assert reported([overlap, cause], unless=[Rule.BATCH_NODE_COUNT]) == []
    assert reported([overlap, cause]) == ["a"]
    assert reported([overlap, fault(Rule.BUFFER_ORDER)], unless=ANY_VIOLATION - {Rule.BUFFER_OVERLAP}) == ["a"]


def test_a_row_reports_nothing_where_another_rule_is_broken_at_the_path() -> None:
    """If one of ``unless_there`` is broken, faults at other paths are still reported."""
    faults = [fault(Rule.BUFFER_OVERLAP, "a"), fault(Rule.BUFFER_OVERLAP, "b"), fault(Rule.BUFFER_LENGTH_NEGATIVE, "b")]

    assert reported(faults, unless_there=[Rule.BUFFER_LENGTH_NEGATIVE]) == ["a"]
