"""Drift between versions of pyarrow: the same cases written and read in one environment per version, and compared.

``recipes`` says what is written, ``inputs`` what is read, ``worker`` runs in each version's own interpreter,
``comparing`` decides what a difference is, ``judging`` whether it matters, ``run`` puts them together.
"""
