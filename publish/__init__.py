"""Programs that make the published files: the reports in ``reports/``, the tables in ``docs/``, parts of the README.

=================================== ==================================================================================
command                             makes
=================================== ==================================================================================
``python -m publish.emulators``     reports on servers and serializers, and their matrices
``python -m publish.ipc``           reports on readers and writers of Arrow IPC, and their matrices
``python -m publish.clients``       ``reports/clients.json``: what BigQuery clients make of faults
``python -m publish.queryclients``  ``reports/query-clients.json``: what clients of query results make of faults
``python -m publish.flightclients`` ``reports/flight-clients.json``: what Flight clients make of faults
``python -m publish.untrusted``     ``reports/untrusted.json``: what gets through each call that reads Arrow data
``python -m publish.dialects``      ``publish/dialects.json``: what engines answer to wrong readings of restrictions
``python -m publish.costs``         ``tests/costs.json``: what the tests cost, and its table in ``docs/dev``
``python -m publish.site``          ``site/``: a page of everything that is published, and the guides
``python -m publish.refresh``       all that is made from the suite itself: schemas, golden files, tables, snapshots
=================================== ==================================================================================

``python -m publish.long`` makes nothing: it runs the environments of tox.

These programs belong to the repository; the installed suite does not contain them.
"""
