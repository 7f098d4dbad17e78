"""The clauses: what a Storage Read server, or a serializer of Arrow messages, has to do, and how that is judged."""
