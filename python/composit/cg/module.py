"""Modules: functions that are written as calls of operators and of other modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.cg.function import Function, slots_of
from composit.cg.graph import ModuleGraph, compiled
from composit.cg.node import Node
from composit.cg.progress import begun, current
from composit.cg.session import Session, checked_count
from composit.cg.template import Parameter, placeholders, with_names
from composit.cg.values import described, refuse_masked


class Module(Function):
    """A function whose `call` says how it is computed. A call from outside gives the ModuleGraph of
    that call, one within another module's call the node (or tuple of nodes) that `call` returns."""

    def __init__(
        self,
        inputs: Any,
        params: Any = None,
        functional_name: str | None = None,
        call_fun: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(inputs, params, functional_name)
        self._call_fun = call_fun
        self._latest: list[tuple[tuple[int, ...], Any]] | None = None

    def call(self, *nodes: Any) -> Any:
        """What the module computes from the nodes of its inputs."""
        if self._call_fun is None:
            return super().call(*nodes)
        return self._call_fun(self, *nodes)

    @staticmethod
    def build(
        functional_name: str, call_func: Callable[..., Any], inputs: Any, params: Any = None
    ) -> Module:
        """A module without a class: `call_func` takes the module, then its nodes."""
        return Module(inputs, params, functional_name, call_func)

    def __call__(self, *values: Any, **named: Any) -> Any:
        given = checked_count(self, values, named)
        session = current()
        if session is None:
            with begun(Session()) as session:
                result = self._outermost(session, given)
            self._latest = result._types
            return result
        nodes = [session.node_of(v, self, i) for v, i in zip(given, self.inputs)]
        return self._called(session, nodes)

    def _outermost(self, session: Session, values: tuple[Any, ...]) -> ModuleGraph:
        nodes: list[Node] = [self._leaf_node(session, i, v) for v, i in zip(values, self.inputs)]
        types = [(tuple(node._tensor.shape), node._tensor.dtype) for node in nodes]
        result = self._called(session, nodes)
        if isinstance(result, Node):
            return ModuleGraph(session.call_id, self, result, types)
        raise type_error(
            f"{self.functional_name}: call returned {described(result)}, of type "
            f"{type(result).__name__}. One node is required of a call from outside."
        )

    def _called(self, session: Session, nodes: list[Node]) -> Any:
        with session.within(self, nodes):
            result = self.call(*nodes)
        if isinstance(result, tuple):
            result = tuple(session.counted(one) for one in result)
        else:
            result = session.counted(result)
        every = result if isinstance(result, tuple) else (result,)
        for one in every:
            if not isinstance(one, Node) or one.call_id != session.call_id:
                raise type_error(
                    f"{self.functional_name}: call returned {described(one)}, of type "
                    f"{type(one).__name__}. A node of this call, or a tuple of them, is "
                    "required."
                )
        return result

    def modules(self) -> Iterator[Module]:
        """The module, and those that it keeps in attributes and slots (in lists, tuples and
        dictionaries, too), each once."""
        found = {id(self): self}
        waiting = [self]
        while waiting:
            module = waiting.pop(0)
            yield module
            for inner in _modules_in([*vars(module).values(), *slots_of(module).values()]):
                if id(inner) not in found:
                    found[id(inner)] = inner
                    waiting.append(inner)

    def parameters(self) -> list[Parameter]:
        """The parameters of the module and of all modules in it, each once, in one order."""
        every = (one for module in self.modules() for one in module.params)
        # Each once: copies of a module share theirs. (Parameters of equal values are equal.)
        return list({id(one): one for one in every if isinstance(one, Parameter)}.values())

    def apply(self, values: Any, *inputs: Any) -> LazyTensor:
        """The result as a tensor, with these values in place of those of parameters(): a function
        without state, to be compiled, differentiated and batched."""
        parameters = self.parameters()
        if isinstance(values, Mapping) or not hasattr(values, "__len__"):
            given = f"a {type(values).__name__}"
        else:
            given = str(len(values))
        if given != str(len(parameters)):
            raise value_error(
                f"{self.functional_name}: apply is given {given} for {len(parameters)} "
                "parameters. A list with a value for each is required."
            )
        for one, value in zip(parameters, values):
            refuse_masked(value, f"{self.functional_name}: parameter {one.short_name!r}")
        checked_count(self, inputs)
        return self._with_values(parameters, values, inputs)

    def _with_values(
        self, parameters: list[Any], values: Any, inputs: Any, around: Any = None
    ) -> LazyTensor:
        """The result as a tensor, with values in place of these parameters'. Within an operator,
        and within what is computed `around` it, others are refused."""
        from composit.evaluation import as_tensor

        tensors = {id(one): as_tensor(value) for one, value in zip(parameters, values)}
        outer = current()
        around = around if outer is None else outer.operator or outer.around
        with begun(Session(tensors, around=around)) as session:
            return self._outermost(session, tuple(inputs)).tensor

    @property
    def function(self) -> Callable[..., LazyTensor]:
        """The module as a function of tensors, with its parameters as constants: what
        composit.compile, grad and vmap take."""

        def call(*tensors: Any) -> LazyTensor:
            if current() is not None:
                return self(*tensors).tensor  # type: ignore[no-any-return]
            with begun(Session()) as session:
                return self._outermost(session, checked_count(self, tensors)).tensor

        return with_names(call, self)

    def gradfn(self, inpt: Any) -> Module:
        """The derivative with respect to an input or parameter, or a name of either, as a module
        of the same inputs: its derivative is the second one."""
        return Function._derivative(self, inpt)

    def compile(self, *examples: Any, **options: Any) -> Any:
        """composit.compile of the module, with its parameters as constants."""
        refuse_masked(examples, f"{self.functional_name}: compile")
        return compiled(self, self.function, [_as_array(x) for x in examples], options)

    def export(self, path: Any, *examples: Any) -> list[str]:
        """Writes the module as C++ with no dependencies into the folder `path`, for inputs like the
        examples; without any, for inputs like those of the latest call: of the module itself, which
        gave a result."""
        if self.inputs and not examples and self._latest is None:
            raise value_error(
                f"{self.functional_name}: export before the first call. Examples of its inputs "
                "are required."
            )
        if not examples:
            examples = tuple(placeholders(self, self._latest or ()))
        return self.compile(*examples).export(path)


class DerivedModule(Module):
    """What is made of another module, or of an operator: of its inputs, and of its parameters.
    `made_by(*arguments)`, of which `of` is the first, makes it, and its copies."""

    def __init__(
        self,
        functional_name: str,
        call_fun: Callable[..., Any],
        made_by: Callable[..., Module],
        of: Function,
        *more: Any,
    ) -> None:
        super().__init__(of.inputs_nofun, None, functional_name, call_fun)
        self._of, self._made_by, self._more = of, made_by, more

    def __reduce__(self) -> tuple[Any, ...]:
        # call_fun knows `of` itself: a copy's has to know the copy of that.
        return self._made_by, (self._of, *self._more), {"_latest": self._latest}

    def param(self, short_name: str) -> Any:
        """That of what it is made of."""
        return self._of.param(short_name)


def own_attributes(module: Module) -> dict[str, Any]:
    """What subclasses and users keep in the module."""
    every = {**vars(module), **slots_of(module)}
    return {name: value for name, value in every.items() if name not in _OF_MODULES}


_OF_MODULES = {*vars(Module((), None, "m"))}


def _modules_in(values: list[Any]) -> Iterator[Module]:
    known: set[int] = set()  # containers, which may hold themselves
    stack = values[::-1]
    while stack:
        value = stack.pop()
        if isinstance(value, Module):
            yield value
        elif isinstance(value, (list, tuple, dict)) and id(value) not in known:
            known.add(id(value))
            inner = list(value.values()) if isinstance(value, dict) else list(value)
            stack += inner[::-1]


def _as_array(value: Any) -> Any:
    """Numbers as arrays: they are inputs of the program, not part of it."""
    import numpy as np

    return value if isinstance(value, LazyTensor) else np.asarray(_core.numpy.without_torch(value))
