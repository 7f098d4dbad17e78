"""Strict readers of the other formats in which a protocol sends rows, one package for each.

They report faults in the form of :mod:`conformance.wire`, so that a dump, a list or a clause treats all formats alike.
"""
