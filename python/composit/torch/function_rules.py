"""autograd.Functions within torch.func's vmap and forward mode: a call is one node, whose rules are
the Function's own backward, jvp and vmap."""

from __future__ import annotations

from typing import Any, NamedTuple

import composit._core as _core
from composit import functional, structure
from composit import numpy as cnp
from composit._core import LazyTensor, not_implemented, runtime_error
from composit.torch import errstate, steps
from composit.torch.calling import TensorBase, wrapped
from composit.torch.function import Function, FunctionCtx, _Graphs, graphs
from composit.torch.tape import no_grad

Lazies = list[LazyTensor]
Optional = list[LazyTensor | None]

_MORE = "https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a Function's vmap is told."""

    batch_size: int
    randomness: str


class _Within:
    """While a rule runs: nothing is recorded, calls of Functions have rules, too."""

    def __enter__(self) -> None:
        self.thread = steps.record_in(0)  # operations make nodes at once
        self.token = errstate.begin()
        self.mode = no_grad()
        self.mode.__enter__()
        graphs.ruled += 1

    def __exit__(self, *error: Any) -> None:
        graphs.ruled -= 1
        self.mode.__exit__(*error)
        errstate.end(self.token)
        steps.record_in(self.thread)


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


class _Rules:
    """The rules of one call: `args` has None for tensors, `result` for those that it returned."""

    def __init__(self, function: Any, args: list[Any], places: list[int], result: Any) -> None:
        self.function, self.args, self.places, self.result = function, args, places, result

    def _context(self, inputs: Lazies, outputs: Lazies) -> FunctionCtx:
        """What setup_context leaves for these values."""
        context = FunctionCtx()
        context.needs_input_grad = tuple(i in self.places for i in range(len(self.args)))
        made = iter(outputs)
        result = [wrapped(next(made)) if x is None else x for x in _items(self.result)]
        context._results = result
        several = isinstance(self.result, (tuple, list))
        given = type(self.result)(result) if several else result[0]
        self.function.setup_context(context, tuple(self._whole(inputs)), given)
        if context._dirty:
            raise _no_writes(self.function)
        return context

    def _whole(self, inputs: Any, is_flow: bool = False) -> list[Any]:
        """The arguments with tensors; of tangents, None for what is no tensor."""
        whole = [None] * len(self.args) if is_flow else list(self.args)
        for place, x in zip(self.places, inputs):
            whole[place] = None if x is None else wrapped(x)
        return whole

    def vjp(self, inputs: Lazies, outputs: Lazies, gradients: Optional) -> Optional:
        """The gradients that backward gives."""
        function = self.function
        with _Within():
            context = self._context(inputs, outputs)
            arrived = iter(zip(outputs, gradients))
            given: list[Any] = []
            for tensor, is_tensor in zip(context._results, map(_is_none, _items(self.result))):
                output, gradient = next(arrived) if is_tensor else (None, None)
                if id(tensor) in context._not_differentiable:
                    gradient = None
                if output is not None and gradient is None and context._materializes:
                    gradient = cnp.zeros(output.shape, output.dtype)
                given.append(None if gradient is None else wrapped(gradient))
            is_vjp = function.backward is Function.backward and function.vjp is not Function.vjp
            found = _items((function.vjp if is_vjp else function.backward)(context, *given))
            rest = found[len(self.args) :]
            if len(found) < len(self.args) or any(x is not None for x in rest):
                raise runtime_error(
                    f"function {function.__name__}Backward returned an incorrect number of "
                    f"gradients (expected {len(self.args)}, got {len(found)})"
                )
            chosen = [found[place] for place in self.places]
            return [self._fitting(gradient, x) for gradient, x in zip(chosen, inputs)]

    def _fitting(self, gradient: Any, x: LazyTensor) -> LazyTensor | None:
        if gradient is None or x.dtype.kind not in "fcV":
            return None
        if tuple(gradient.shape) != tuple(x.shape):
            try:
                gradient = gradient.sum_to_size(x.shape)
            except RuntimeError:
                raise runtime_error(
                    f"Function {self.function.__name__}Backward returned an invalid gradient: "
                    f"got {list(gradient.shape)} but expected shape compatible with "
                    f"{list(x.shape)}"
                ) from None
        lazy = gradient._lazy
        return lazy if lazy.dtype == x.dtype else cnp.astype(lazy, x.dtype)

    def jvp(self, inputs: Lazies, outputs: Lazies, tangents: Optional) -> Optional:
        """The tangents that jvp gives."""
        with _Within():
            context = self._context(inputs, outputs)
            context._saved = context._saved_for_forward
            context._versions = [x._version if isinstance(x, TensorBase) else 0
                                 for x in context._saved]  # fmt: skip
            if context._materializes:
                tangents = [
                    cnp.zeros(x.shape, x.dtype) if a is None and x.dtype.kind in "fcV" else a
                    for a, x in zip(tangents, inputs)
                ]
            found = _items(self.function.jvp(context, *self._whole(tangents, is_flow=True)))
            results = _items(self.result)
            if len(found) != len(results):
                raise runtime_error(
                    f"{self.function.__name__}.jvp: {len(found)} tangents for {len(results)} "
                    "results of forward. One for each is required."
                )
            made: Optional = []
            for tensor, tangent, result in zip(context._results, found, results):
                if result is not None:
                    continue
                is_none = tangent is None or id(tensor) in context._not_differentiable
                made.append(None if is_none else tangent._lazy)
            return made

    def batch(self, inputs: Lazies, batched: list[bool], size: int) -> Lazies:
        """What vmap gives; nothing where the rule is generated."""
        function = self.function
        is_own = function.vmap is not Function.vmap
        if function.generate_vmap_rule and not is_own:
            return []
        if is_own == bool(function.generate_vmap_rule):
            why = (
                "it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please "
                "set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
                "ambiguity. "
                if is_own
                else "it does not have vmap support. Please override and implement the vmap "
                "staticmethod or set generate_vmap_rule=True. "
            )
            raise runtime_error(
                f"You tried to vmap over {function.__name__}, but {why}For more details, "
                f"please see {_MORE}"
            )
        with _Within():
            in_dims: list[int | None] = [None] * len(self.args)
            for place, is_batched in zip(self.places, batched):
                in_dims[place] = 0 if is_batched else None
            info = VmapInfo(size, graphs.randomness)
            return self._with_axes(function.vmap(info, tuple(in_dims), *self._whole(inputs)), size)

    def _with_axes(self, made: Any, size: int) -> Lazies:
        """The results of vmap, the new dimension first."""
        if not isinstance(made, tuple) or len(made) != 2:
            got = f"{len(made)} returns" if isinstance(made, tuple) else f"a {type(made)}"
            raise runtime_error(
                "Expected the vmap staticmethod to have two returns, an output and out_dims "
                f"with pytree structure compatible with the output. Got {got} instead"
            )
        output, out_dims = made
        outputs = _items(output)
        dims = list(out_dims) if isinstance(out_dims, (tuple, list)) else [out_dims] * len(outputs)
        if len(dims) != len(outputs) or len(outputs) != len(_items(self.result)):
            raise runtime_error(
                "The autograd.Function's vmap staticmethod returned an incompatible (output, "
                f"out_dims) tuple. Expected out_dims={out_dims} to be compatible with the "
                f"structure of `output`, which has {len(outputs)} results where forward has "
                f"{len(_items(self.result))}. For more details, please see {_MORE}"
            )
        found: Lazies = []
        for x, dim in zip(outputs, dims):
            if not isinstance(x, TensorBase):
                continue
            lazy = x._lazy
            found.append(
                cnp.broadcast_to(lazy, (size, *lazy.shape)) if dim is None
                else cnp.moveaxis(lazy, dim, 0)
            )  # fmt: skip
        return found

    def rules_of_batch(self, batched: list[bool], size: int) -> Any:
        """Rules of the call over a new dimension."""
        return _Batched(self, batched, size)


