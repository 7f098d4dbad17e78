"""The mutation operators: which changes are made to the code, and where none is made."""

import ast
from collections.abc import Iterable, Iterator, Sequence

import parso
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.operators.provider import OperatorProvider
from parso.python.tree import Name
from parso.tree import NodeOrLeaf

# Whose removal or change cannot change a result: a memo only saves time, slots only save memory.
_MEMOS = frozenset({"cache", "lru_cache", "once_per_view", "per_schema"})
# Both need names of variables as arguments, and draw their replacement from the global random source.
_NEED_ARGUMENTS = frozenset({"VariableReplacer", "VariableInserter"})


class RemoveStatement(Operator):
    """Replaces a statement that acts with `pass`: a call, a `yield`, a `raise`, an augmented assignment."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """The statement, if it is one that acts."""
        if node.type == "simple_stmt" and _acts(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        """The same line with `pass`."""
        first = node.children[0]
        node.children[0] = Name("pass", first.start_pos, prefix=first.get_first_leaf().prefix)
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        """The examples that cosmic-ray prints for this operator."""
        return (Example("f(x)\n", "pass\n"), Example("x += 1\n", "pass\n"), Example("raise x\n", "pass\n"))


def _acts(statement: NodeOrLeaf) -> bool:
    if statement.type in {"yield_expr", "raise_stmt"}:
        return True
    if statement.type == "expr_stmt":
        # A plain assignment is left: without it the next use of the name fails at once, and the score looks better.
        return statement.children[1].type == "operator" and statement.children[1].value != "="
    return statement.type in {"atom_expr", "power"} and statement.children[-1].get_code().startswith("(")


def operators() -> dict[str, Operator]:
    """The operators in use, by name: cosmic-ray's without those in `LEFT_OUT`, and `RemoveStatement`."""
    provider = OperatorProvider()
    made: dict[str, Operator] = {}
    for name in provider:
        if name in _IDENTITY or not (name in _NEED_ARGUMENTS or name.endswith(("_Is", "_IsNot"))):
            made[name] = provider[name]()
    made["RemoveStatement"] = RemoveStatement()
    return made


# `is None` for `is not None` is a change like any other.
_IDENTITY = frozenset({"ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is"})


def without_effect(operator: str, old: Sequence[str]) -> bool:
    """Whether a drawn change is passed over, because it can change no result; `LEFT_OUT` says why."""
    if operator == "RemoveDecorator":
        removed = [line.strip() for line in old if line.strip().startswith("@")]
        return removed[0].removeprefix("@").partition("(")[0].rpartition(".")[2] in _MEMOS
    return operator in {"ReplaceComparisonOperator_Is_Eq", "ReplaceComparisonOperator_IsNot_NotEq"}


class Exempt:
    """The places of one file where a change has no effect when the program runs; `LEFT_OUT` names them."""

    def __init__(self, source: str) -> None:
        lines = source.split("\n")
        self._ranges: list[tuple[tuple[int, int], tuple[int, int]]] = []
        for node in _exempt(ast.parse(source)):
            start = _position(lines, node.lineno, node.col_offset)
            end = _position(lines, node.end_lineno or node.lineno, node.end_col_offset or 0)
            self._ranges.append((start, end))

    def __contains__(self, position: tuple[int, int]) -> bool:
        return any(start <= position < end for start, end in self._ranges)


def _position(lines: list[str], line: int, byte: int) -> tuple[int, int]:
    """Python's tree counts bytes in a line, parso's counts characters."""
    return line, len(lines[line - 1].encode()[:byte].decode())


def _exempt(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.If | ast.Assign) and _says_nothing(node):
            yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.returns is not None:
                yield node.returns
            yield from _decorators(node)
        elif isinstance(node, ast.ClassDef):
            yield from (word.value for decorator in node.decorator_list for word in _slots(decorator))


def _says_nothing(node: ast.If | ast.Assign) -> bool:
    if isinstance(node, ast.If):
        return _name(node.test) == "TYPE_CHECKING"
    return [_name(target) for target in node.targets] == ["__all__"]


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr | ast.stmt]:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _name(called) == "overload":
            yield node
        elif _name(called) in _MEMOS:
            yield decorator


def _slots(decorator: ast.expr) -> Iterator[ast.keyword]:
    if isinstance(decorator, ast.Call) and _name(decorator.func) == "dataclass":
        yield from (word for word in decorator.keywords if word.arg == "slots")


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def parsed(source: str) -> NodeOrLeaf:
    """The tree that cosmic-ray's operators work on."""
    return parso.parse(source)
