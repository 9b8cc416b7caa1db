"""trace(): torch's operators of a block of code become nodes of composit's graph.

torch hands every operator over through TorchDispatchMode. The keys of its autograd are left out
meanwhile, so operators arrive whole (linear, scaled_dot_product_attention) instead of as what they
are made of. Each is run on torch's device "meta" as well, which knows shapes, dtypes, strides and
what shares memory; its elements come from the table in composit.flashlight.operators.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import composit._core as _core
from composit._core import LazyTensor
from composit.evaluation import evaluate
from composit.flashlight import assigned, control, functions, places, running
from composit.flashlight.active import current, enter
from composit.flashlight.modules import ModulePaths
from composit.flashlight.refusals import refuse, refuse_values
from composit.flashlight.tensor import Tensor
from composit.flashlight.tensor import tracer_of as tracer_of
from composit.flashlight.while_traced import WhileTraced
from composit.nn import stop_gradient
from composit.numpy import astype

_before: dict[str, bool] = {}


_FLAGS = ("_is_compiling_flag", "_is_exporting_flag")


def _begin(is_first: bool) -> None:
    flags: Any = torch.compiler
    if is_first:
        _before.update((name, getattr(flags, name)) for name in _FLAGS)
    for name in _FLAGS:
        setattr(flags, name, True)


def _end() -> None:
    for name, was in _before.items():
        setattr(torch.compiler, name, was)


# Says to models what torch.export does: values are not known, so none may decide.
_as_export = WhileTraced(_begin, _end)


class _Mode(TorchDispatchMode):
    supports_higher_order_operators = True

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.tracer.run(func, args, kwargs or {})


class Tracer:
    """The state of one trace: which memory of torch's holds what."""

    def __init__(self, key: Any = None, run_torch: bool = False) -> None:
        self.run_torch = run_torch  # whether values of inputs are looked at
        self.mode = _Mode(self)
        self.has_gradients = torch.is_grad_enabled()
        self.paths = ModulePaths()
        self.memory = places.Memory(self.paths.name_of)
        self.data = assigned.Data(self)
        self._key = key
        self._draws = 0
        self.scopes: list[control.Scope] = []  # functions of torch.cond and others, outermost first
        self.decomposing: list[Any] = []  # operators that torch's definitions are running for

    # ----- operators

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What the operator gives for these arguments, in the trace."""
        with np.errstate(all="ignore"):  # torch reports no errors of floating point
            return running.run(self, func, self.data.now(args), self.data.now(kwargs))

    # ----- values

    def constant(self, real: torch.Tensor) -> Tensor:
        """A value that torch computed, as one of the trace."""
        self.memory.add_constant(real, len(self.scopes))
        return Tensor(self, self.memory.twin(real), None, real)

    def is_constant(self, tensor: torch.Tensor) -> bool:
        """Whether it depends on nothing but what was made in the trace, by torch alone."""
        real = getattr(tensor, "_real", None)
        return real is not None and not self.memory.holds(real)

    def operand(self, tensor: torch.Tensor) -> LazyTensor:
        """The same for an operator: no gradient flows into what torch.no_grad() made."""
        value = self.read(tensor)
        return stop_gradient(value) if _is_stopped(tensor) else value

    def viewed(self, tensor: torch.Tensor) -> LazyTensor:
        """The same for an operator whose result is a view."""
        place = self.place(tensor)
        return _core.numpy.stopped_of(place) if _is_stopped(tensor) else place

    def place(self, tensor: torch.Tensor) -> LazyTensor:
        """The tensor's elements where they are kept: what sees later writes, and is written."""
        if isinstance(tensor, Tensor):
            if tensor._elements is not None:
                return tensor._elements
            return self.memory.place(tensor._real, is_input=False)  # type: ignore[arg-type]
        return self.memory.place(tensor)

    def read(self, tensor: torch.Tensor) -> LazyTensor:
        """The tensor's elements as they are now."""
        if self.is_constant(tensor):
            return self.memory.snapshot(tensor._real)  # type: ignore[attr-defined]
        value = self.place(tensor)
        if self.scopes:
            for scope in self.scopes[self.depth_of(tensor) :]:
                value = scope.seen(value)
        return value

    def depth_of(self, tensor: torch.Tensor) -> int:
        """How many scopes deep the tensor's memory was made."""
        if isinstance(tensor, Tensor):
            if tensor._elements is not None:
                return tensor._depth
            tensor = tensor._real  # type: ignore[assignment]
        return self.memory.depth(tensor)

    @contextlib.contextmanager
    def within(self, scope: control.Scope) -> Iterator[None]:
        """While it lasts, a function of torch.cond or another such operator is traced."""
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()

    def twin(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor on torch's device "meta"; twins share memory where the tensors do."""
        return tensor._twin if isinstance(tensor, Tensor) else self.memory.twin(tensor)

    def tensor(self, value: LazyTensor, twin: torch.Tensor) -> Tensor:
        """A value that composit is to compute, as one of the trace, in memory of its own."""
        is_in_order = twin.is_contiguous()
        memory = value.copied() if is_in_order else _core.laid_out(value, twin.stride())
        return Tensor(self, twin, memory, None, len(self.scopes))

    def value_of(self, tensor: Tensor, asked: str) -> torch.Tensor:
        """A constant's value in torch; another's is computed where `run_torch` says so, and else
        refused, as a trace computes nothing."""
        if self.is_constant(tensor):
            return tensor._real  # type: ignore[return-value]
        if not self.run_torch or self.scopes:
            refuse_values(self, asked)
        value = self.read(tensor)
        is_short = value.dtype.name in _core.extension_floats  # which torch does not read
        array = evaluate(astype(value, "float32") if is_short else value)
        return torch.from_numpy(np.array(array)).to(tensor.dtype)

    @property
    def parameters(self) -> dict[str, LazyTensor]:
        """The leaves of the tensors from before the trace, by name: what chain_rule takes."""
        return {name: leaf for name, _, leaf in self.memory.leaves()}

    def writes(self) -> dict[str, LazyTensor]:
        """What the trace wrote into tensors from before it, such as the statistics of batch norm in
        training, by the tensors' names. The tensors themselves stay as they were."""
        return {name: value for name, _, value in self.memory.written()}

    def refuse_backward(self) -> None:
        """The refusal of loss.backward()."""
        refuse(
            self,
            "backward",
            "a trace holds no autograd graph. Differentiate the traced loss: "
            "composit.nn.chain_rule({loss: loss}, inputs).",
        )

    def next_key(self) -> LazyTensor:
        """A key of composit.random for one draw."""
        from composit import random

        if self._key is None:
            self._key = random.key(torch.initial_seed() % 2**63)
        self._draws += 1
        key = random.fold_in(self._key, self._draws)
        for scope in self.scopes:
            key = key if scope.counter is None else random.fold_in(key, scope.counter)
        return key


def _is_stopped(tensor: torch.Tensor) -> bool:
    is_detached = getattr(tensor, "_is_detached", False) and torch.is_grad_enabled()
    return is_detached and tensor.is_floating_point()


@contextlib.contextmanager
def trace(*, key: Any = None, run_torch: bool = False) -> Iterator[Tracer]:
    """While it lasts, operators of torch on this thread compute nothing and make nodes: results are
    flashlight.Tensor, which every function of composit takes.

        with flashlight.tracer.trace():
            output = model(activations)
        values = composit.evaluate(output)

    Tensors from before the trace are inputs, named after the module that owns them, or tensor_0,
    tensor_1, …; they share their memory and are never written. What is made in the trace and
    depends on none of them is computed by torch, and becomes constants. Random numbers are drawn by
    `key`, a key of composit.random, or else by one of torch's initial seed. With `run_torch` a
    model that asks for values (`if x.sum() > 0`, `.item()`, `x[mask]`, `nonzero`) gets those of
    these inputs, as when torch runs: the graph is what it computes for them, and for no others that
    decide otherwise. A trace in a trace is the outer one. NotImplementedError, with the operator
    and the line, where something cannot be traced; torch is as before when the block is left,
    however it is left.
    """
    outer = current()
    if outer is not None:
        yield outer
        return
    tracer = Tracer(key, run_torch)
    enter(tracer)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_as_export())
            stack.enter_context(tracer.paths.watching())
            stack.enter_context(functions.watching())
            stack.enter_context(assigned.watching())
            stack.enter_context(control.watching())
            stack.enter_context(torch._C._AutoDispatchBelowAutograd())
            stack.enter_context(tracer.mode)
            yield tracer
    finally:
        enter(None)
