"""Independent Arrow decoders, one module each; :mod:`conformance.readers.info` describes the contents of a module."""
