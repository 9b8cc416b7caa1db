"""What functions are described with: inputs by name: variables, parameters, constants."""

from __future__ import annotations

import inspect
import itertools
import keyword
import re
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.cg.arithmetic import Arithmetic, refuse_comparison
from composit.cg.progress import current
from composit.cg.promotion import is_number
from composit.cg.values import as_leaf, described, held, read_only

_numbers = itertools.count(1)


def next_number() -> str:
    """Three hexadecimal digits, or more, that no one else has."""
    return f"{next(_numbers):03x}"


def distinct(names: list[str]) -> list[str]:
    """The names, with a number behind those that came before: the position, if it is free."""
    made: list[str] = []
    for i, name in enumerate(names):
        numbers = itertools.count(i)
        while name in made or (name != names[i] and name in names):
            name = f"{names[i]}_{next(numbers)}"
        made.append(name)
    return made


def identifiers(names: list[str]) -> list[str]:
    """The names as Python's, where they are none: "x-1" is x_1, "lambda" lambda_."""
    made = []
    for name in names:
        name = re.sub(r"\W", "_", name)
        name = name if name.isidentifier() else f"x{name}"
        made.append(f"{name}_" if keyword.iskeyword(name) else name)
    return distinct(made)


def placeholders(function: Any, types: Iterable[tuple[Any, Any]]) -> list[LazyTensor]:
    """An input of graphs for each of the function's: (shape, dtype), named as it is."""
    return [
        _core.input(variable.short_name, dtype, shape)
        for variable, (shape, dtype) in zip(function.inputs, types)
    ]


