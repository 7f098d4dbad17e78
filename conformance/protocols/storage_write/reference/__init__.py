"""The reference of the Storage Write API: one server over gRPC and REST that writes tables and serves them.

The server for the Storage Read API is not used: protocols know nothing of each other. What the cases need of it is
little, an empty table over REST and one stream of its rows, so that a second one is smaller than what two protocols
would have to share; it is also a second opinion on the same bytes.
"""
