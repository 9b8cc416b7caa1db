"""Pickles of strangers, followed by a machine that knows the instructions of data alone: numbers,
texts, containers, and calls of functions that are named in a table."""

from __future__ import annotations

import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn


class Broken(Exception):
    """The pickle is damaged."""


class _Mark:
    """Where a container's items begin on the stack."""


_mark = _Mark()


class Machine:
    """Follows one pickle. `named` are the values that it may name, by (module, name), and
    `functions` those of them that it may call; `persistent` makes what stands outside of the
    pickle; `classes` are those of which it may make objects."""

    def __init__(
        self, named: dict[tuple[str, str], Any], functions: list[Any],
        persistent: Callable[[Any], Any], classes: tuple[type, ...] = (),
    ) -> None:  # fmt: skip
        self._globals, self._persistent, self._classes = named, persistent, classes
        self._functions = {id(function) for function in functions}
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, content: bytes) -> Any:
        """The value. Broken for a damaged pickle, pickle.UnpicklingError for one that names what
        it may not."""
        try:
            for instruction, argument, _ in pickletools.genops(content):
                name = instruction.name
                if name == "STOP":
                    break
                follow = _instructions.get(name)
                if follow is None:
                    raise Broken(f"it has the instruction {name}, which torch.save does not write")
                follow(self, argument)
            if len(self._stack) != 1 or self._stack[0] is _mark:
                raise Broken("it does not end with one value")
            return self._stack[0]
        except (Broken, pickle.UnpicklingError):
            raise
        except (IndexError, KeyError):
            raise Broken("it takes values that are not there") from None
        except RecursionError:
            raise Broken("it is nested too deep") from None
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise Broken(str(error).splitlines()[0] if str(error) else "it is cut off") from None

    # ----- the stack

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _items(self) -> list[Any]:
        """The values above the last mark, which is taken away."""
        stack = self._stack
        at = len(stack) - 1
        while stack[at] is not _mark:
            at -= 1
            if at < 0:
                raise Broken("it takes values that are not there")
        items = stack[at + 1 :]
        del stack[at:]
        return items

    def _container(self, kind: type) -> Any:
        made = self._stack[-1]
        if not isinstance(made, kind):
            raise Broken(f"it adds items to a {type(made).__name__}")
        return made

    # ----- instructions

    def _remember(self, number: Any) -> None:
        self._memo[len(self._memo) if number is None else number] = self._stack[-1]

    def _recall(self, number: int) -> None:
        self._push(self._memo[number])

    def _tuple(self, count: int) -> None:
        items = self._stack[len(self._stack) - count :]
        if len(items) != count or _mark in items:
            raise Broken("it takes values that are not there")
        del self._stack[len(self._stack) - count :]
        self._push(tuple(items))

    def _set_items(self, items: list[Any]) -> None:
        if len(items) % 2:
            raise Broken("a key has no value")
        made = self._container(dict)
        for key, value in zip(items[::2], items[1::2]):
            made[key] = value

    def _pair(self) -> list[Any]:
        value, key = self._stack.pop(), self._stack.pop()
        return [key, value]

    def _named(self, module: Any, name: Any) -> None:
        if (module, name) not in self._globals:
            refuse(module, name)
        self._push(self._globals[module, name])

    def _of_stack(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._named(module, name)

    def _call(self) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        if id(function) not in self._functions:
            raise Broken(f"it calls a {type(function).__name__}")
        if not isinstance(arguments, tuple):
            raise Broken("it calls a function without a tuple of arguments")
        self._push(function(*arguments))

    def _make(self, named: dict[str, Any]) -> None:
        arguments, kind = self._stack.pop(), self._stack.pop()
        if not isinstance(kind, type) or not (kind in self._classes or kind is OrderedDict):
            raise Broken("it makes an object of what is no class that may be loaded")
        self._push(kind.__new__(kind, *arguments, **named))

    def _make_named(self) -> None:
        self._make(self._stack.pop())

    def _state(self) -> None:
        state = self._stack.pop()
        made = self._stack[-1]
        if type(made) is OrderedDict:
            if not isinstance(state, dict) or set(state) - {"_metadata"}:
                raise Broken("it gives a dictionary other attributes than _metadata")
            made.__dict__.update(state)
        elif isinstance(made, self._classes):
            if hasattr(made, "__setstate__"):
                made.__setstate__(state)
            else:
                own, slots = state if isinstance(state, tuple) else (state, None)
                made.__dict__.update(own or {})
                for name, value in (slots or {}).items():
                    object.__setattr__(made, name, value)
        else:
            raise Broken(f"it gives a {type(made).__name__} a state")

    def _stand_in(self) -> None:
        self._push(self._persistent(self._stack.pop()))


def refuse(module: Any, name: Any) -> NoReturn:
    """UnpicklingError: the pickle names what it may not."""
    raise pickle.UnpicklingError(
        f"it names {module}.{name}, which may run code and is not loaded with weights_only=True. "
        "Tensors, numbers, texts and containers of them are; so are classes that were given to "
        "torch.serialization.add_safe_globals. weights_only=False loads files that you trust."
    )


def _of_value(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, lambda machine, value: machine._push(value))


def _of_constant(name: str, make: Callable[[], Any]) -> dict[str, Any]:
    return {name: lambda machine, _: machine._push(make())}


_instructions: dict[str, Any] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
    **_of_value("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE",
                "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES"),
    **_of_constant("NONE", lambda: None), **_of_constant("NEWTRUE", lambda: True),
    **_of_constant("NEWFALSE", lambda: False), **_of_constant("EMPTY_TUPLE", tuple),
    **_of_constant("EMPTY_LIST", list), **_of_constant("EMPTY_DICT", dict),
    **_of_constant("EMPTY_SET", set), **_of_constant("MARK", lambda: _mark),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT", "MEMOIZE"), Machine._remember),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), Machine._recall),
    "TUPLE1": lambda machine, _: machine._tuple(1), "TUPLE2": lambda machine, _: machine._tuple(2),
    "TUPLE3": lambda machine, _: machine._tuple(3),
    "TUPLE": lambda machine, _: machine._push(tuple(machine._items())),
    "SETITEM": lambda machine, _: machine._set_items(machine._pair()),
    "SETITEMS": lambda machine, _: machine._set_items(machine._items()),
    "APPEND": lambda machine, _: _append(machine, [machine._stack.pop()]),
    "APPENDS": lambda machine, _: _append(machine, machine._items()),
    "ADDITEMS": lambda machine, _: _add(machine, machine._items()),
    "GLOBAL": lambda machine, named: machine._named(*named.split(" ", 1)),
    "STACK_GLOBAL": lambda machine, _: machine._of_stack(),
    "REDUCE": lambda machine, _: machine._call(), "BUILD": lambda machine, _: machine._state(),
    "NEWOBJ": lambda machine, _: machine._make({}),
    "NEWOBJ_EX": lambda machine, _: machine._make_named(),
    "BINPERSID": lambda machine, _: machine._stand_in(),
}  # fmt: skip


def _append(machine: Machine, items: list[Any]) -> None:
    machine._container(list).extend(items)


def _add(machine: Machine, items: list[Any]) -> None:
    machine._container(set).update(items)
