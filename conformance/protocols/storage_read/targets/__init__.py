"""Servers of the Storage Read API as targets."""
