"""The process of a target that attacks: ``python -m tests.hostile.launch server|program|adapter [ATTACK]``.

Whatever it does, it ends by itself after :data:`LIFE_SECONDS`, and what it starts does so too.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Final

from tests.hostile import attack

LIFE_SECONDS: Final = 120.0
"""Longer than any attack lasts, short enough for a machine that several people share."""

HOSTS: Final = {"server": "tests.hostile.host", "program": "tests.hostile.programs", "adapter": "tests.hostile.readers"}


def main() -> None:
    """Run the host of the role named first; an attack on its process is named second."""
    end = threading.Timer(LIFE_SECONDS, os._exit, (70,))
    end.daemon = True
    end.start()
    attack.attacks()
    importlib.import_module(HOSTS[sys.argv[1]]).main(*sys.argv[2:])


if __name__ == "__main__":
    main()