def with_names(call: Callable[..., Any], function: Any) -> Callable[..., Any]:
    """A function of tensors with the name and the inputs' names of another."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = identifiers([one.short_name for one in function.inputs])
    names = [inspect.Parameter(name, kind) for name in own]
    call.__name__ = function.short_functional_name
    call.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    return call


class TemplateObject:
    """A function or an input: `name` says which one it is, `functional_name` its role."""

    def __init__(self, name: str, functional_name: str) -> None:
        self._name, self._functional_name = name, functional_name

    @property
    def name(self) -> str:
        """Its own name: no two functions share one."""
        return self._name

    @property
    def functional_name(self) -> str:
        """What it is for: functions that do the same share it."""
        return self._functional_name


class Input(TemplateObject):
    """A place of a function that takes a value: `short_name` within the function `fun`."""

    is_literal = False  # a number among operands, which nobody named

    def __init__(self, short_name: str, input_type: str = "input") -> None:
        if not isinstance(short_name, str) or not short_name:
            raise type_error(
                f"{type(self).__name__}: the name is {short_name!r}. A text of at least one "
                "character is required."
            )
        super().__init__(short_name, short_name)
        self._short_name, self._input_type = short_name, input_type
        self._fun: Any = None

    @property
    def short_name(self) -> str:
        """The name within the function."""
        return self._short_name

    @property
    def input_type(self) -> str:
        """ "variable", "parameter" or "constant" """
        return self._input_type

    @property
    def name(self) -> str:
        """The function's name, a point, and the short name."""
        return self._short_name if self.fun is None else f"{self.fun.name}.{self._short_name}"

    @property
    def functional_name(self) -> str:
        """The function's role, a point, and the short name."""
        fun = self.fun
        return self._short_name if fun is None else f"{fun.functional_name}.{self._short_name}"

    @property
    def fun(self) -> Any:
        """The function that it is an input of; None before it has one."""
        return None if self._fun is None else self._fun()

    @fun.setter
    def fun(self, function: Any) -> None:
        if self._fun is not None:
            was = self.fun.functional_name if self.fun is not None else "a function that is gone"
            raise value_error(
                f"{self._short_name!r} is an input of {was} already; "
                f"{function.functional_name} cannot have it, too. An input of its own is "
                "required (copy_nofun() makes one)."
            )
        self._fun = weakref.ref(function)

    def copy_nofun(self) -> Input:
        """One like it that belongs to no function."""
        return type(self)(self._short_name)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles hold: they belong to no function until that is made again."""
        return {**vars(self), "_fun": None}

    @property
    def value(self) -> Any:
        """The value that it has outside of calls; None."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Variable(Input):
    """An input whose value every call is given."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "variable")


class _Valued(Arithmetic):
    """What inputs that have values of their own do alike. Python's operators take them within a
    call."""

    if TYPE_CHECKING:  # Input's
        name: str
        fun: Any
        input_type: str
        short_name: str
        _short_name: str

    def __init__(self, short_name: str, value: Any, input_type: str) -> None:
        super().__init__(short_name, input_type)  # type: ignore[call-arg]
        self._value: Any = None
        self._tensor: LazyTensor | None = None
        if value is not None:
            self._set(value)

    def _set(self, value: Any) -> None:
        what = f"{self.input_type} {self.short_name!r}"
        fun = self.fun
        if fun is not None:
            what += f" of {fun.functional_name}"
        self._tensor = as_leaf(value, self.short_name, what)
        # The tensor holds a copy: what is shown does not change with the caller's array either.
        self._value = held(value, self._tensor)

    @property
    def value(self) -> Any:
        """The value as it was given, arrays read only; within apply(), the tensor given there, as
        a constant."""
        session = current()
        given = None if session is None else session.read(self)
        return self._value if given is None else given

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its value."""
        session = current()
        given = None if session is None else session.stand_in(self)
        return tuple((self.leaf() if given is None else given).shape)

    def __bool__(self) -> bool:
        """That of its value, which within a call is the one that its node has."""
        session = current()
        if session is not None:
            return bool(session.node_of_valued(self))
        return bool(self.leaf() if self._value is None else self._value)

    def __eq__(self, other: object) -> bool:
        kind = self.input_type
        refuse_comparison(self, other, f"A {kind} is equal to {kind}s alone: its value")
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    @property
    def tensor(self) -> LazyTensor:
        """The value as a leaf of graphs; within apply(), the tensor given there, as a constant.
        ValueError where there is none."""
        session = current()
        given = None if session is None else session.read(self)
        return self.leaf() if given is None else given

    def leaf(self) -> LazyTensor:
        """The value as a leaf of graphs, whatever the call in progress."""
        import numpy as np

        if self._tensor is None and self._value is not None:  # an array of our own
            self._tensor = _core.constant(np.asarray(self._value), self.short_name, False)
        if self._tensor is None:
            where = "" if self.fun is None else f"{self.fun.functional_name}: "
            raise value_error(
                f"{where}{self.input_type} {self.short_name!r} has no value. "
                "One is required before the call (assign)."
            )
        return self._tensor

    def copy_nofun(self) -> Input:
        return type(self)(  # type: ignore[call-arg,return-value]
            self._short_name, self._value
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_tensor": None}  # type: ignore[dict-item]

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._value is not None:
            self._set(self._value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {described(self._value)})"


class Parameter(_Valued, Input):  # type: ignore[misc]
    """An input that the function keeps, and training changes. Two of equal values are equal.

    One whose value is a number of Python (`cg.Parameter("w", 1)`) has no dtype of its own: beside a
    float32 operand it is float32, by NumPy's rules for such numbers. It stays one when it is
    trained. With np.float64(1), or an array, the dtype counts."""

    def __init__(self, name: str, init_value: Any = None) -> None:
        super().__init__(name, init_value, "parameter")

    def assign(self, value: Any) -> None:
        """Another value, from the next call on."""
        self._set(value)

    def _assign_own(self, array: Any) -> None:
        """An array that nobody else writes to; a number where the value was one."""
        self._value = array.item() if is_number(self._value) else read_only(array)
        self._tensor = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return super().__eq__(other)
        return self is other or _equal(self._value, other._value)

    def __hash__(self) -> int:
        value = self._value
        if value is None or isinstance(value, LazyTensor):
            return hash(value)
        import numpy as np

        array = np.asarray(value)
        return hash((array.shape, tuple(array.ravel()[:16].tolist())))


class Constant(_Valued, Input):  # type: ignore[misc]
    """An input whose value never changes."""

    def __init__(self, name: str, val: Any) -> None:
        super().__init__(name, val, "constant")

    def assign(self, value: Any) -> None:
        """Refused."""
        raise value_error(
            f"constant {self.short_name!r} is {described(self._value)} and cannot be "
            f"{described(value)}. A Parameter is required for what changes."
        )


def _equal(a: Any, b: Any) -> bool:
    if a is None or b is None or isinstance(a, LazyTensor) or isinstance(b, LazyTensor):
        return a is b
    import numpy as np

    return np.array_equal(np.asarray(a), np.asarray(b))
