"""Small changes of a source file, each of which some test ought to notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_COMPARED: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES: Final = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where, the line it was made in, what was changed, and the whole changed source."""

    function: str
    line: str
    change: str
    number: int
    """Line number, for people; it is no part of the key."""
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when other lines of the file change."""
        return self.function, self.line, self.change


def mutants_of(source: str) -> Iterator[Mutant]:
    """Every mutant of a Python file; equal changes of one line are told apart by a count."""
    count = sum(1 for _ in _changes(ast.parse(source)))
    lines, seen = source.splitlines(), dict[tuple[str, str, str], int]()
    for i in range(count):
        tree = ast.parse(source)
        where, node, change, apply = next(c for n, c in enumerate(_changes(tree)) if n == i)
        apply()
        line = lines[node.lineno - 1].strip()
        again = seen[where, line, change] = seen.get((where, line, change), 0) + 1
        label = change if again == 1 else f"{change} ({again})"
        yield Mutant(where, line, label, node.lineno, ast.unparse(ast.fix_missing_locations(tree)))


def _changes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, str, object]]:
    yield from _walk(tree, "module")


def _walk(node: ast.AST, where: str) -> Iterator[tuple[str, ast.AST, str, object]]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST):
                continue
            if name == "body" and isinstance(value, list) and isinstance(child, ast.stmt):
                yield from _dropped(value, i, where)
            yield from _here(child, where)
            inside = child.name if isinstance(child, ast.FunctionDef | ast.ClassDef) else where
            yield from _walk(child, inside)


def _dropped(body: list, i: int, where: str) -> Iterator[tuple[str, ast.AST, str, object]]:
    """Statements that do something by themselves."""
    statement = body[i]
    call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    guard = isinstance(statement, ast.If) and not statement.orelse
    if call or guard or isinstance(statement, ast.AugAssign | ast.Raise | ast.Delete):

        def drop() -> None:
            body[i] = ast.copy_location(ast.Pass(), statement)

        yield where, statement, f"drop {type(statement).__name__}", drop


def _here(node: ast.AST, where: str) -> Iterator[tuple[str, ast.AST, str, object]]:
    if isinstance(node, ast.Compare):
        for i, old in enumerate(node.ops):
            for new in _COMPARED[type(old)]:
                yield where, node, f"{type(old).__name__} -> {new.__name__}", _setting(node.ops, i, new())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _COMPUTED:
        new_op = _COMPUTED[type(node.op)]
        yield where, node, f"{type(node.op).__name__} -> {new_op.__name__}", _attribute(node, "op", new_op())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield where, node, f"{type(node.op).__name__} -> {other.__name__}", _attribute(node, "op", other())
    elif isinstance(node, ast.UnaryOp):
        kept = ast.UAdd() if isinstance(node.op, ast.USub) else None
        if kept is not None:
            yield where, node, "minus dropped", _attribute(node, "op", kept)
        elif isinstance(node.op, ast.Not | ast.Invert):
            twice = ast.UnaryOp(type(node.op)(), node.operand)
            yield where, node, "not dropped", _attribute(node, "operand", twice)
    elif isinstance(node, ast.Constant):
        for new in _constants(node.value):
            yield where, node, f"{node.value!r} -> {new!r}", _attribute(node, "value", new)
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        yield where, node, f"{node.id} -> {_NAMES[node.id]}", _attribute(node, "id", _NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield where, node, f"{node.attr} -> {_NAMES[node.attr]}", _attribute(node, "attr", _NAMES[node.attr])


def _constants(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    if isinstance(value, float):
        return (value * 1.25,) if value else (1.0,)
    return ()


def _attribute(node: ast.AST, name: str, value: object) -> object:
    return lambda: setattr(node, name, value)


def _setting(values: list, i: int, value: object) -> object:
    return lambda: values.__setitem__(i, value)
