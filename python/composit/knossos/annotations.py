"""What annotations say: numbers, tuples, NamedTuples and dataclasses of them."""

from __future__ import annotations

import ast
import builtins
import contextlib
import dataclasses
import sys
import typing
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.knossos.source import Source, shown
from composit.knossos.values import Listed

# What is compared and made of these structures in C++: composit/knossos/annotated.h.
annotated: Any = _core.knossos


class Leaf:
    """The structure of one number; its subclasses are those of several."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def result(self, numbers: list[Any]) -> Any:
        """The Python value of this structure; takes its numbers from the list's front."""
        count = len(all_leaves(self))
        made = annotated.put_together([self], numbers[:count], False)[0]
        del numbers[:count]
        return made


class Tensor:
    """The annotation of an array: Tensor[float, n, 3]. Extents are integers, or names, of which
    equal ones stand for equal extents."""

    def __class_getitem__(cls, given: Any) -> Any:
        kind, *extents = given if isinstance(given, tuple) else (given,)
        return TensorOf(getattr(kind, "__name__", str(kind)), *_without_names(extents))


class KnownExtent(int):
    """The value that a name has where an annotation stands: an extent."""

    name: str

    def __new__(cls, value: int, name: str) -> KnownExtent:
        made = super().__new__(cls, value)
        made.name = name
        return made


def _without_names(extents: list[Any]) -> tuple[tuple[Any, ...], dict[int, str]]:
    """The extents, and the names of those that have values, by their axes."""
    names = {axis: e.name for axis, e in enumerate(extents) if isinstance(e, KnownExtent)}
    return tuple(int(e) if isinstance(e, KnownExtent) else e for e in extents), names


class TensorOf(Leaf):
    """The structure of an array: the kind of its elements, and its extents. `names`: those of
    extents that are numbers because names mean numbers where the kernel is defined."""

    def __init__(
        self, kind: str, extents: tuple[Any, ...], names: dict[int, str] | None = None
    ) -> None:
        super().__init__(kind)
        self.extents, self.names = extents, names or {}


class Parts(Leaf):
    """A tuple, NamedTuple or dataclass."""

    def __init__(self, made_by: Any, parts: dict[Any, Leaf]) -> None:
        super().__init__("")
        self.made_by, self.parts = made_by, parts
        self.is_plain = made_by in (tuple, Listed)  # and no record


# all_leaves(structure): the numbers and arrays of a structure, in order. floats_among_parts(
# structures): what gradients or tangents of values have: structures of floats alone, else their
# floats.
all_leaves: Any = _core.knossos.all_leaves
floats_among_parts: Any = _core.knossos.floats_among_parts
_core.provide("knossos_leaf", Leaf)
_core.provide("knossos_parts", Parts)
_core.provide("knossos_tensor", TensorOf)


def fields_of(made_by: Any) -> dict[str, Any] | None:
    """The annotations of a NamedTuple's or dataclass's fields; None for other classes."""
    if not isinstance(made_by, type):
        return None
    if issubclass(made_by, tuple) and hasattr(made_by, "_fields"):
        hints = _hints(made_by)
        return {name: hints.get(name) for name in made_by._fields}
    if dataclasses.is_dataclass(made_by):
        hints = _hints(made_by)
        return {field.name: hints[field.name] for field in dataclasses.fields(made_by)}
    return None


def defaults_of(made_by: Any) -> dict[str, Any]:
    """The values of fields of a NamedTuple or dataclass where none is given; without those that a
    function makes."""
    if not dataclasses.is_dataclass(made_by):
        return made_by._field_defaults  # type: ignore[no-any-return]
    return {field.name: field.default for field in dataclasses.fields(made_by)
            if field.default is not dataclasses.MISSING}  # fmt: skip


def check_constructor(refuse: Callable[..., Any], node: ast.AST | None, made_by: Any) -> None:
    """Refuses a NamedTuple or dataclass that is more than its fields."""
    method = _own_constructor(made_by)
    if method is not None:
        refuse(
            node, f"{made_by.__name__} is made by its own {method}",
            "A NamedTuple or dataclass that only has fields is required.", TypeError,
        )  # fmt: skip


