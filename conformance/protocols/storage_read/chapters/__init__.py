"""The clauses on servers of the Storage Read API and on its clients, one module for each chapter."""
