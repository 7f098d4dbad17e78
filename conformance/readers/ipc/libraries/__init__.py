"""Python libraries that read and write IPC data, one module each; see :class:`conformance.readers.ipc.LibraryModule`.

A module is imported where its library is absent as well; ``load`` imports the library.
A worker calls it once and then forks for each job, so ``load`` must not start a thread of the library's own.
"""
