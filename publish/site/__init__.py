"""The site: one folder of pages, made from the published JSON files, that opens from disk and can be hosted as it is.

    python -m publish.site [--into DIR] [--no-docs]

Nothing is judged here. Pages of reports are those of :mod:`conformance.report`, below the header of the site; the
guides of ``docs/`` are made by mkdocs-material.
"""
