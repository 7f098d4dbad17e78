"""The values of a recipe: the values in the columns of a type, drawn from a seed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from conformance.drift.chance import Chance

__all__ = ["DrawnValues", "TypeDocument"]

TypeDocument = dict[str, Any]
"""A type in a recipe: its ``kind``, and the parameters of that kind."""


class DrawnValues:
    """Draws values of a type, limits more often than others, so that errors of width, sign and length show.

    ``seen`` is the share of a growing dictionary that may be used so far.
    """

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.seen = 1.0

    def column(self, made: TypeDocument, rows: int, nulls: float) -> list[Any]:
        """``rows`` values; the share ``nulls`` of them is null if the type has nulls of its own."""
        if made.get("runs"):
            return self._runs(made["value"], rows, nulls)
        if made["kind"].endswith("_union"):
            return [self.value(made) for _ in range(rows)]
        return [None if self.chance.random() < nulls else self.value(made) for _ in range(rows)]

    def _runs(self, made: TypeDocument, rows: int, nulls: float) -> list[Any]:
        values: list[Any] = []
        while len(values) < rows:
            values += self.column(made, 1, nulls) * self.chance.choice((1, 1, 2, 5))
        return values[:rows]

    def value(self, made: TypeDocument) -> Any:
        """One value that is not null."""
        name = made["kind"]
        if name in _DRAWN:
            return _DRAWN[name](self, made)
        low, high = _RANGES[name]
        return self.chance.choice((low, high, 0, 1, self.chance.randint(low, high)))

    def items(self, made: TypeDocument) -> list[Any]:
        """The items of one list, some of them null."""
        return self.column(made["item"]["type"], self.chance.choice((0, 1, 2, 3)), 0.2)

    def text(self, _: TypeDocument) -> str:
        """Text with lengths around the longest inline value of a view, and with characters beyond ASCII."""
        return self.chance.choice(_TEXTS)

    def raw(self, _: TypeDocument) -> dict[str, str]:
        """Bytes with lengths around the longest inline value of a view."""
        return {"hex": self.chance.randbytes(self.chance.choice((0, 1, 12, 13, 40))).hex()}

    def double(self, _: TypeDocument) -> dict[str, str]:
        """A float of any width, including NaN and infinities."""
        if self.chance.random() < 0.1:
            return {"f64": "nan"}
        number = self.chance.choice((0.0, -0.0, 1.5, -2.0, 65504.0, float("inf"), float("-inf"), 2.0**-14))
        return {"f64": struct.pack(">d", number).hex()}

    def decimal(self, made: TypeDocument) -> dict[str, str]:
        """An unscaled integer that fits the type's precision; the largest is drawn often."""
        most = 10 ** made["precision"] - 1
        return {"decimal": str(self.chance.choice((0, 1, -1, most, -most, self.chance.randint(-most, most))))}

    def pairs(self, made: TypeDocument) -> dict[str, Any]:
        """The entries of one map."""
        keys = self.chance.sample(_TEXTS, self.chance.choice((0, 1, 2)))
        return {"map": [[key, self.column(made["value"]["type"], 1, 0.2)[0]] for key in keys]}

    def choice(self, made: TypeDocument) -> list[Any]:
        """The type id of one of a union's children, and a value of that child."""
        number = self.chance.randrange(len(made["codes"]))
        return [made["codes"][number], self.column(made["fields"][number]["type"], 1, 0.2)[0]]

    def pooled(self, made: TypeDocument) -> Any:
        """One of the values that a dictionary has so far."""
        pool = made["pool"]
        if made["growth"] == "growing":
            pool = pool[: max(1, round(len(pool) * self.seen))]
        return self.chance.choice([one for one in pool if one is not None] or made["pool"])


_TEXTS: Final = ("", "a", "twelve bytes", "thirteen bytes", "zażółć gęślą jaźń", "\U0001f40d" * 4, "x" * 70)

_RANGES: Final[dict[str, tuple[int, int]]] = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
    "date32": (-(1 << 31), (1 << 31) - 1),
    "time32": (0, 86_399),
    "time64": (0, 86_399_999_999),
    "timestamp": (-(1 << 63), (1 << 63) - 1),
    "duration": (-(1 << 63), (1 << 63) - 1),
}
_DAY: Final = 86_400_000
"""Milliseconds per day: a date64 is a multiple of them (Schema.fbs, table Date)."""

_DRAWN: Final[dict[str, Callable[[DrawnValues, TypeDocument], Any]]] = {
    "null": lambda _, __: None,
    "bool": lambda values, _: values.chance.random() < 0.5,
    "date64": lambda values, _: values.chance.randint(-100_000, 100_000) * _DAY,
    "interval": lambda values, _: {"months": values.chance.choice((0, -1, 14)), "days": -3, "ns": 1_000_000_007},
    "fixed_size_binary": lambda values, made: {"hex": values.chance.randbytes(made["width"]).hex()},
    **dict.fromkeys(("float16", "float32", "float64"), DrawnValues.double),
    **dict.fromkeys(("decimal32", "decimal64", "decimal128", "decimal256"), DrawnValues.decimal),
    **dict.fromkeys(("utf8", "large_utf8", "string_view"), DrawnValues.text),
    **dict.fromkeys(("binary", "large_binary", "binary_view"), DrawnValues.raw),
    **dict.fromkeys(("list", "large_list", "list_view", "large_list_view"), DrawnValues.items),
    "fixed_size_list": lambda values, made: values.column(made["item"]["type"], made["size"], 0.2),
    "struct": lambda values, made: {
        "struct": [values.column(field["type"], 1, 0.2 if field["nullable"] else 0.0)[0] for field in made["fields"]]
    },
    "map": DrawnValues.pairs,
    **dict.fromkeys(("dense_union", "sparse_union"), DrawnValues.choice),
    "dictionary": DrawnValues.pooled,
    "run_end_encoded": lambda values, made: values.value(made["value"]),
}
