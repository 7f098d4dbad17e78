"""The only package that starts processes and takes their answers, their JSON and their text.

This package does not know what is judged. The other packages start, limit, ask and end processes through these modules
alone; ruff's list of banned imports enforces that.

=============== ========================================================================================
module          content
=============== ========================================================================================
``supervisor``  the parent of each started program, which ends with the suite and ends all its descendants
``supervised``  a started program with its supervisor: start, signals, end and exit code
``child``       a program under test: its output is drained, its ports are read, and it is stopped in two steps
``command``     a command that runs to its end, with limits on time and output
``worker``      a module of the suite in a process of its own, asked over a channel
``importing``   which started Pythons import nothing from the current directory
``forks``       forks of a process that has done its imports
``crew``        processes of the suite that share work
``early``       Ctrl-C while Python still imports
``interrupts``  the signals that end this process in order
``channel``     frames over a socket pair: a JSON header and byte strings
``lines``       JSON lines over pipes, checked against a published schema in both directions
``libraries``   settings of libraries that they read when they are imported
``limits``      limits on address space, processor time and file sizes, set by the process itself
``watch``       limits on resident memory and processor time, enforced from outside
``secrets``     the secrets of this process, masked by value in texts and bytes
``text``        untrusted text made safe for a record, a terminal, a build log, XML
``parse``       untrusted JSON, with limits on size, depth and number of values
``errors``      the exceptions of this package, as one tree
=============== ========================================================================================

The package imports nothing here, so that a worker under another interpreter loads only the module that it needs.
"""
