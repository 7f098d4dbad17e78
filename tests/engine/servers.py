"""``faulty_servers.json``: the MUST clauses that each faulty server holds.

As in the sampled proof, the servers get each :data:`THIN`-th light case.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from conformance.engine.corpus import load_corpus
from conformance.engine.proof import ProofFixture
from conformance.engine.prove import held
from conformance.engine.selection import all_clauses
from conformance.protocols.storage_read.reference.mutants import FAULTY_SERVERS
from tests.engine.thinning import THIN

KNOWN: Final = Path(__file__).parent / "faulty_servers.json"


def render() -> dict[Path, str]:
    """The one file."""
    proof_fixture = ProofFixture.of(load_corpus().values(), all_clauses().values()).thinned(THIN)
    known = {name: held(proof_fixture, name) for name in FAULTY_SERVERS}
    return {KNOWN: json.dumps(known, indent=1, sort_keys=True) + "\n"}
