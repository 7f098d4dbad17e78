"""Python libraries that read and write IPC data, one module each; see
:class:`conformance.readers.ipc.LibraryModule`.

A module can be imported without its library; ``load`` imports the library. A worker calls ``load`` once and then
forks for each job, so ``load`` must not start a thread of the library.
"""
