"""Statements with arrays: assignments of arrays and elements, returns, loops over arrays."""

from __future__ import annotations

import ast
from typing import Any

from composit._core.procedure import Statement
from composit.knossos.annotations import Leaf, Parts, TensorOf
from composit.knossos.arrays import Array, Stored
from composit.knossos.expressions import Expressions
from composit.knossos.slices import NEW_AXIS
from composit.knossos.source import shown
from composit.knossos.terms import same, variables_of
from composit.knossos.values import (
    KINDS,
    Listed,
    Mismatch,
    Record,
    is_number,
    kind_of,
    scalar,
)
from composit.knossos.views import Restart


class ArrayOf(Leaf):
    """The structure of a variable that is an array."""

    def __init__(self, stored: Stored, block: Any = None) -> None:
        super().__init__(stored.kind)
        self.stored, self.block = stored, block  # the block that the array was made in

    def build(self, leaf: Any, name: str) -> Any:
        return self.stored

    def leaves(self, name: str) -> list[tuple[str, str]]:
        return []

    def outline(self) -> str:
        return f"an array of {len(self.stored.shape)} axes"


class ArrayStatements(Expressions):
    """What the translator's statements do where values are arrays."""

    head: list[int]
    outputs: dict[int, Stored]
    count_of_returns: int
    parameter_count: int
    defined: set[str] | None
    kinds: dict[str, str]
    nesting: int
    frames: list[Any]
    copied: set[str]  # the arguments whose names stand for copies of them

    def add_variable(self, name: str, kind: str) -> int:
        raise NotImplementedError

    def add_array_parameter(self, wanted: str, structure: TensorOf) -> Stored:
        """An input array; its named extents are parameters, too."""
        shape: list[Any] = []
        new: list[int] = []
        for extent in structure.extents:
            if isinstance(extent, str):
                if extent not in self.symbols:
                    taken = {each.arg for each in self.source.tree.args.args} | self.assigned
                    name = extent
                    while name in taken or name in self.numbers:
                        name += "_"
                    self.symbols[extent] = name
                    new.append(self.add_variable(name, "int"))
                shape.append(self.leaf(self.symbols[extent]))
            else:
                shape.append(extent)
        stored = self.add_array(wanted, structure.kind, tuple(shape), "input")
        self.head += [-1 - stored.number, *new]
        return stored

    symbols: dict[str, str]

    def whole(self, number: int) -> str:
        """What the text calls the variable, or the tuple or record that it is a part of."""
        return self.whole_of(self.variables[number][0])

    def is_of_parameters(self, value: Any) -> bool:
        if is_number(value):
            return True
        if value.op == "argument":
            is_parameter = value.index < self.parameter_count
            return is_parameter and self.whole(value.index) not in self.assigned
        return value.op == "constant" or (
            bool(value.operands) and all(map(self.is_of_parameters, value.operands))
        )

    # ----- assignments

    def assign_array(self, name: str, value: Array, node: ast.AST) -> None:
        known = self.structures.get(name)
        before = known.stored if isinstance(known, ArrayOf) else None
        self._assign_array(name, value, node)
        after = self.structures[name]
        is_other = before is not None and before is not getattr(after, "stored", None)
        # A name of a loop that is written out may stand for the array, too.
        if before is not None and is_other and not before.is_argument and not any(self.bound):
            self.let_go(before.number)

    def _assign_array(self, name: str, value: Array, node: ast.AST) -> None:
        known = self.structures.get(name)
        if isinstance(known, ArrayOf) and known.stored.number in self.ended:
            # Made in a branch or loop that has ended, which nothing can read any more.
            known = None if self.whole_of(name) not in (self.defined or ()) else known
        number = value.number if isinstance(value, Stored) else None
        if isinstance(known, ArrayOf) and known.stored.number == number:
            return
        is_new = isinstance(value, Stored) and value.number in self.fresh and not value.is_argument
        if isinstance(known, ArrayOf) and known.stored.is_argument:
            self.rebind_argument(name)
            known = None
        if isinstance(known, ArrayOf) and known.block is self.out:
            # What is assigned in the block that made the array is an array of its own, where it
            # is made of the one before or has another form.
            has_form = known.stored.kind == value.kind and self._has_shape(known.stored, value)
            is_other = not has_form or known.stored.number in value.reads
            if is_other and not self.is_read_behind_a_break(self.whole_of(name)):
                known = None
        if known is None:
            if is_new and isinstance(value, Stored):
                self._rename(value, name)
                self.fresh.discard(value.number)
                self.structures[name] = ArrayOf(value, self.out)
                return
            stored = self.add_array(name, value.kind, value.shape, is_list=value.is_list)
            self.structures[name] = ArrayOf(stored, self.out)
        elif not isinstance(known, ArrayOf) or known.outline() != Leaf.of(value).outline():
            self.refuse(
                node, f"{name} is an array of {len(value.shape)} axes here and "
                f"{known.outline()} before", "A variable keeps its structure: use another name.",
                TypeError,
            )  # fmt: skip
        else:
            stored = known.stored
            for a, b in zip(stored.shape, value.shape):
                self.require_same(a, b)
            if stored.number in value.elsewhere:
                value = self._copied(value)
            self.overwritten(stored.number)
        is_again = known is not None and known.block is not self.out
        if stored.number in value.reads:  # each element its own: the array is not made anew
            self.nest(value.shape, lambda at: self.store(stored, at, value.at(at)))
        else:
            self.fill(stored, value, is_again)
        self.copy_of_parts(stored, value)

    def is_read_behind_a_break(self, name: str) -> bool:
        """Whether a loop around may have been left already, with the array that a name has now."""
        raise NotImplementedError

    def _has_shape(self, stored: Stored, value: Array) -> bool:
        is_like = len(stored.shape) == len(value.shape)
        return is_like and all(
            same(self.resolved(a), self.resolved(b)) for a, b in zip(stored.shape, value.shape)
        )

    def rebind_argument(self, name: str) -> None:
        """A name of an argument is assigned: in the outermost block it stands for another array
        from here on; elsewhere for an array of its own from the beginning, which is a copy."""
        if self.nesting > 0:
            self.copied.add(name)
            raise Restart

    def copy_arguments(self, tree: ast.FunctionDef) -> None:
        """Gives the names of arguments that are assigned in branches or loops copies of these."""
        for argument in tree.args.args:
            if argument.arg in self.copied:
                value = self.structures[argument.arg].build(self.leaf, argument.arg)
                self.structures[argument.arg] = self._copies_of(argument.arg, value)

    def _copies_of(self, name: str, value: Any) -> Leaf:
        if isinstance(value, Stored):
            made = self.add_array(name, value.kind, value.shape)
            self.fill(made, value)
            self.copy_of_parts(made, value)
            self.structures[name] = ArrayOf(made, self.out)
            return self.structures[name]
        if isinstance(value, tuple):
            return Parts(tuple, {k: self._copies_of(f"{name}.{k}", part)
                                 for k, part in enumerate(value)})  # fmt: skip
        if isinstance(value, Record):
            return Parts(value.made_by, {k: self._copies_of(f"{name}.{k}", part)
                                         for k, part in value.fields.items()})  # fmt: skip
        return Leaf(kind_of(value))

    def structure_of_variable(self, name: str, value: Any) -> Leaf:
        """The structure of a variable that has just got the value, which knows the arrays."""
        if isinstance(value, Array):
            return self.structures[name]
        if isinstance(value, tuple):
            made_by = Listed if isinstance(value, Listed) else tuple
            return Parts(made_by, {k: self.structure_of_variable(f"{name}.{k}", part)
                                   for k, part in enumerate(value)})  # fmt: skip
        if isinstance(value, Record):
            return Parts(value.made_by, {k: self.structure_of_variable(f"{name}.{k}", part)
                                         for k, part in value.fields.items()})  # fmt: skip
        return Leaf(kind_of(value))

    @staticmethod
    def whole_of(name: str) -> str:
        """What the text calls a variable, or the tuple or record that it is a part of."""
        return name.partition(".")[0]

    def given_to_several(self, node: ast.Assign, value: Any) -> Any:
        """The value of `a = b = …`: computed once, before the first target is assigned."""
        names = [each.id for target in node.targets for each in ast.walk(target)
                 if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]  # fmt: skip
        return self._given_to(names, value)

    def _given_to(self, names: list[str], value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._given_to(names, part) for part in value)
        if isinstance(value, Record):
            parts = {key: self._given_to(names, part) for key, part in value.fields.items()}
            return Record(value.made_by, parts)
        if isinstance(value, Array):
            return value if isinstance(value, Stored) else self._copied(value)
        if is_number(value) or not any(self.whole(each) in names for each in variables_of(value)):
            return value
        name = self.hidden_variable("value", kind_of(value))
        self.out.append(Statement.assign(self.numbers[name], value, self.line))
        return self.leaf(name)

    def assign_arrays(self, pairs: list[tuple[str, Array]], node: ast.AST) -> None:
        """Arrays at once, `a, b = b, a`: one that reads what is assigned before it is computed
        first."""
        assigned = frozenset[int]()
        values = []
        for name, each in pairs:
            values.append(self._copied(each) if assigned & each.reads else each)
            known = self.structures.get(name)
            if isinstance(known, ArrayOf):
                assigned |= {known.stored.number}
        for (name, _), value in zip(pairs, values):
            self.assign_array(name, value, node)

    def _copied(self, value: Array) -> Array:
        made = self.add_array("new_value", value.kind, value.shape)
        self.fill(made, value)
        self.copy_of_parts(made, value)
        self.fresh.add(made.number)
        return made

    def _rename(self, stored: Stored, name: str) -> None:
        taken = {each for each, _, _, _ in self.arrays} | {each for each, _ in self.variables}
        if name not in taken:
            _, dtype, shape, role = self.arrays[stored.number]
            self.arrays[stored.number] = (name, dtype, shape, role)
            stored.name = name

    def assign_element(self, target: ast.Subscript, value: Any) -> None:
        """array[index] = value"""
        stored, given = self._target(target)
        self._assign_elements(stored, given, value)
        self.has_changed(stored)

    def _assign_elements(self, stored: Stored, given: list[Any], value: Any) -> None:
        element = self.indexed(stored, given) if self._is_partial(stored, given) else None
        if element is None:
            places = [self.place(index, extent) for index, extent in zip(given, stored.shape)]
            self.store(stored, places, scalar(value))
            return
        if isinstance(value, tuple):
            self._assign_each(stored, given, element, value)
            return
        if isinstance(value, Array):
            if stored.number in value.reads:
                value = self._copied(value)
            values = self.elementwise(lambda x: x, [value])
            for a, b in zip(element.shape, values.shape):
                self.require_same(a, b)
            if len(values.shape) != len(element.shape):
                raise Mismatch("an array of other axes", "As many axes are required.")
        else:
            number = scalar(value)
            values = Array(kind_of(number), element.shape, lambda at: number)
        places_of = self._places(stored, given)
        self.nest(element.shape, lambda at: self.store(stored, places_of(at), values.at(at)))

    def _assign_each(
        self, stored: Stored, given: list[Any], element: Array, value: tuple[Any, ...]
    ) -> None:
        """array[…] = (a, b): the numbers of a tuple, as elements of the one axis that is left."""
        if len(element.shape) != 1:
            raise Mismatch(f"a tuple for {len(element.shape)} axes", "One axis is required.")
        self.require_same(element.shape[0], len(value))
        places_of = self._places(stored, given)
        for k, each in enumerate(value):
            self.store(stored, places_of([k]), scalar(each))

    def _is_partial(self, stored: Stored, given: list[Any]) -> bool:
        return len(given) < len(stored.shape) or any(
            index is None or index is NEW_AXIS or isinstance(index, slice) for index in given
        )

    def _places(self, stored: Stored, given: list[Any]) -> Any:
        """The indices of the array's elements from those of what is left of its axes."""
        caught: list[Any] = []
        probe = Array(stored.kind, stored.shape, lambda at: caught.append(at))
        view = self.indexed(probe, given)

        def places(indices: list[Any]) -> list[Any]:
            caught.clear()
            view.at(indices)
            return caught[0]

        return places

    def _target(self, target: ast.Subscript) -> tuple[Stored, list[Any]]:
        holder, first = self._element_holder(target.value)
        if not isinstance(holder, Stored):
            if isinstance(holder, Array) and isinstance(target.value, ast.Subscript):
                raise Mismatch("an element of a part of an array", "Write a[i, j].")
            raise Mismatch(
                f"`{shown(target)}` is part of a value, which does not change",
                "Make a new tuple or record with the part replaced.",
            )
        self._check_changes(holder, f"an element of the argument {holder.name} is assigned")
        return holder, [*first, *self.indices(target.slice)]

    def _element_holder(self, node: ast.expr) -> tuple[Any, list[Any]]:
        """The array that `a[i]` of `a[i][j] = …` is a row of, and i; another value and nothing."""
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            holder, first = self._element_holder(node.value)
            if isinstance(holder, Stored) and len(first) + 1 < len(holder.shape):
                return holder, [*first, *self.indices(node.slice)]
        return self.value(node), []

    def change_in_place(self, stored: Stored, value: Array, node: ast.AugAssign) -> None:
        """array += …: its elements change, whatever names it has."""
        self._check_changes(stored, f"`{shown(node)}` changes the argument {stored.name}")
        if len(value.shape) != len(stored.shape):
            raise Mismatch(f"an array of {len(value.shape)} axes for {len(stored.shape)}",
                           "As many axes are required.")  # fmt: skip
        for a, b in zip(stored.shape, value.shape):
            self.require_same(a, b)
        if stored.number in value.elsewhere:
            value = self._copied(value)
        self.nest(stored.shape, lambda at: self.store(stored, at, value.at(at)))
        self.has_changed(stored)

    def _check_changes(self, stored: Stored, wrong: str) -> None:
        """Refuses to change elements that others have, too: a caller, or another name."""
        if stored.is_argument:
            name = stored.name
            raise Mismatch(
                f"{wrong}, and NumPy would change the caller's array",
                f"Write {name} = {name}.copy() before, and return {name}."
                if name.isidentifier()
                else "Assign to elements of a copy, and return it.",
            )
        self.check_own(stored)

    def augment_element(self, node: ast.AugAssign, symbol: str, value: Any) -> None:
        assert isinstance(node.target, ast.Subscript)
        stored, given = self._target(node.target)
        if self._is_partial(stored, given):
            part = self.indexed(stored, given)
            made = self.elementwise(
                lambda a, b: self.operators.of_elements(symbol, a, b), [part, value]
            )
            self.check_holds(stored.kind, made.kind, node)
            self._assign_elements(stored, given, made)
        else:
            self._augment(stored, given, symbol, value)
        self.has_changed(stored)

    def check_holds(self, kind: str, made: str, node: ast.AugAssign) -> None:
        """Refuses an operation in place whose results are of a larger kind than the array's
        elements: NumPy's arrays keep their dtype."""
        if KINDS.index(made) <= KINDS.index(kind):
            return
        instead = f"An array of {made} is required."
        if isinstance(node.target, ast.Name):
            written_out = ast.BinOp(node.target, node.op, node.value)
            instead = f"Write {node.target.id} = {shown(written_out)}."
        raise Mismatch(f"`{shown(node)}` puts {made}s into an array of {kind}", instead)

    def _augment(self, stored: Stored, given: list[Any], symbol: str, value: Any) -> None:
        places = [self.place(index, extent) for index, extent in zip(given, stored.shape)]
        if symbol in ("+", "-") and stored.kind == "float":
            number = scalar(value)
            if symbol == "-":
                number = self.operators.unary("-", number)
            added = self.operators.cast(number, "float")
            indices = [self.integer(place) for place in places]
            self.out.append(Statement.add(stored.number, indices, added, self.line))
            return
        old = stored.at(places)
        self.store(stored, places, self.operators.binary(symbol, old, scalar(value)))

    # ----- results

    def split(self, value: Any) -> list[Any]:
        """The numbers and arrays of a structure, in order."""
        if isinstance(value, tuple):
            return [leaf for part in value for leaf in self.split(part)]
        if isinstance(value, Record):
            return [leaf for part in value.fields.values() for leaf in self.split(part)]
        return [value]

    def check_declared(self, node: ast.AST, declared: Leaf, value: Any) -> None:
        """Refuses a result of another structure than the annotation's; extents that it names are
        those of arguments: known to be, or asserted. Numbers are converted elsewhere."""
        own = Leaf.of(value)
        if isinstance(declared, Parts) and isinstance(own, Parts):
            is_same = declared.made_by is own.made_by or (
                declared.made_by is tuple and issubclass(own.made_by, tuple)
            )
            if is_same and len(declared.parts) == len(own.parts):
                parts = value.fields.values() if isinstance(value, Record) else value
                for inner, part in zip(declared.parts.values(), parts):
                    self.check_declared(node, inner, part)
                return
        elif isinstance(declared, TensorOf) and isinstance(own, TensorOf):
            if declared.kind == own.kind and len(declared.extents) == len(own.extents):
                # Of functions that become part of others the names mean something elsewhere.
                extents = () if self.frames else declared.extents
                for wanted, extent in zip(extents, value.shape):
                    name = self.symbols.get(wanted, "") if isinstance(wanted, str) else ""
                    if name or not isinstance(wanted, str):
                        self.require_same(self.leaf(name) if name else wanted, extent)
                return
        elif type(declared) is type(own):
            return
        self.refuse(
            node, f"it returns {_outline(own)}, and {_outline(declared)} by its annotation",
            "A result of the annotation's structure is required.", TypeError,
        )  # fmt: skip

    def return_array(self, place: int, value: Array) -> None:
        """The value as the output array of this place among the results."""
        shape = tuple(map(self.in_parameters, value.shape))
        for extent in shape:
            if not self.is_of_parameters(extent):
                raise Mismatch(
                    "a result whose extents depend on what is computed",
                    "Extents of arguments, integer arguments and literals decide them.",
                )
        if isinstance(value, Stored):
            self.check_current(value.number)
        known = self.outputs.get(place)
        if known is None:
            is_own = isinstance(value, Stored) and not value.is_argument
            # Outputs stand in the order of the results, so that callers find them.
            last = max((each.number for each in self.outputs.values()), default=-1)
            is_in_order = isinstance(value, Stored) and value.number > last
            if isinstance(value, Stored) and is_own and is_in_order and self.count_of_returns == 1:
                name, dtype, _, _ = self.arrays[value.number]
                extents = [self.integer(extent) for extent in shape]
                self.arrays[value.number] = (name, dtype, extents, "output")
                self.outputs[place] = value
                return
            known = self.add_array("y", value.kind, shape, "output")
            self.outputs[place] = known
        for a, b in zip(known.shape, value.shape):
            self.require_same(a, b)
        self.fill(known, value)


def _outline(structure: Leaf) -> str:
    is_array = isinstance(structure, TensorOf)
    return f"{structure.outline()} of {structure.kind}" if is_array else structure.outline()
