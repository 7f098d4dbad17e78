"""Independent Arrow decoders, one module each; see :mod:`conformance.readers.info` for what a module holds."""
