"""Gradient descent on a module's parameters, each step one compiled program."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.cg.function import slots_of
from composit.cg.module import Module, _as_array, own_attributes
from composit.cg.session import with_hidden
from composit.cg.template import Parameter
from composit.cg.values import described, refuse_masked
from composit.compilation import compile
from composit.evaluation import evaluate
from composit.functional import value_and_grad


class Training:
    """A module, a loss and an optimiser of composit.nn:

        training = cg.Training(model, nn.cross_entropy, nn.adam(1e-3))
        loss = training.step(images, labels)

    `loss` is a function of the module's result and of targets to a number; `step` takes a value for
    each of the module's inputs, then the targets, which are arrays. It changes the parameters and
    returns the loss before that. The parameters are those that the first step's call uses, and
    all of parameters(). Batches of one shape share a program, as long as the attributes of the
    modules are the same."""

    def __init__(
        self,
        module: Module,
        loss: Callable[..., Any],
        optimizer: Any,
        backend: str = "cpp",
        threads: int | None = None,
    ) -> None:
        if not isinstance(module, Module):
            raise type_error(
                f"Training: {described(module)}, of type {type(module).__name__}, is given. A "
                "module is required."
            )
        self.module, self.loss, self.optimizer = module, loss, optimizer
        self.parameters = module.parameters()
        self._backend, self._threads = backend, threads
        self._own = list(self.parameters)  # what parameters() said at first
        self._trained: list[Parameter] = []
        self._fixed: list[Parameter] = []
        self._state: list[Any] = []
        # Programs by what they depend on beside the batch, and what that is of.
        self._programs: dict[Any, tuple[Callable[..., Any], list[Any]]] = {}
        self._latest: tuple[Callable[..., Any], _Snapshot] | None = None

    def _begin(self, inputs: list[Any]) -> None:
        """Finds the parameters that the call uses beside parameters(), of modules that are known
        from elsewhere than attributes, and which of all are numbers to be trained. Integers that
        the call needs as such (indices), and bools, stay what they are."""
        given = [_core.input(f"x{i}", x.dtype, x.shape) for i, x in enumerate(inputs)]

        def compute(known: list[Parameter], tensors: list[LazyTensor]) -> LazyTensor:
            return self.module._with_values(known, tensors, given, self.module)

        def found(known: list[Any]) -> list[Any]:
            compute(known, [one.tensor for one in known])
            return known

        known = with_hidden(found, self._own)
        tensors = [one.tensor for one in known]
        numbers = _core.cg.as_numbers(lambda tensors: compute(known, tensors), tensors)
        trained = [one for one, x in zip(known, numbers) if x.dtype.kind in "fcV"]
        if not trained:
            what = " of a floating dtype" if known else ""
            raise value_error(
                f"Training: {self.module.functional_name} has no parameters{what}. At least "
                "one is required."
            )
        for one, before, after in zip(known, tensors, numbers):
            if before.dtype != after.dtype:
                one._assign_own(_array(one.value).astype(after.dtype))
        self._state = _arrays(self.optimizer.initial_state([one.tensor for one in trained]))
        is_trained = {id(one) for one in trained}
        self.parameters, self._trained = known, trained
        self._fixed = [one for one in known if id(one) not in is_trained]

    def _updated(self, parameters: list[Any], state: list[Any], *batch: Any) -> Any:
        count = len(self.module.inputs)
        known, fixed = [*self._trained, *self._fixed], [one.tensor for one in self._fixed]

        def loss_of(values: list[Any]) -> Any:
            result = self.module._with_values(known, [*values, *fixed], batch[:count], self.module)
            return self.loss(result, *batch[count:])

        loss, gradients = value_and_grad(loss_of)(parameters)
        updated, after = self.optimizer.step(parameters, gradients, state)
        return loss, list(updated), list(after)

    def _program(self) -> Callable[..., Any]:
        """That of the module as it is now: attributes are read when it is made."""
        own_parts = [self.loss, self.optimizer, *(one._value for one in self._fixed)]
        if self._latest is not None and self._latest[1].holds(own_parts):
            return self._latest[0]
        own = self.module.parameters()
        if len(own) != len(self._own) or any(a is not b for a, b in zip(own, self._own)):
            raise value_error(
                f"Training: {self.module.functional_name} has other parameters than at first. "
                "A new Training is required."
            )
        held: list[Any] = [_array(one.value).tobytes() for one in self._fixed]
        held += [self.loss, self.optimizer]
        modules = []
        hidden = (one.fun for one in self.parameters)
        for module in (*self.module.modules(), *hidden):
            if isinstance(module, Module):
                held += [module, module._call_fun, *own_attributes(module).items()]
                modules.append(module)
        key = _key(held)
        if key not in self._programs:
            while len(self._programs) >= 4:
                del self._programs[next(iter(self._programs))]
            made = compile(
                self._updated, backend=self._backend, threads=self._threads,
                name=f"train_{self.module.short_functional_name}",
            )  # fmt: skip
            self._programs[key] = made, held
        program = self._programs[key][0]
        has_slots = any(slots_of(module) for module in modules)
        snapshot = _Snapshot(own_parts, [vars(module) for module in modules])
        self._latest = None if has_slots else (program, snapshot)
        return program

    def step(self, *batch: Any) -> float:
        """One step with a batch: inputs, then targets. The loss before it."""
        count = len(self.module.inputs)
        if len(batch) < count:
            raise value_error(
                f"Training: {len(batch)} arrays are given to {self.module.functional_name}, "
                f"which has {count} inputs. Those, then the targets, are required."
            )
        refuse_masked(batch, f"Training: {self.module.functional_name}")
        if not self._trained:
            self._begin([_as_array(x) for x in batch[:count]])
        values = [_array(one.value) for one in self._trained]
        loss, updated, self._state = self._program()(values, self._state, *batch)
        for parameter, value in zip(self._trained, updated):
            parameter._assign_own(value)
        return float(loss)


class _Snapshot:
    """What containers hold, and those in them: whether it is the same objects still."""

    def __init__(self, parts: list[Any], containers: list[Any]) -> None:
        self._parts = parts
        self._held: dict[int, tuple[Any, list[Any]]] = {}
        while containers:
            one = containers.pop()
            if id(one) not in self._held:
                items = _items(one)
                self._held[id(one)] = one, items
                containers += [each for each in items if isinstance(each, (list, tuple, dict))]

    def holds(self, parts: list[Any]) -> bool:
        """Whether these are its parts, and each container holds what it held."""
        return _are_same(parts, self._parts) and all(
            _are_same(_items(one), items) for one, items in self._held.values()
        )


def _items(container: Any) -> list[Any]:
    is_dict = isinstance(container, dict)
    return [*container, *container.values()] if is_dict else list(container)


def _are_same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(map(operator.is_, a, b))


def _key(value: Any, around: tuple[int, ...] = ()) -> Any:
    """Equal for equal numbers and texts, and for the same objects, in equal containers."""
    if isinstance(value, (list, tuple, dict)) and id(value) not in around:
        around = (*around, id(value))
        items = value.items() if isinstance(value, dict) else value
        return (type(value), *(_key(one, around) for one in items))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return (type(value), repr(value))
    return id(value)


def _arrays(tensors: Any) -> list[Any]:
    tensors = list(tensors)
    return list(evaluate(*tensors, always_return_tuple=True)) if tensors else []


def _array(value: Any) -> Any:
    return evaluate(value) if isinstance(value, LazyTensor) else np.asarray(value)
