"""The judging of whole streams, files and tensors, and of the results of readers on them."""
