"""Files of which parts are generated: those between ``<!-- made: NAME -->`` and ``<!-- end -->``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

__all__ = ["filled"]

_BLOCK: Final = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(file: Path, made: Mapping[str, Callable[[], Iterator[str]]]) -> str:
    """The text of ``file`` with each generated part made anew by the function of its name."""
    text = file.read_text(encoding="utf-8")
    return _BLOCK.sub(lambda block: block[1] + "".join(made[block[2]]()) + block[3], text)
