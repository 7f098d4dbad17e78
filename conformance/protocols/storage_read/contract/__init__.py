"""The Storage Read API in the contract. The messages of a serializer count as its answers."""
