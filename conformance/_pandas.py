"""Keep pandas out of a process that uses pyarrow and has no use for pandas.

Before pyarrow converts its first Python value it imports pandas, if that is installed, to find out whether the value is
a Series. That takes a quarter of a second, about as long as the other imports of most commands. pyarrow imports pandas
as well to infer the type of values, and in ``to_numpy``: such a process gives the type, and calls :func:`to_numpy`.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["leave_pandas_out", "to_numpy"]

_NAME: Final = "pandas"


def leave_pandas_out(*, always: bool = False) -> None:
    """Let pyarrow look for pandas once, and find none; nothing changes if pandas is already imported.

    Whoever imports pandas later gets it, and pyarrow then knows its classes as if it had found them at once. With
    ``always`` nobody gets it, pyarrow included. Call this before the process converts its first value; modules that
    convert values while they are imported call it themselves.
    """
    if _NAME in sys.modules:
        return
    finder = next((one for one in sys.meta_path if isinstance(one, _Finder)), None)
    if finder is None:
        finder = _Finder()
        sys.meta_path.insert(0, finder)
        pa.array([], pa.null())
        finder.hidden = False
    finder.hidden = finder.hidden or always


def to_numpy(array: pa.Array) -> npt.NDArray[Any]:
    """The integers or truth values of an array without NULLs.

    Raises:
        TypeError: the array has another type, or a NULL.
    """
    count, start = len(array), array.offset
    if array.null_count or not (pa.types.is_integer(array.type) or pa.types.is_boolean(array.type)):
        raise TypeError(f"expected integers or truth values without NULL, got {array.type}")
    if not count:
        return np.zeros(0, np.bool_ if pa.types.is_boolean(array.type) else str(array.type))
    if pa.types.is_integer(array.type):
        kind = np.dtype(str(array.type))
        return np.frombuffer(array.buffers()[1], kind, count, start * kind.itemsize)
    first = start // 8
    packed = np.frombuffer(array.buffers()[1], np.uint8, (start + count + 7) // 8 - first, first)
    return np.unpackbits(packed, bitorder="little")[start % 8 :][:count].view(np.bool_)


class _Finder:
    """Finds no pandas while it is ``hidden``; afterwards it finds the real one, and shows that to pyarrow."""

    hidden = True

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of pandas; None for every other module, and where pandas is not installed."""
        if name != _NAME:
            return None
        if self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module: types.ModuleType) -> None:
                execute(module)
                pa.array([], pa.null()).to_pandas()  # unlike conversions from Python, this looks for pandas again

            spec.loader.exec_module = executed  # type: ignore[method-assign]  # the loader of this import alone
        return spec