class _Batched:
    """Generated rules: those of one slice, over the first dimension."""

    def __init__(self, rules: Any, batched: list[bool], size: int) -> None:
        self.rules, self.batched, self.size = rules, batched, size

    def _mapped(self, rule: Any, like: int, inputs: Lazies, outputs: Lazies,
                flows: Optional, axes: Any) -> Lazies:  # fmt: skip
        """The rule over slices, zeros for None; `like` says of what its results are."""
        present = [i for i, x in enumerate(flows) if x is not None]

        def of_slice(parts: Any) -> Any:
            given: Optional = [None] * len(flows)
            for i, x in zip(present, parts[2]):
                given[i] = x
            found = rule(parts[0], parts[1], given)
            return [cnp.zeros(y.shape, y.dtype) if x is None else x
                    for x, y in zip(found, parts[like])]  # fmt: skip

        of_inputs = [0 if flag else None for flag in self.batched]
        in_axes = ([of_inputs, [0] * len(outputs), [axes[i] for i in present]],)
        values = [list(inputs), list(outputs), [flows[i] for i in present]]
        return list(functional.vmap(of_slice, in_axes=in_axes)(values))

    def vjp(self, inputs: Lazies, outputs: Lazies, gradients: Optional) -> Optional:
        """Gradients of slices; of what is the same for all, their sum."""
        with _Within():
            found = self._mapped(self.rules.vjp, 0, inputs, outputs, gradients, [0] * len(outputs))
            return [
                None if x.dtype.kind not in "fcV" else g if is_batched else cnp.sum(g, 0)
                for g, x, is_batched in zip(found, inputs, self.batched)
            ]

    def jvp(self, inputs: Lazies, outputs: Lazies, tangents: Optional) -> Optional:
        """Tangents of slices."""
        with _Within():
            axes = [0 if flag else None for flag in self.batched]
            return list(self._mapped(self.rules.jvp, 1, inputs, outputs, tangents, axes))

    def batch(self, inputs: Lazies, batched: list[bool], size: int) -> Lazies:
        """Generated again."""
        return []

    def rules_of_batch(self, batched: list[bool], size: int) -> Any:
        """Rules of the call over another new dimension."""
        return _Batched(self, batched, size)


