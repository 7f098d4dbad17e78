"""Query results in Arrow: the page in the answer of jobs.query, and the rest from the stream of its job.

Google's documents call the feature not yet available: a target is judged on it if it declares the capability
``query-results``. One clause is for every server. Google's client for Python takes an answer without the fields of
Arrow for an empty result. A server that ignores the request loses every row, without an error.
"""

from conformance.protocols.storage_read.chapters.query_results import answer, listings, plain, stream  # noqa: F401  # each registers its clauses
