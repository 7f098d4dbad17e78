"""Files of the suite: atomic writes, errors that name the file, and locks that admit one process at a time.

Nothing in this package knows what is written.

=============== ========================================================================================
module          contents
=============== ========================================================================================
``archives``    many small files in one archive, with the same bytes on every machine
``files``       files that ship with the suite, bounded reads, atomic writes, and errors that name the file
``locks``       one process at a time: for a log, a campaign's run, an environment
=============== ========================================================================================
"""
