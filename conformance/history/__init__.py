"""Checks what sessions may show of a table that changes, from the ids of the rows that each read returned alone.

No model predicts the rows and no expected row is needed: from the order of the calls in real time and from the rows
themselves, the checker derives that a history is impossible, names the anomaly, and shows the calls that prove it.
The method is that of Elle (https://github.com/jepsen-io/elle): rows have unique ids and are only ever inserted, so each
read shows which insertions its session could see. This package knows neither Arrow nor a server.
"""

from conformance.history.anomalies import Anomaly, AnomalyKind, Guarantee, HistoryJudgement
from conformance.history.calls import (
    Append,
    Create,
    End,
    History,
    HistoryCall,
    HistoryError,
    RowsRead,
    Split,
)
from conformance.history.checker import check
from conformance.history.words import lines

__all__ = [
    "Anomaly",
    "AnomalyKind",
    "Append",
    "Create",
    "End",
    "Guarantee",
    "History",
    "HistoryCall",
    "HistoryError",
    "HistoryJudgement",
    "RowsRead",
    "Split",
    "check",
    "lines",
]
