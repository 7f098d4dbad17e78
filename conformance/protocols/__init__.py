"""One folder for each protocol (:mod:`conformance.protocol`), with one module for each layer in which it takes part."""
