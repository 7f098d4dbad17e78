"""The table ``[flight]`` of a target file: how data comes into a server, and its dialect of SQL."""
