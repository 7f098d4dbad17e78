"""Comparing an exchange with its case: the expected columns and rows, the matching of rows, and the differences.

The clauses that use these comparisons are in the chapters.
"""
