"""The clauses: the requirements on a Storage Read server or a serializer of Arrow messages, and how they are judged."""
