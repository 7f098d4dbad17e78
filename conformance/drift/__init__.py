"""Drift between versions of pyarrow: the same cases are written and read by several versions, and the results compared.

Each version runs in an environment of its own. ``recipes`` defines the written cases, ``inputs`` the read ones;
``worker`` runs in each version's interpreter; ``comparing`` decides which differences there are, ``judging`` whether
bytes conform, and ``run`` runs a full comparison.
"""