def _is_none(value: Any) -> bool:
    return value is None


def _no_writes(function: Any) -> Exception:
    return not_implemented(
        f"{function.__name__}: writes into an argument (mark_dirty), which within "
        "torch.func's vmap and forward mode is not built. A forward that makes new tensors is "
        "required."
    )


def apply(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a Function as a node with its rules."""
    if function.setup_context is Function.setup_context:
        raise runtime_error(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            "jacrev, ...), it must override the setup_context staticmethod. For more details, "
            f"please see {_MORE}"
        )
    if any(isinstance(x, TensorBase) for x in kwargs.values()):
        raise not_implemented(
            "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass "
            f"kwarg-only Tensors to autograd.Function. Got: {sorted(kwargs)}"
        )
    places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
    given = [args[i]._lazy for i in places]
    parameters = [_core.input(f"x{i}", x.dtype, x.shape) for i, x in enumerate(given)]
    inside = list(args)
    for place, parameter in zip(places, parameters):
        inside[place] = wrapped(parameter.copied())  # a cell of its own, which shows writes
    with _Within():
        result = function.forward(*inside, **kwargs)
    if any(inside[i]._lazy.node != x.node for i, x in zip(places, parameters)):
        raise _no_writes(function)
    tensors = [x._lazy for x in _items(result) if isinstance(x, TensorBase)]
    several = isinstance(result, (tuple, list))
    without = [None if isinstance(x, TensorBase) else x for x in _items(result)]
    template = type(result)(without) if several else without[0]
    empty = [None if isinstance(x, TensorBase) else x for x in args]
    rules = _Rules(function, empty, places, template)
    graphs.made += 1
    made = iter(_core.ruled_call(function.__name__, parameters, tensors, given, rules))
    results = [wrapped(next(made)) if isinstance(x, TensorBase) else x for x in _items(result)]
    return type(result)(results) if several else results[0]


_Graphs.call_by_rules = staticmethod(apply)


def plain(value: Any) -> Any:
    """A structure without the rules of calls, where no transform is around this any more: graphs
    with rules are not found by their structure."""
    if not graphs.made or graphs.depth or graphs.ruled:
        return value
    found = structure.leaves(value, TensorBase, distinct=True)
    for tensor, lazy in zip(found, _core.without_rules([x._lazy for x in found])):
        if lazy.node != tensor._lazy.node:
            tensor._lazy.replaced(lazy)
    return value
