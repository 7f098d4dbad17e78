"""Files of our own: written whole or not at all, named where they cannot be, and by one process at a time.

Nothing in this package knows what is written.

=============== ========================================================================================
module          holds
=============== ========================================================================================
``archives``    many small files in one, with the same bytes everywhere
``files``       whole writes, and errors that name the file
``locks``       one process at a time: for a log, a campaign's run, an environment
=============== ========================================================================================
"""
