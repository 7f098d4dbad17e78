"""What is published of this suite, made anew: the reports in ``reports/``, the tables in ``docs/`` and the README.

=============================== ==================================================================================
command                         makes
command                         result
``python -m publish.emulators`` reports on the known targets, and their matrix
``python -m publish.ipc``       reports on readers and writers of Arrow IPC, and their matrices
``python -m publish.tables``    tables in ``docs/`` and numbers in ``README.md``, of the suite and of those reports
=============================== ==================================================================================

These programs belong to the repository and are no part of the installed suite.
"""
