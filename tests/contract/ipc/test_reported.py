"""Small inputs after public reports: each gets the verdict that is right, no more and no less."""

from __future__ import annotations

import pytest

from conformance.contract.closed import Validity
from conformance.contract.ipc.expecting import expect
from conformance.contract.ipc.judging import judge_ipc
from conformance.records import Outcome
from conformance.wire import sniff
from tests.fixtures import fixture

FAILING = {
    "allnull-lz4-1.arrow": set[str](),
    "names-twice-other-type.arrows": set(),
    "tz-10.arrows": set(),
    "zstd-window-31.arrows": set(),
    "zstd-two-frames.arrows": set(),
    "zstd-skippable-before.arrows": set(),
    "ree-plain-V4.arrows": set(),
    "ext-uuid-on-binary.arrows": {"metadata.extension-storage"},
    "ext-tensor-shape-product.arrows": {"metadata.extension-parameters"},
    "ext-opaque-not-json.arrows": {"metadata.extension-parameters"},
    "map-sorted-unsorted-keys.arrows": {"layouts.map-keys-sorted"},
    "tz-3.arrows": {"metadata.time-zones"},
    "tz-12.arrows": {"metadata.time-zones"},
    "sparse-child-longer.arrows": {"layouts.sparse-union-children"},
    "planus-unaligned.arrow": {"structure.aligned"},
    "planus-unaligned-bad-text.arrow": {"structure.aligned", "body.text-utf8"},
    "v3-stream.arrows": {"structure.version-supported"},
    "csharp-overwritten.arrow": {"file.one-footer"},
    "two-streams-second-broken.arrows": {"stream.nothing-after-end", "body.offsets-within-data"},
    "swift-stream-with-footer.arrows": {"stream.prefixes"},
}


@pytest.mark.parametrize("name", FAILING)
def test_each_input_has_its_verdict(name: str) -> None:
    """The clauses that fail are these."""
    data = fixture("reported", name).read_bytes()

    assert {one.clause for one in judge_ipc(data) if one.outcome is not Outcome.PASS and not one.reason} == FAILING[
        name
    ]


@pytest.mark.parametrize(
    ("name", "expected"), [("ree-plain-V4.arrows", Validity.PERMITTED), ("zstd-two-frames.arrows", Validity.VALID)]
)
def test_readers_are_asked_for_what_is_certain(name: str, expected: Validity) -> None:
    """A reader may refuse what no text decides, and has to read what is legal."""
    data = fixture("reported", name).read_bytes()

    assert expect(data, sniff(data)).result is expected
