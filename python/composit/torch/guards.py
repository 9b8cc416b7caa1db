"""What a captured function reads besides its arguments: globals, closures, modules and their
attributes; whether all of it is as it was."""

from __future__ import annotations

import builtins
import itertools
import operator
import types
from typing import Any

from composit._core import leaf_type
from composit.torch import dtypes
from composit.torch.calling import TensorBase, is_recorded
from composit.torch.nn.module import Module


class Unguarded(Exception):
    """The function reads what cannot be watched."""


_missing = object()
_constants = (bool, int, float, complex, str, bytes, type(None), type(...), slice, range,
              dtypes.dtype, dtypes.device)  # fmt: skip
_trusted = ("composit", "math", "cmath", "operator", "itertools", "functools", "typing", "numpy",
            "builtins", "collections", "warnings")  # fmt: skip
_functions = (types.FunctionType, types.MethodType)
_most = 20_000  # values
_groups = ("_parameters", "_buffers", "_modules")
_hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_acting = ("open", "input", "exec", "eval", "globals", "locals", "setattr", "delattr")
_contents, _code = operator.attrgetter("cell_contents"), operator.attrgetter("__code__")
_is_leaf, _record = operator.attrgetter("_is_leaf_with_grad"), operator.attrgetter("_record")


def _is_trusted(value: Any) -> bool:
    home = getattr(value, "__module__", None) or ""
    return home.split(".")[0] in _trusted and not home.startswith("composit.examples")


def _is_library(module: Any) -> bool:
    home = module.__name__
    return home.split(".")[0] in _trusted and "random" not in home


class Guards:
    """All that was read, in order, with what tells whether it is the same."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.found = self._all()
        self.held = self._held()

    def is_same(self) -> bool:
        """Whether all is as it was."""
        # Mostly everything is the very same object: that is seen without looking at single ones.
        sizes, values, kinds = self.held
        if (
            list(map(len, self.places)) == sizes
            and all(map(operator.is_, self._now(), values))
            and [leaf_type(x._lazy) for x in self.tensors] == kinds
        ):
            return True
        found = self.found
        try:
            now = self._all()
        except Unguarded:
            return False
        is_same = len(now) == len(found) and all(
            x is y or (type(x) is type(y) and type(x) in _constants and repr(x) == repr(y))
            for x, y in zip(now, found)
        )
        if is_same:
            self.held = self._held()
        return is_same

    def _now(self) -> Any:
        return itertools.chain(
            *[x.values() if hasattr(x, "values") else x for x in self.places],
            map(_contents, self.cells), map(_code, self.functions),
            map(_is_leaf, self.tensors), map(_record, self.tensors),
            itertools.starmap(dict.get, self.globals),
        )  # fmt: skip

    def _held(self) -> tuple[Any, ...]:
        kinds = [leaf_type(x._lazy) for x in self.tensors]
        return [len(x) for x in self.places], list(self._now()), kinds

    def _all(self) -> list[Any]:
        found: list[Any] = []
        seen: set[int] = set()
        waiting = [self.function]
        self.places: list[Any] = []  # dictionaries, lists and tuples whose items were found
        self.cells: list[Any] = []
        self.functions: list[Any] = []
        self.tensors: list[Any] = []
        self.globals: list[Any] = []  # (the globals, a name)
        while waiting:
            value = waiting.pop()
            found.append(value)
            if len(found) > _most:
                raise Unguarded("it reads too much to be watched")
            if isinstance(value, types.ModuleType) and not _is_library(value):
                raise Unguarded(f"it reads the module {value.__name__}")
            if isinstance(value, (*_constants, types.ModuleType)):
                continue
            if id(value) in seen:
                continue
            seen.add(id(value))
            waiting += self._within(value, found)
        return found

    def _within(self, value: Any, found: list[Any]) -> list[Any]:
        """What a value leads to; what is of the value itself is added to what was found."""
        if isinstance(value, TensorBase):
            self.tensors.append(value)
            found += [is_recorded(value), value._seen.dtype.name, str(tuple(value._seen.shape))]
            return []
        if isinstance(value, Module):
            return self._of_module(value, found)
        if isinstance(value, _functions):
            return [] if _is_trusted(value) else self._of_function(value)
        if isinstance(value, (tuple, list)):
            found.append(len(value))
            self.places.append(value)
            return list(value)
        if isinstance(value, dict):
            found.append(len(value))
            self.places.append(value)
            return [x for item in value.items() for x in item]
        if isinstance(value, (types.BuiltinFunctionType, type)) or callable(value):
            is_kind = isinstance(value, type)
            if _is_trusted(value) or (_is_trusted(type(value)) and not is_kind):
                return _of_wrapped(value)
            if isinstance(value, type) and issubclass(value, BaseException):
                return []
        raise Unguarded(f"it reads a {type(value).__name__}, which cannot be watched")

    def _of_module(self, module: Any, found: list[Any]) -> list[Any]:
        own = module.__dict__
        self.places.append(own)
        for name in _hooks:
            if own.get(name):
                raise Unguarded("a module has hooks")
            self.places.append(own.get(name, ()))
        made = []
        for group in _groups:
            self.places.append(own.get(group, ()))
            for name, held in own.get(group, {}).items():
                found.append(name)
                made.append(held)
        for name, held in own.items():
            if name not in _groups and not name.endswith("_hooks"):
                found.append(name)
                made += sorted(held) if isinstance(held, set) else [held]
        for kind in type(module).__mro__:
            if kind is Module:
                break
            if not _is_trusted(kind):
                self.places.append(kind.__dict__)
                made += [
                    _plainly(x) for name, x in kind.__dict__.items() if not name.startswith("__")
                ]
        return made

    def _of_function(self, function: Any) -> list[Any]:
        made: list[Any] = []
        if isinstance(function, types.MethodType):
            made.append(function.__self__)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            raise Unguarded(f"it calls a {type(function).__name__}, which cannot be watched")
        self.functions.append(function)
        wrapped = getattr(function, "__wrapped__", None)
        made += [function.__code__.co_code, function.__defaults__]
        made += list((function.__kwdefaults__ or {}).values())
        if wrapped is not None:
            made.append(wrapped)
        for cell in function.__closure__ or ():
            try:
                made.append(cell.cell_contents)
                self.cells.append(cell)
            except ValueError:
                raise Unguarded("it reads a variable that has no value yet") from None
        names = _names_of(function.__code__)
        for name in sorted(names):
            value = function.__globals__.get(name, _missing)
            if value is _missing:
                if name in _acting and hasattr(builtins, name):
                    raise Unguarded(f"it calls {name}")
                continue  # an attribute's name, or a builtin
            if getattr(value, "__name__", "") == "numpy" and "random" in names:
                raise Unguarded("it draws by numpy.random")
            self.globals.append((function.__globals__, name))
            made.append(value)
        return made


def _of_wrapped(value: Any) -> list[Any]:
    """The function that an object of a library calls: of functools.partial, of a compiled one."""
    return [x for x in (getattr(value, "func", None), getattr(value, "function", None))
            if x is not None and not isinstance(value, type)]  # fmt: skip


def _plainly(value: Any) -> Any:
    """A class's attribute: the function of a property or a static method."""
    if isinstance(value, property):
        return value.fget
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value


def _names_of(code: Any) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names_of(constant)
    return found


def guards_of(function: Any) -> Guards:
    """What the function reads, as it is now. Unguarded where that is not possible."""
    return Guards(function)
