"""Names that get arrays: which array they stand for from here on."""

from __future__ import annotations

import ast
import dataclasses

from composit._core.knossos import Array, Code, Integers, Sharing, Storage, Stored, same, whole_of
from composit.knossos.annotations import Leaf
from composit.knossos.translator.arrays import ArrayOf, structure_with
from composit.knossos.translator.found import Found, Restart
from composit.knossos.translator.scope import Scope


@dataclasses.dataclass(eq=False)
class ArrayVariables:
    """An array in the procedure for each array that a name has, or one for several of them."""

    code: Code
    scope: Scope
    found: Found
    integers: Integers
    sharing: Sharing
    storage: Storage

    def _assign(self, name: str, value: Array, node: ast.AST) -> None:
        known = self.scope.structures.get(name)
        before = known.stored if isinstance(known, ArrayOf) else None
        self._assign_array(name, value, node)
        after = self.scope.structures[name]
        is_other = before is not None and before is not getattr(after, "stored", None)
        # A name of a loop that is written out may stand for the array, too.
        if before is not None and is_other and not before.is_argument and not any(self.scope.bound):
            self.sharing.let_go(before.number)

    def _assign_array(self, name: str, value: Array, node: ast.AST) -> None:
        known = self.scope.structures.get(name)
        if isinstance(known, ArrayOf) and self.sharing.has_ended(known.stored.number):
            # Made in a branch or loop that has ended, which nothing can read any more.
            known = None if whole_of(name) not in (self.scope.defined or ()) else known
        number = value.number if isinstance(value, Stored) else None
        if isinstance(known, ArrayOf) and known.stored.number == number:
            return
        is_own = isinstance(value, Stored) and not value.is_argument
        is_new = is_own and self.sharing.is_fresh(value.number)  # type: ignore[attr-defined]
        if isinstance(known, ArrayOf) and known.stored.is_argument:
            self._rebind_argument(name)
            known = None
        if isinstance(known, ArrayOf) and known.block is self.code.out:
            # What is assigned in the block that made the array is an array of its own, where it
            # is made of the one before or has another form.
            has_form = known.stored.kind == value.kind and self._has_shape(known.stored, value)
            is_other = not has_form or known.stored.number in value.reads
            if is_other and not self.scope.is_read_behind_a_break(whole_of(name)):
                known = None
        if known is None:
            if is_new and isinstance(value, Stored):
                self._rename(value, name)
                self.sharing.give_name(value.number)
                self.scope.structures[name] = ArrayOf(value, self.code.out)
                return
            stored = self.storage.add_array(name, value.kind, value.shape, is_list=value.is_list)
            self.scope.structures[name] = ArrayOf(stored, self.code.out)
        elif not isinstance(known, ArrayOf) or known.outline() != Leaf.of(value).outline():
            self.scope.refuse(
                node, f"{name} is an array of {len(value.shape)} axes here and "
                f"{known.outline()} before", "A variable keeps its structure: use another name.",
                TypeError,
            )  # fmt: skip
        else:
            stored = known.stored
            self.integers.require_shape(stored.shape, value.shape)
            if value.needs_others(stored.number):
                value = self.storage.copied(value)
            self.sharing.overwritten(stored.number)
        is_again = known is not None and known.block is not self.code.out
        if stored.number in value.reads:  # each element its own: the array is not made anew
            self.storage.store_all(stored, value)
        else:
            self.storage.fill(stored, value, is_again)
        self.sharing.copy_of_parts(stored, value)

    def _has_shape(self, stored: Stored, value: Array) -> bool:
        is_like = len(stored.shape) == len(value.shape)
        resolved = self.integers.resolved
        return is_like and all(
            same(resolved(a), resolved(b)) for a, b in zip(stored.shape, value.shape)
        )

    def _rebind_argument(self, name: str) -> None:
        """A name of an argument is assigned: in the outermost block it stands for another array
        from here on; elsewhere for an array of its own from the beginning, which is a copy."""
        if self.scope.nesting > 0:
            self.found.copied.add(name)
            raise Restart

    def copy_arguments(self, tree: ast.FunctionDef) -> None:
        """Gives the names of arguments that are assigned in branches or loops copies of these."""
        for argument in tree.args.args:
            if argument.arg in self.found.copied:
                value = self.scope.structures[argument.arg].build(self.code.leaf, argument.arg)
                self.scope.structures[argument.arg] = structure_with(
                    value, argument.arg, self._copy_of
                )

    def _copy_of(self, name: str, value: Array) -> Leaf:
        made = self.storage.add_array(name, value.kind, value.shape)
        self.storage.fill(made, value)
        self.sharing.copy_of_parts(made, value)
        self.scope.structures[name] = ArrayOf(made, self.code.out)
        return self.scope.structures[name]  # type: ignore[no-any-return]

    def assign_arrays(self, pairs: list[tuple[str, Array]], node: ast.AST) -> None:
        """Arrays at once, `a, b = b, a`: one that reads what is assigned before it is computed
        first."""
        assigned = frozenset[int]()
        values = []
        for name, each in pairs:
            values.append(self.storage.copied(each) if assigned & each.reads else each)
            known = self.scope.structures.get(name)
            if isinstance(known, ArrayOf):
                assigned |= {known.stored.number}
        for (name, _), value in zip(pairs, values):
            self._assign(name, value, node)

    def _rename(self, stored: Stored, name: str) -> None:
        if name not in self.storage.taken_names():
            self.code.rename_array(stored.number, name)
            stored.name = name
