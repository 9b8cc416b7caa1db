"""Functions and tensors as programs of MLIR's dialects, as text; and such programs as functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit._named_graphs import named_graph
from composit.compilation import compile as compile_function

__all__ = ["Function", "Module", "ValueInfo", "load", "operations", "text"]


def text(
    source: Any,
    *examples: Any,
    dialect: str = "stablehlo",
    name: str | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    locations: bool = False,
) -> str:
    """A module of MLIR whose function `@main` computes what `source` does.

    `source` is a function, called with placeholders of the examples' shapes and dtypes, or tensors:
    one, or a tuple, list or dictionary of them, whose placeholders become parameters of `@main`.
    Constants are within. The dialect is StableHLO, which XLA and IREE take. The module has the name
    of the function, unless one is given; with `locations` each operation ends with the user's line
    that it comes from.

    NotImplementedError, with the line, for what StableHLO has no operation for: `svd`, `qr`, `eigh`
    and other factorisations, functions of users. ValueError for another dialect, and for numbers
    of names that do not fit."""
    if dialect != "stablehlo":
        raise value_error(f"mlir.text: dialect is {dialect!r}. 'stablehlo' is required.")
    outputs, inputs = named_graph("mlir.text", source, examples, input_names, output_names)
    given = getattr(source, "__name__", "") if name is None else name
    is_name = given.isidentifier()
    return _core.mlir.stablehlo_text(outputs, inputs, given if is_name else "composit", locations)


class ValueInfo(NamedTuple):
    """What a program says of a tensor that a function takes or gives."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]  # None: a length that the program leaves open

    @property
    def description(self) -> str:
        return f"{self.dtype} {self.shape}".replace("None", "?")

    @property
    def is_open(self) -> bool:
        """Whether a call decides a length."""
        return None in self.shape

    def __repr__(self) -> str:
        return f"<{self.name}: {self.description}>"


class Function:
    """A function of a program that was read, called with its inputs in order or by name.

    A call returns what it computes, lazily: a tensor, or a tuple of them where there are several
    outputs. Inputs are arrays or tensors of the dtypes and shapes that the program has; a length
    that it leaves open may be another one in the next call."""

    def __init__(self, core: Any, name: str) -> None:
        self._core = core
        self.name = self.__name__ = name
        self.inputs = self._infos(core.inputs)
        self.outputs = self._infos(core.outputs)

        names = [each.name for each in self.inputs]
        if all(each.isidentifier() and not iskeyword(each) for each in names):
            # What compiled and exported functions call their arguments.
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])

    def __repr__(self) -> str:
        def words(values: tuple[ValueInfo, ...]) -> str:
            return ", ".join(f"{value.name}: {value.description}" for value in values)

        kind = type(self).__name__
        return f"<{kind} {self.name!r} ({words(self.inputs)}) -> ({words(self.outputs)})>"

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """The outputs for these inputs."""
        name = self._function_name()
        results = self._core.call(name, self._core.arguments(name, self.name, args, named))
        return results[0] if len(results) == 1 else tuple(results)

    def compile(self, *examples: Any, **options: Any) -> Any:
        """The function compiled, as composit.compile does with these options; ready to be called
        and exported. Examples decide the lengths that the program leaves open, if there are some;
        without examples the first call decides them, and each call with others makes a program."""
        compiled = compile_function(self, **options)
        if examples or not any(each.is_open for each in self.inputs):
            compiled.specialise(*(examples or self.placeholders()))
        return compiled

    def placeholders(self) -> list[LazyTensor]:
        """A placeholder for each input; ValueError where one has an open length."""
        return self._core.placeholders(self._function_name(), self.name)

    def _infos(self, values_of: Any) -> tuple[ValueInfo, ...]:
        return tuple(ValueInfo(*each) for each in values_of(self.name))

    def _function_name(self) -> str:
        return self.name


class Module(Function):
    """What `load` returns: a program of StableHLO, called as its function `@main`, or as its only
    public one. A program of several is called by `functions`, and has no inputs of its own.

    `functions` are all of its functions, by name; `operations` those of their operations, in the
    order of the text."""

    format = "StableHLO"

    def __init__(self, core: Any, name: str) -> None:
        self._main: str | None = core.main if core.has_main else None
        super().__init__(core, self._main or "")
        self.name = self.__name__ = name
        self.functions = {each: Function(core, each) for each in core.functions}
        self.operations: list[str] = core.operations
        # How many numbers its constants hold that are more than one.
        self.constant_numbers: int = core.constant_numbers

    def _infos(self, values_of: Any) -> tuple[ValueInfo, ...]:
        return super()._infos(values_of) if self._main else ()

    def _function_name(self) -> str:
        return self._main or self._core.main  # raises, with what is required


def load(source: str | os.PathLike[str]) -> Module:
    """The program of StableHLO in a file, or in a text (one with several lines, or with a bracket):
    what jax.export and `jax.jit(f).lower(…).as_text()` print, and what `text` writes.

    ValueError, with line and column: the text is no such program. NotImplementedError: operations,
    dialects and types that composit does not read (`operations()` has the names of those that it
    reads). Lengths that the program leaves open ("?") are those of a call's inputs; one that
    depends on an input's values is a NotImplementedError of the call."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        core = _core.mlir.load_text(source)
        return Module(core, core.name or "module")
    path = Path(os.fspath(source))
    core = _core.mlir.load(os.fspath(path))
    return Module(core, core.name or path.stem)


def operations() -> list[str]:
    """The operations that `load` reads, with their dialects."""
    return _core.mlir.operations()
