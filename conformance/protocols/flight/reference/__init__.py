"""A correct Arrow Flight server on raw gRPC handlers, its mutants and its legal variations.

Every byte that it sends comes from the suite's own writers, and no Flight library takes part.
"""
