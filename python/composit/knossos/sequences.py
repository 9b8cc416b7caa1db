"""What loops and comprehensions go over: ranges, tuples, arrays, enumerate, zip, reversed."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import all_leaves
from composit.knossos.arrays import Array, Stored
from composit.knossos.ranges import Range
from composit.knossos.source import shown
from composit.knossos.terms import same
from composit.knossos.values import Mismatch, Record, is_number, kind_of, make, scalar, with_article
from composit.knossos.views import Views


class Changes:
    """What the body of a loop changes: names that it assigns, and arrays of which it assigns
    elements. `calls` are those that are known to change elements, by their places, with the names
    that the functions read of what stands around them."""

    def __init__(self, body: list[ast.stmt], calls: dict[Place, set[str]] | None = None) -> None:
        self.names = assigned_in(body)
        self.elements: set[str] = set().union(*(_mentioned(each).elements for each in body))
        for each in (node for statement in body if calls for node in ast.walk(statement)):
            if isinstance(each, ast.Call) and place_of(each) in calls:  # type: ignore[operator]
                self.elements |= names_in(each) | calls[place_of(each)]  # type: ignore[index]


Place = tuple[int, int]


def place_of(node: ast.Call) -> Place:
    return node.lineno, node.col_offset


class Mentioned(NamedTuple):
    """The names in a part of a text: all, those assigned, those of which elements are assigned."""

    names: frozenset[str]
    assigned: frozenset[str]
    elements: frozenset[str]


# Loops within loops ask for the same statements again and again.
_known: weakref.WeakKeyDictionary[ast.AST, Mentioned] = weakref.WeakKeyDictionary()


def _mentioned(node: ast.AST) -> Mentioned:
    known = _known.get(node)
    if known is not None:
        return known
    names, assigned, elements = set[str](), set[str](), set[str]()
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):  # whose names are its own
        inside = [_mentioned(each) for each in ast.iter_child_nodes(node)]
        return Mentioned(
            frozenset().union(*(each.names for each in inside)),
            frozenset([node.name]) if isinstance(node, ast.FunctionDef) else frozenset(),
            frozenset().union(*(each.elements for each in inside)),
        )
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (ast.FunctionDef, ast.Lambda)):
            _known[each] = _mentioned(each)
        inner = _known.get(each)
        if inner is not None:
            names |= inner.names
            assigned |= inner.assigned
            elements |= inner.elements
            continue
        if isinstance(each, ast.Name):
            names.add(each.id)
            if isinstance(each.ctx, ast.Store):
                assigned.add(each.id)
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            elements |= names_in(each.value)
        waiting.extend(ast.iter_child_nodes(each))
    made = Mentioned(frozenset(names), frozenset(assigned), frozenset(elements))
    _known[node] = made
    return made


def assigned_in(body: list[ast.stmt]) -> set[str]:
    return set().union(*(_mentioned(each).assigned for each in body))


def names_in(node: ast.AST) -> set[str]:
    return set(_mentioned(node).names)


NOTHING = Changes([])


class Sequences(Views):
    """Sequences: a Range; a tuple, of values that are known one by one; or an array, whose
    `at([i])` is an element, or a tuple of such."""

    bound: list[dict[str, Any]]  # the names of comprehensions, and others that stand for values
    refuse: Callable[..., NoReturn]
    structures: dict[str, Any]

    def whole(self, number: int) -> str:
        raise NotImplementedError

    def value(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def meaning_or_none(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def sequence(self, node: ast.expr, changes: Changes = NOTHING) -> Any:
        """What a loop goes over, as it is before the loop."""
        function = self.meaning_or_none(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call):
            for known, method in (
                (range, self.range_of), (enumerate, self._enumerated), (zip, self._zipped),
                (reversed, self._reversed),
            ):  # fmt: skip
                if function is known:
                    return method(node, changes)
        changed = names_in(node) & (changes.names | changes.elements)
        if changed and isinstance(node, ast.GeneratorExp):
            raise Mismatch(
                f"{min(changed)} changes in a loop over values that are computed of it",
                "Write [ and ] around them: they are computed before the loop.",
            )
        found = self.value(node)
        if isinstance(found, Record) and issubclass(found.made_by, tuple):
            found = tuple(found.fields.values())
        if isinstance(found, tuple):
            return found
        if not isinstance(found, Array):
            self.refuse(
                node, f"a loop over `{shown(node)}`, {with_article(kind_of(found))}",
                "Loops and comprehensions go over range(…), a tuple or an array.", TypeError,
            )  # fmt: skip
        if changed and not found.parts_of:  # elements would be computed when they are asked for
            found = self.stored(found, "items")
        elif changed & changes.names:
            if changed & changes.elements:
                raise Mismatch(
                    f"{min(changed & changes.names)} is assigned in a loop over it",
                    "Use another name.",
                )
            found = self._copied(found)
        return self.rows(found)

    def _copied(self, value: Array) -> Array:
        raise NotImplementedError

    def rows(self, array: Array) -> Array:
        """An array of one axis whose elements are those of the first axis."""
        return Array("", array.shape[:1], lambda at: self.indexed(array, at), array.reads,
                     parts_of=array.parts_of)  # fmt: skip

    # ----- Python's functions of sequences

    def range_of(self, node: ast.Call, changes: Changes = NOTHING) -> Range | Array:
        arguments = [self.value(argument) for argument in node.args]
        if not 1 <= len(arguments) <= 3 or node.keywords:
            self.refuse(node, f"range of {len(arguments)} arguments", "One to three are required.")
        for argument in arguments:
            if kind_of(argument) not in ("int", "bool"):
                self.refuse(node, f"range of {with_article(kind_of(argument))}",
                            "Integers are required.", TypeError)  # fmt: skip
        begin, end = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
        step = arguments[2] if len(arguments) == 3 else 1
        if is_number(step) and step == 0:
            self.refuse(node, f"the step `{shown(node.args[2])}` is 0",
                        "Another integer is required.", ValueError)  # fmt: skip
        if not is_number(step):
            return self.stepping(begin, end, step)
        return Range(begin, end, int(step))

    def _enumerated(self, node: ast.Call, changes: Changes) -> Any:
        named = {each.arg: each.value for each in node.keywords}
        given = [*node.args[1:], *([named.pop("start")] if "start" in named else [])]
        if not node.args or named or len(given) > 1:
            raise Mismatch("enumerate of other arguments", "One sequence and a start are required.")
        start = self.value(given[0]) if given else 0
        if kind_of(start) != "int":
            raise Mismatch(f"enumerate from {kind_of(start)}", "An integer is required.")
        items = self._items(self.sequence(node.args[0], changes), changes is NOTHING)
        if isinstance(items, tuple) and is_number(start):
            return tuple(enumerate(items, start))
        start = self.kept(start, "start")
        if isinstance(items, tuple):
            return tuple((self.plus(start, i), item) for i, item in enumerate(items))
        is_zero = is_number(start) and start == 0
        return Array(
            "", items.shape,
            lambda at: (at[0] if is_zero else self.plus(start, at[0]), items.at(at)), items.reads,
        )  # fmt: skip

    def _zipped(self, node: ast.Call, changes: Changes) -> Any:
        named = {each.arg: self.value(each.value) for each in node.keywords}
        is_strict = named.pop("strict", False)
        if named or not isinstance(is_strict, bool):
            raise Mismatch("zip of other arguments", "Sequences alone are required.")
        given = [self.sequence(each, changes) for each in node.args]
        is_known = changes is NOTHING or any(isinstance(each, tuple) for each in given)
        whole = [self._items(each, is_known) for each in given]
        if all(isinstance(each, tuple) for each in whole):
            if is_strict and len({len(each) for each in whole}) > 1:
                raise Mismatch("zip of sequences of other lengths", "Equal ones are required.")
            return tuple(zip(*whole))
        arrays = [self.counted(each) if isinstance(each, Range) else
                  self.choosing(each, changes) if isinstance(each, tuple) else each
                  for each in given]  # fmt: skip
        count = arrays[0].shape[0]
        for each in arrays[1:]:
            if is_strict:
                self.require_same(count, each.shape[0])
            else:
                count = self._shorter(count, each.shape[0])
        reads = frozenset().union(*(each.reads for each in arrays))
        return Array("", (count,), lambda at: tuple(each.at(at) for each in arrays), reads)

    def _shorter(self, a: Any, b: Any) -> Any:
        a, b = self.resolved(a), self.resolved(b)
        if is_number(a) and is_number(b):
            return min(a, b)
        if same(a, b):
            return a
        return self.extent(self.operators.select(self.operators.compare("<", b, a), b, a))

    def _reversed(self, node: ast.Call, changes: Changes) -> Any:
        if len(node.args) != 1 or node.keywords:
            raise Mismatch("reversed of other arguments", "One sequence is required.")
        inner = node.args[0]
        function = self.meaning_or_none(inner.func) if isinstance(inner, ast.Call) else None
        if function in (enumerate, zip, reversed) or isinstance(inner, ast.GeneratorExp):
            raise Mismatch("reversed of values that Python makes one by one",
                           "Reverse what they are made of.")  # fmt: skip
        items = self.sequence(inner, changes)
        if isinstance(items, tuple):
            return items[::-1]
        if isinstance(items, Array):
            extent, forward = items.shape[0], items
            return Array("", items.shape, lambda at: forward.at([self._from_end(extent, at[0])]),
                         items.reads, parts_of=items.parts_of)  # fmt: skip
        begin, end, step = items.begin, items.end, items.step
        if abs(step) == 1:
            return Range(self._less(end, step), self._less(begin, step), -step)
        binary = self.operators.binary
        steps = binary("//", binary("-", binary("-", end, begin), 1 if step > 0 else -1), step)
        last = binary("+", begin, binary("*", steps, step))
        return Range(last, binary("-", begin, step), -step)

    def _less(self, value: Any, by: int) -> Any:
        return value - by if is_number(value) else self.moved(value, -by)

    def _from_end(self, extent: Any, index: Any) -> Any:
        if is_number(index):
            return self.moved(extent, -1 - index)
        return make("subtract", [self.integer(self.moved(extent, -1)), index])

    # ----- one form as another

    def _items(self, found: Any, is_known: bool = True) -> Any:
        """A range as a tuple where it is known, if that is wanted, else as an array: loops over
        ranges are not written out."""
        if not isinstance(found, Range):
            return found
        return tuple(found.known) if is_known and found.known is not None else self.counted(found)

    def as_before(self, value: Any, changes: Changes, wanted: str = "item") -> Any:
        """What is computed for several reads, once: as it is before what changes it."""
        if isinstance(value, tuple):
            return tuple(self.as_before(each, changes, f"{wanted}_{i}")
                         for i, each in enumerate(value))  # fmt: skip
        if isinstance(value, Record):
            return Record(value.made_by, {
                key: self.as_before(each, changes, f"{wanted}_{key}")
                for key, each in value.fields.items()
            })  # fmt: skip
        if isinstance(value, Array):
            return self._array_in_loop(value, changes)
        if not isinstance(value, Expr) or value.op == "constant":
            return value
        if value.op == "argument" and self.whole(value.index) not in changes.names:
            return value
        made = self.hidden_variable(wanted, kind_of(value))
        self.out.append(Statement.assign(self.numbers[made], value, self.line))
        return self.leaf(made)

    def _array_in_loop(self, value: Array, changes: Changes) -> Array:
        """An array that a loop goes over beside others. Parts of arrays stay parts, whose elements
        may change, unless nothing changes them."""
        if not value.parts_of or not self._numbers_of(changes.elements) & value.reads:
            return value if isinstance(value, Stored) and not (
                self._numbers_of(changes.names) & value.reads) else self._copied(value)  # fmt: skip
        if self._numbers_of(changes.names) & value.reads or not isinstance(value, Stored):
            raise Mismatch("a loop over arrays that it assigns", "Use another name.")
        return value

    def _numbers_of(self, names: set[str]) -> set[int]:
        """The arrays that have these names."""
        known = [self.structures[name] for name in names if name in self.structures]
        arrays = [leaf for structure in known for leaf in all_leaves(structure)]
        return {leaf.stored.number for leaf in arrays if hasattr(leaf, "stored")}

    def choosing(self, items: tuple[Any, ...], changes: Changes) -> Array:
        """The parts of a tuple by an index that is not known."""
        items = self.as_before(items, changes)

        def at(indices: list[Any]) -> Any:
            if is_number(indices[0]):
                return items[indices[0] % len(items)]
            made = items[-1]
            for i in reversed(range(len(items) - 1)):
                is_here = self.operators.compare("==", indices[0], i)
                made = self.operators.select(is_here, items[i], made)
            return made

        return Array("", (len(items),), at)

    # ----- comprehensions

    def of_listcomp(self, node: Any) -> Any:
        if len(node.generators) != 1:
            raise Mismatch("a comprehension of several loops", "Write one within the other.")
        generator = node.generators[0]
        items = self._items(self.sequence(generator.iter))
        if isinstance(items, Array):
            return self._comprehension(node, generator, items)
        results = []
        for item in items:
            self._bind_target(generator.target, item)
            chosen = [self.operators.truth(self.value(test)) for test in generator.ifs]
            if not all(isinstance(each, bool) for each in chosen):
                raise Mismatch(
                    "a comprehension whose length depends on values",
                    "Write (… if condition else 0.0).",
                )
            if all(chosen):
                results.append(self.value(node.elt))
            self.bound.pop()
        return tuple(results)

    of_generatorexp = of_listcomp

    def _bind_target(self, target: ast.expr, item: Any) -> None:
        """The names of a target stand for the parts of an item, until `bound` is popped."""
        names: dict[str, Any] = {}
        self.spread(target, item, lambda each, part: names.update({self.name_of(each): part}))
        self.bound.append(names)

    def _comprehension(self, node: Any, generator: Any, items: Array) -> Any:
        if generator.ifs:
            raise Mismatch(
                "a comprehension whose length depends on values",
                "Write (… if condition else 0.0).",
            )
        element: Any = None

        def at(indices: list[Any]) -> Any:
            nonlocal element
            self._bind_target(generator.target, items.at(indices[:1]))
            element = self.value(node.elt)
            self.bound.pop()
            if isinstance(element, Array):
                return element.at(indices[1:]) if len(indices) > 1 else 0
            return scalar(element)

        first = self.leaf(self.hidden_variable("first", "int"))  # an index, for the kind alone
        kind = self.kind_by_trial(lambda: at([first]))
        shape, parts_of, lists = items.shape, frozenset[int](), 1
        if isinstance(element, Array):
            kind, shape = element.kind, (*shape, *element.shape)
            parts_of, lists = element.parts_of, 1 + element.is_list
        made = Array(kind, shape, at, items.reads, lists, parts_of=parts_of)
        if isinstance(node, ast.GeneratorExp):
            return made
        stored = self.add_array("list", kind, shape, is_list=lists)
        self.fill(stored, made)
        self.copy_of_parts(stored, made)
        self.fresh.add(stored.number)
        return stored
