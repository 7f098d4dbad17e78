"""Servers of the toy protocol as targets."""
