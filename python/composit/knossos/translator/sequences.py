"""Comprehensions, and what they and loops go over: ranges, tuples, arrays, enumerate, zip."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import (
    Array,
    Code,
    Integers,
    Makers,
    Operators,
    Range,
    Sharing,
    Slices,
    Storage,
    Stored,
    same,
)
from composit._core.scalar import Expr
from composit.knossos.annotations import all_leaves
from composit.knossos.source import shown
from composit.knossos.translator.arrays import ArrayOf
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.mentions import NOTHING, Changes, names_in
from composit.knossos.translator.scope import Scope
from composit.knossos.translator.targets import Targets
from composit.knossos.values import (
    Mismatch,
    Record,
    is_number,
    kind_of,
    make,
    scalar,
    unnamed,
    with_article,
)


@dataclasses.dataclass(eq=False)
class Sequences:
    """A sequence is a Range; a tuple, of values that are known one by one; or an array, whose
    `at([i])` is an element, or a tuple of such."""

    code: Code
    operators: Operators
    scope: Scope
    integers: Integers
    sharing: Sharing
    storage: Storage
    slices: Slices
    targets: Targets
    makers: Makers
    expressions: Expressions

    def forms(self) -> Forms:
        return {ast.ListComp: self.of_listcomp, ast.GeneratorExp: self.of_listcomp}

    def sequence(self, node: ast.expr, changes: Changes = NOTHING) -> Any:
        """What a loop goes over, as it is before the loop."""
        function = self.scope.meaning_or_none(node.func) if isinstance(node, ast.Call) else None
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
        found = unnamed(self.expressions.value(node))
        if isinstance(found, tuple):
            return found
        if not isinstance(found, Array):
            self.scope.refuse(
                node, f"a loop over `{shown(node)}`, {with_article(kind_of(found))}",
                "Loops and comprehensions go over range(…), a tuple or an array.", TypeError,
            )  # fmt: skip
        if changed and not found.parts_of:  # elements would be computed when they are asked for
            found = self.storage.stored(found, "items")
        elif changed & changes.names:
            if changed & changes.elements:
                raise Mismatch(
                    f"{min(changed & changes.names)} is assigned in a loop over it",
                    "Use another name.",
                )
            found = self.storage.copied(found)
        return self.rows(found)

    def rows(self, array: Array) -> Array:
        """An array of one axis whose elements are those of the first axis."""
        return Array("", array.shape[:1], lambda at: self.slices.indexed(array, at), array.reads,
                     parts_of=array.parts_of)  # fmt: skip

    def range_of(self, node: ast.Call, changes: Changes = NOTHING) -> Range | Array:
        arguments = [self.expressions.value(argument) for argument in node.args]
        if not 1 <= len(arguments) <= 3 or node.keywords:
            self.scope.refuse(
                node, f"range of {len(arguments)} arguments", "One to three are required."
            )
        for argument in arguments:
            if kind_of(argument) not in ("int", "bool"):
                self.scope.refuse(node, f"range of {with_article(kind_of(argument))}",
                            "Integers are required.", TypeError)  # fmt: skip
        begin, end = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
        step = arguments[2] if len(arguments) == 3 else 1
        if is_number(step) and step == 0:
            self.scope.refuse(node, f"the step `{shown(node.args[2])}` is 0",
                        "Another integer is required.", ValueError)  # fmt: skip
        if not is_number(step):
            return self.makers.stepping(begin, end, step)
        return Range(begin, end, int(step))

    def _enumerated(self, node: ast.Call, changes: Changes) -> Any:
        named = {each.arg: each.value for each in node.keywords}
        given = [*node.args[1:], *([named.pop("start")] if "start" in named else [])]
        if not node.args or named or len(given) > 1:
            raise Mismatch("enumerate of other arguments", "One sequence and a start are required.")
        start = self.expressions.value(given[0]) if given else 0
        if kind_of(start) != "int":
            raise Mismatch(f"enumerate from {kind_of(start)}", "An integer is required.")
        items = self.items(self.sequence(node.args[0], changes), changes is NOTHING)
        if isinstance(items, tuple) and is_number(start):
            return tuple(enumerate(items, start))
        start = self.integers.kept(start, "start")
        if isinstance(items, tuple):
            return tuple((self.integers.plus(start, i), item) for i, item in enumerate(items))
        is_zero = is_number(start) and start == 0
        return Array(
            "",
            items.shape,
            lambda at: (at[0] if is_zero else self.integers.plus(start, at[0]), items.at(at)),
            items.reads,
        )

    def _zipped(self, node: ast.Call, changes: Changes) -> Any:
        named = {each.arg: self.expressions.value(each.value) for each in node.keywords}
        is_strict = named.pop("strict", False)
        if named or not isinstance(is_strict, bool):
            raise Mismatch("zip of other arguments", "Sequences alone are required.")
        given = [self.sequence(each, changes) for each in node.args]
        is_known = changes is NOTHING or any(isinstance(each, tuple) for each in given)
        whole = [self.items(each, is_known) for each in given]
        if all(isinstance(each, tuple) for each in whole):
            if is_strict and len({len(each) for each in whole}) > 1:
                raise Mismatch("zip of sequences of other lengths", "Equal ones are required.")
            return tuple(zip(*whole))
        arrays = [self.makers.counted(each) if isinstance(each, Range) else
                  self.choosing(each, changes) if isinstance(each, tuple) else each
                  for each in given]  # fmt: skip
        count = arrays[0].shape[0]
        for each in arrays[1:]:
            if is_strict:
                self.integers.require_same(count, each.shape[0])
            else:
                count = self._shorter(count, each.shape[0])
        reads = frozenset().union(*(each.reads for each in arrays))
        return Array("", (count,), lambda at: tuple(each.at(at) for each in arrays), reads)

    def _shorter(self, a: Any, b: Any) -> Any:
        a, b = self.integers.resolved(a), self.integers.resolved(b)
        if is_number(a) and is_number(b):
            return min(a, b)
        if same(a, b):
            return a
        return self.integers.extent(self.operators.select(self.operators.compare("<", b, a), b, a))

    def _reversed(self, node: ast.Call, changes: Changes) -> Any:
        if len(node.args) != 1 or node.keywords:
            raise Mismatch("reversed of other arguments", "One sequence is required.")
        inner = node.args[0]
        function = self.scope.meaning_or_none(inner.func) if isinstance(inner, ast.Call) else None
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
        return value - by if is_number(value) else self.integers.moved(value, -by)

    def _from_end(self, extent: Any, index: Any) -> Any:
        if is_number(index):
            return self.integers.moved(extent, -1 - index)
        return make("subtract", [self.code.integer(self.integers.moved(extent, -1)), index])

    def items(self, found: Any, is_known: bool = True) -> Any:
        """A range as a tuple where it is known, if that is wanted, else as an array: loops over
        ranges are not written out."""
        if not isinstance(found, Range):
            return found
        return (
            tuple(found.known)
            if is_known and found.known is not None
            else self.makers.counted(found)
        )

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
        if value.op == "argument" and self.code.whole(value.index) not in changes.names:
            return value
        return self.code.held(value, wanted)

    def _array_in_loop(self, value: Array, changes: Changes) -> Array:
        """An array that a loop goes over beside others. Parts of arrays stay parts, whose elements
        may change, unless nothing changes them."""
        if not value.parts_of or not self._numbers_of(changes.elements) & value.reads:
            return (
                value
                if isinstance(value, Stored) and not (self._numbers_of(changes.names) & value.reads)
                else self.storage.copied(value)
            )
        if self._numbers_of(changes.names) & value.reads or not isinstance(value, Stored):
            raise Mismatch("a loop over arrays that it assigns", "Use another name.")
        return value

    def _numbers_of(self, names: set[str]) -> set[int]:
        """The arrays that have these names."""
        known = [self.scope.structures[name] for name in names if name in self.scope.structures]
        arrays = [leaf for structure in known for leaf in all_leaves(structure)]
        return {leaf.stored.number for leaf in arrays if isinstance(leaf, ArrayOf)}

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
        items = self.items(self.sequence(generator.iter))
        if isinstance(items, Array):
            return self._comprehension(node, generator, items)
        results = []
        for item in items:
            self.targets.bind(generator.target, item)
            chosen = [self.operators.truth(self.expressions.value(test)) for test in generator.ifs]
            if not all(isinstance(each, bool) for each in chosen):
                raise Mismatch(
                    "a comprehension whose length depends on values",
                    "Write (… if condition else 0.0).",
                )
            if all(chosen):
                results.append(self.expressions.value(node.elt))
            self.scope.bound.pop()
        return tuple(results)

    def _comprehension(self, node: Any, generator: Any, items: Array) -> Any:
        if generator.ifs:
            raise Mismatch(
                "a comprehension whose length depends on values",
                "Write (… if condition else 0.0).",
            )
        element: Any = None

        def at(indices: list[Any]) -> Any:
            nonlocal element
            self.targets.bind(generator.target, items.at(indices[:1]))
            element = self.expressions.value(node.elt)
            self.scope.bound.pop()
            if isinstance(element, Array):
                return element.at(indices[1:]) if len(indices) > 1 else 0
            return scalar(element)

        first = self.code.leaf(
            self.code.hidden_variable("first", "int")
        )  # an index, for the kind alone
        kind = self.code.kind_by_trial(lambda: at([first]))
        shape, parts_of, lists = items.shape, frozenset[int](), 1
        if isinstance(element, Array):
            kind, shape = element.kind, (*shape, *element.shape)
            parts_of, lists = element.parts_of, 1 + element.is_list
        made = Array(kind, shape, at, items.reads, lists, parts_of=parts_of)
        if isinstance(node, ast.GeneratorExp):
            return made
        stored = self.storage.add_array("list", kind, shape, is_list=lists)
        self.storage.fill(stored, made)
        self.sharing.copy_of_parts(stored, made)
        self.sharing.make_fresh(stored.number)
        return stored
