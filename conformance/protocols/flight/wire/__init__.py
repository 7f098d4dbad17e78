"""The messages of Arrow Flight and Flight SQL, read strictly."""
