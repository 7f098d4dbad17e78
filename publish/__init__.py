"""Programs that make the published files: the reports in ``reports/``, the tables in ``docs/``, parts of the README.

=============================== ==================================================================================
command                         makes
command                         result
``python -m publish.emulators`` reports on the known targets, and their matrix
``python -m publish.ipc``       reports on readers and writers of Arrow IPC, and their matrices
``python -m publish.tables``    tables in ``docs/`` and numbers in ``README.md``, from the suite and from those reports
``python -m publish.picture``   the picture of a report in the README
=============================== ==================================================================================

These programs belong to the repository; the installed suite does not contain them.
"""
