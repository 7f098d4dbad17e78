"""The reference of the Storage Read API: a server over gRPC and REST, its mutants and its legal variations."""