def _own_constructor(made_by: Any) -> str | None:
    """The method of a NamedTuple or dataclass that does more than to set its fields."""
    if dataclasses.is_dataclass(made_by):
        if hasattr(made_by, "__post_init__"):
            return "__post_init__"
        parameters = made_by.__dataclass_params__  # type: ignore[union-attr]
        sets = parameters.init and all(field.init for field in dataclasses.fields(made_by))
        return None if sets else "__init__"
    derived = tuple not in made_by.__bases__
    return next((m for m in ("__new__", "__init__") if derived and m in vars(made_by)), None)


def _hints(made_by: type) -> dict[str, Any]:
    """What annotations mean, or their texts, which mean something elsewhere."""
    try:
        return typing.get_type_hints(made_by, localns=_extents_of(made_by))
    except Exception:
        written = made_by.__annotations__
        return {name: getattr(each, "__forward_arg__", each) for name, each in written.items()}


def _extents_of(made_by: type) -> dict[str, Any]:
    """What the names of extents in a class's annotations mean: themselves, or integers."""
    meanings: dict[str, Any] = {}
    for base in made_by.__mro__:
        known = vars(sys.modules.get(base.__module__, builtins))
        for each in vars(base).get("__annotations__", {}).values():
            text = getattr(each, "__forward_arg__", each)
            with contextlib.suppress(SyntaxError):
                tree = ast.parse(text) if isinstance(text, str) else ast.Module([], [])
                for extent in _extents_in(tree):
                    found: Any = known.get(extent)
                    is_number = type(found) is int
                    meanings[extent] = KnownExtent(found, extent) if is_number else extent
    return meanings


def _extents_in(tree: ast.AST) -> list[str]:
    """The names that stand behind the first within Tensor[…]."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            with contextlib.suppress(SyntaxError):
                found += _extents_in(ast.parse(node.value))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            what = node.value.attr if isinstance(node.value, ast.Attribute) else (
                node.value.id if isinstance(node.value, ast.Name) else "")  # fmt: skip
            extents = node.slice.elts[1:] if what == "Tensor" else []
            found += [each.id for each in extents if isinstance(each, ast.Name)]
    return found


def meaning_of(source: Source, node: ast.expr) -> Any:
    """What an annotation's text means where the function was defined; None for nothing."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    text = node.value if is_text else ast.unparse(node)  # type: ignore[attr-defined]
    try:
        return eval(text, {"__builtins__": {}}, Names(source))
    except Exception:
        return None


def is_any_tensor(meaning: Any) -> bool:
    """Whether an annotation means torch.Tensor, PyTorch's or composit's, which says no axes."""
    is_class = isinstance(meaning, type) and meaning.__name__ == "Tensor"
    return is_class and meaning.__module__.partition(".")[0] in ("torch", "composit") and (
        meaning is not Tensor
    )  # fmt: skip


def structure_of(source: Source, node: ast.expr) -> Leaf:
    """The structure that an annotation's text means."""
    if isinstance(node, ast.Constant) and isinstance(node.value, Leaf):  # of examples
        return node.value
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    names = Names(source)
    written = node
    if text:
        with contextlib.suppress(SyntaxError):
            written = ast.parse(text, mode="eval").body
            for each in ast.walk(written):  # whose lines are those of the text alone
                ast.copy_location(each, node)
    if isinstance(written, ast.Subscript) and _is_tensor(source, written.value):
        return _tensor(source, written)
    if _holds_tensors(source, written):
        items = written.slice  # type: ignore[attr-defined]
        parts = items.elts if isinstance(items, ast.Tuple) else [items]
        return Parts(tuple, {i: structure_of(source, part) for i, part in enumerate(parts)})
    try:
        meaning = eval(text or ast.unparse(node), {"__builtins__": {}}, names)
    except Exception:
        source.refuse(node, f"the annotation `{shown(node)}` is not known", _wanted, NameError)
    return _structure(source, node, meaning)


