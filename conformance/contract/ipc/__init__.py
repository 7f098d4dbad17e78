"""Whole streams, files and tensors, and what readers make of them."""
