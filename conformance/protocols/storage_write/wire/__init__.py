"""The messages of the Storage Write API, read strictly."""
