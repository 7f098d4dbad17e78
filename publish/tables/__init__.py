"""The tables in ``docs/`` that are generated from the suite itself, by ``python -m publish.refresh``.

Each table is a module with a ``NAME`` (a file below ``docs/``) and a function ``text()``; this package decides
no facts.
"""