def structures_of(source: Source) -> list[Leaf]:
    """The structures of a function's arguments. The extents that a record's class names are those
    of one record: a second one of the class has its own, where equal names need not be equal."""
    annotations = [each.annotation for each in source.tree.args.args]
    found = [structure_of(source, each) for each in annotations if each is not None]
    return annotated.with_own_extents(found)


def _is_tensor(source: Source, node: ast.expr) -> bool:
    try:
        return eval(ast.unparse(node), {"__builtins__": {}}, Names(source)) is Tensor
    except Exception:
        return False


def _holds_tensors(source: Source, node: ast.expr) -> bool:
    """Whether an annotation is tuple[…] with arrays in it."""
    is_tuple = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    return is_tuple and node.value.id == "tuple" and any(  # type: ignore[attr-defined]
        isinstance(each, ast.Subscript) and _is_tensor(source, each.value)
        for each in ast.walk(node)
    )  # fmt: skip


def _tensor(source: Source, node: ast.Subscript) -> TensorOf:
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kind = structure_of(source, given[0])
    extents: list[Any] = []
    for each in given[1:]:
        extent: Any = each.id if isinstance(each, ast.Name) else None
        if isinstance(each, ast.Constant):
            extent = each.value
        if isinstance(extent, str) and extent.isidentifier():
            try:
                known = source.meaning(extent)
            except KeyError:
                known = None
            extent = KnownExtent(known, extent) if type(known) is int else extent
        elif type(extent) is not int or extent < 1:
            source.refuse(
                each, f"the extent `{shown(each)}`", "A name or a positive integer is required.",
                TypeError,
            )  # fmt: skip
        extents.append(extent)
    if type(kind) is not Leaf or not extents or len(extents) > 4:
        source.refuse(
            node, f"the annotation `{shown(node)}` is no type of kernels",
            "Tensor[float, n] with float, int or bool and one to four extents is required.",
            TypeError,
        )  # fmt: skip
    return TensorOf(kind.kind, *_without_names(extents))


class Names(dict):
    """What names mean where a function was defined."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source

    def __missing__(self, name: str) -> Any:
        return self.source.meaning(name)


_wanted = (
    "float, int, bool, Tensor[float, n], tuple[float, float], or a NamedTuple or dataclass of "
    "these is required."
)


def _structure(source: Source, node: ast.AST, meaning: Any) -> Leaf:
    if isinstance(meaning, str):
        return structure_of(source, ast.copy_location(ast.Constant(meaning), node))
    if meaning in (builtins.float, builtins.int, builtins.bool):
        return Leaf(meaning.__name__)
    if isinstance(meaning, TensorOf):
        if meaning.kind not in ("float", "int", "bool") or not meaning.extents:
            source.refuse(node, f"the annotation `{shown(node)}` is no type of kernels", _wanted)
        extents = [getattr(each, "__name__", each) for each in meaning.extents]
        for each in extents:
            if not (isinstance(each, str) or (type(each) is int and each > 0)):
                source.refuse(
                    node, f"the extent {each!r} of an array in `{shown(node)}`",
                    "A name or a positive integer is required.", TypeError,
                )  # fmt: skip
        return TensorOf(meaning.kind, tuple(extents), meaning.names)
    if typing.get_origin(meaning) is tuple:
        arguments = typing.get_args(meaning)
        if arguments and Ellipsis not in arguments:
            parts = [_structure(source, node, argument) for argument in arguments]
            return Parts(tuple, dict(enumerate(parts)))
    fields = fields_of(meaning)
    if fields:
        check_constructor(source.refuse, node, meaning)
        return Parts(meaning, {k: _structure(source, node, f) for k, f in fields.items()})
    source.refuse(node, f"the annotation `{shown(node)}` is no type of kernels", _wanted, TypeError)


__all__ = ["Leaf", "Parts", "Tensor", "TensorOf", "fields_of", "structure_of"]
