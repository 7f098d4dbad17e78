"""Everything foreign passes through here: processes, their answers, their JSON, their text.

Nothing in this package knows what is judged. The other packages start processes, limit them, ask them and end them by
these modules alone; ruff's banned imports hold that.

=============== ========================================================================================
module          holds
=============== ========================================================================================
``supervisor``  the parent of each started program: everything that it starts ends with the suite
``supervised``  a started program with its supervisor: begun, signalled, ended, and how it ended
``child``       a program under test: output drained, announced ports, last words, two-step stop
``command``     a command that runs to its end, under bounds of time and output
``worker``      a module of ours in a process of its own, asked over a channel
``forks``       a keeper that has imported, a fork that works
``crew``        processes of ours that share work
``channel``     frames over a socket pair: a JSON header and byte strings
``lines``       JSON lines over pipes, by a published schema in both directions
``limits``      address space, processor time, file sizes, set from inside
``watch``       resident memory and processor time, watched from outside
``text``        foreign text made safe for a record, a terminal, a build log, XML
``parse``       foreign JSON under bounds of size, depth and number of values
``errors``      what can go wrong, as one tree
=============== ========================================================================================

It imports nothing here, so that a worker under another interpreter takes only the module that it needs.
"""
