"""How a function over LazyTensors becomes one of torch's: over Tensors, recorded where a gradient
is wanted, as a function of the module and as a method."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit import nn, structure
from composit._core import (
    GradFn,
    LazyScalar,
    LazyTensor,
    NotSupported,
    PyTorchValueError,
    record_name,
    runtime_error,
    type_error,
)
from composit._core import is_recorded as is_recorded
from composit._core import record_of as record_of
from composit.flashlight.operators import table
from composit.torch import (
    casting,
    errstate,
    keywords,
    materializing,
    places,
    saved_values,
    steps,
    writing,
)  # fmt: skip
from composit.torch.dtypes import Size, check_device, device, dtype
from composit.torch.tape import is_grad_enabled
from composit.torch.tensor_base import TensorBase as TensorBase

functions: dict[str, Any] = {}  # torch.NAME
methods: dict[str, Any] = {}  # Tensor.NAME
neural: dict[str, Any] = {}  # torch.nn.functional.NAME

_other_names = {"axis": "dim", "keepdims": "keepdim", "self": "input"}
_ignored = ("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator")


class Above:
    """What operations need of the files that need this one: these provide it."""

    recorded: Callable[..., Any]  # an operation as a trace's next one (recording.py)
    on_one_device: Callable[..., Any]  # operands that lay on several devices (moving.py)


above = Above()
_made: dict[str, Any] = {}  # the class Tensor, set by composit/torch/tensor.py


def wrapped(lazy: LazyTensor, is_gradient: bool = False) -> Any:
    """A Tensor of a LazyTensor."""
    tensor = _new(_made["Tensor"])
    tensor._lazy = lazy
    (materializing.enter_gradient if is_gradient else materializing.enter)(tensor)
    return tensor


_new = object.__new__


def laid_as(lazy: Any, input: Any) -> Any:
    """In memory where its axes follow each other as the tensor's do, which has the same shape."""
    like = input._seen
    return lazy if like.is_contiguous_in(False) else _core.laid_in_order_of(lazy, like)


def _operand(value: Any, is_detached: bool) -> Any:
    if isinstance(value, TensorBase):
        if is_detached and value._is_tainted and not is_recorded(value):
            return nn.stop_gradient(value._lazy)
        return value._lazy
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([_operand(item, is_detached) for item in value])
    if kind is Size:
        return tuple(value)
    if kind is dtype:
        return value.numpy
    if kind is np.ndarray:
        raise type_error("an ndarray is given. A Tensor is required; torch.from_numpy makes one.")
    return value


def read(tensor: TensorBase) -> None:
    """A recorded operation reads the tensor: what the leaf holds that it is, or is a view of, is
    noted."""
    leaf = tensor if tensor._root is None else tensor._root
    if leaf._is_leaf_with_grad:
        if leaf._is_pending:
            materializing.materialize(leaf)
        held = leaf._lazy if leaf is tensor else tensor._lazy.read_from()
        # A view sees the memory that the leaf had, if the leaf was given another one.
        if held.node.is_constant or held.node.operation.name == "stop_gradient":
            _core.note_reading(leaf, held)


_drawing = ("composit.torch.functions.random", "composit.flashlight.operators.random")


def settled_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments under the names that functions here have, without those that mean nothing here."""
    if not kwargs:
        return args, {}
    kwargs = {_other_names.get(key, key): value for key, value in kwargs.items()}
    check_device(kwargs.get("device"))
    for key in _ignored:
        kwargs.pop(key, None)
    if "input" in kwargs:
        args = (kwargs.pop("input"), *args)
    return args, kwargs


# Classes of operands that are no Tensors: what a function of torch does with them.
others: dict[type, Callable[[str, tuple[Any, ...], dict[str, Any]], Any]] = {}

pure: set[Any] = set()  # functions that are one object for ever and draw nothing


def call(
    function: Callable[..., Any], name: str, is_view: bool, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The function's result over Tensors."""
    if casting.state.dtype is not None:

        def again(*args: Any, **kwargs: Any) -> Any:
            return call(function, name, is_view, args, kwargs)

        made = casting.called(name, again, args, kwargs)
        if made is not NotImplemented:
            return made
    made = _core.follow(function, args, kwargs)
    if made is not NotImplemented:
        return made
    return call_unknown(function, name, is_view, args, kwargs)


def call_unknown(
    function: Callable[..., Any], name: str, is_view: bool, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The result of a function that was not met at this point of the trace."""
    if others:
        for value in args:
            called = others.get(type(value))
            if called is not None:
                return called(name, args, kwargs)
    _core.check_operands(name, args, kwargs, name in methods)
    if kwargs:
        args, kwargs = keywords.renamed(function, name, args, kwargs)
    if function in pure:
        # Leaves that were written are constants before a trace meets them.
        pending = [x for x in args if isinstance(x, TensorBase) and x._is_pending]
        if pending and not steps.capturing[0]:
            materializing.materialize(*pending)
            return call(function, name, is_view, args, kwargs)
        trace = steps.open_trace()
        if trace is not None:
            return above.recorded(trace, function, name, is_view, args, kwargs)
    return call_now(function, name, is_view, args, kwargs)


def call_now(
    function: Callable[..., Any], name: str, is_view: bool, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The function's result over Tensors, with nodes."""
    args, kwargs = settled_arguments(args, kwargs)
    out = kwargs.pop("out", None)
    found = structure.leaves((args, tuple(kwargs.values())), TensorBase)
    recorded = [tensor for tensor in found if is_recorded(tensor)] if is_grad_enabled() else []
    is_recording = bool(recorded)
    for tensor in recorded:
        read(tensor)
    plain = [_operand(value, is_recording) for value in args]
    named = {key: _operand(value, is_recording) for key, value in kwargs.items()}
    token = errstate.begin()
    again: Any = None
    try:
        # Numbers of Python that it computes are not rounded as the caller rounds.
        result = _core.called_in_operation(function, *plain, **named)
        if function is not places.transfer:
            result = places.joined(result, plain)
        if is_view:
            result = as_views(result, plain[0], is_recording)
    except NotSupported:
        raise
    except ValueError as error:
        if isinstance(error, IndexError):
            raise IndexError(str(error)) from None
        if isinstance(error, PyTorchValueError):
            raise ValueError(str(error)) from None
        raise RuntimeError(str(error)) from None
    except RuntimeError as error:
        if not places.is_mixing(error):
            raise
        again = above.on_one_device(error, function, args, kwargs)
        if again is None:
            raise
    finally:
        errstate.end(token)
    if again is not None:
        if out is not None:
            again[1]["out"] = out
        return call_now(function, name, is_view, *again)
    is_tainted = not is_recording and any(t._is_tainted or is_recorded(t) for t in found)
    record = None
    if is_recording:
        record = GradFn(record_name(name), map(record_of, recorded))
    if isinstance(out, TensorBase):
        writing.check_overlap(out, (out, *found))
    result = _result(result, found, record, is_tainted, is_view)
    if record is not None and record.saves_values:
        _save(record, function, args, kwargs, result)
    if out is None:
        return result
    return _written_out(name, out, result)


def _save(record: Any, function: Any, args: Any, kwargs: Any, result: Any) -> None:
    """What the operation saves for its gradient."""
    given = (*enumerate(args), *kwargs.items())
    operands = [
        x for place, value in given
        for x in saved_values.tensors_in(place, value, TensorBase, is_recorded)
    ]  # fmt: skip
    saved_values.save(record, function, operands, structure.leaves(result, TensorBase), given)


def _written_out(name: str, out: Any, result: Any) -> Any:
    if isinstance(out, tuple):
        for target, value in zip(out, result):
            _written_out(name, target, value)
        return out
    if is_recorded(out) or is_recorded(result):
        raise runtime_error(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if out.shape == result.shape:
        writing.overwrite(out, writing.stored(result))
    else:
        out._lazy = _core.laid_like(writing.stored(result), result._lazy)
    return out


def _result(result: Any, found: list[Any], record: Any, is_tainted: bool, is_view: bool) -> Any:
    if isinstance(result, LazyTensor):
        return _one(result, found, record, is_tainted, is_view)
    if isinstance(result, table.Written):
        raise AssertionError("a function that writes is called by itself")
    if isinstance(result, (list, tuple)):
        parts = [_result(part, found, record, is_tainted, is_view) for part in result]
        for number, part in enumerate(parts, 1):
            if is_view and part._root is not None:
                part._number = number
        if hasattr(result, "_fields"):
            return type(result)(*parts)
        return type(result)(parts)
    return result


def of_its_own(lazy: LazyTensor, is_recorded: bool) -> LazyTensor:
    """The same in other memory, with a node of its own, so that a value that was saved of the copy
    is told apart from one of what was copied. Gradients go through it where it is recorded."""
    made = lazy.copied_in_order()
    made.replaced(nn.with_values(lazy, lazy) if is_recorded else _core.own_constant(lazy))
    return made


def as_views(result: Any, source: LazyTensor, is_recorded: bool) -> Any:
    """A view's results: elements are tensors without dimensions, which see the source's memory. A
    recorded view of the whole has a node of its own: a leaf may get other data than it."""
    if isinstance(result, (list, tuple)):
        return tuple(as_views(part, source, is_recorded) for part in result)
    if isinstance(result, LazyTensor) and is_recorded and result.is_same(source):
        return _core.whole_view(source)
    if isinstance(result, LazyScalar):
        return _core.view(result, source)
    return result


def _one(lazy: LazyTensor, found: list[Any], record: Any, is_tainted: bool, is_view: bool) -> Any:
    root = None
    if is_view and lazy.is_in_memory_of(found[0]._lazy):
        source = found[0]
        root = source if source._root is None else source._root
        root._is_shared = True
    elif not lazy.is_plain or any(lazy.is_same(tensor._lazy) for tensor in found):
        lazy = of_its_own(lazy, record is not None)
    tensor = _new(_made["Tensor"])
    tensor._lazy = lazy
    if root is not None:
        tensor._root, tensor._record_of_root = root, root._record
    if record is not None:
        if lazy.dtype.kind in "fcV":
            tensor._record = record
        else:
            tensor._is_tainted = True
    elif is_tainted:
        tensor._is_tainted = True
    materializing.enter(tensor)
    return tensor


def lifted(function: Callable[..., Any], name: str, is_view: bool = False) -> Any:
    """The function over Tensors that `call` makes, for calls without further work."""

    def unknown(*args: Any, **kwargs: Any) -> Any:
        return call_unknown(function, name, is_view, args, kwargs)

    return _core.TorchFunction(function, unknown)


def define(
    function: Callable[..., Any], name: str, *, is_view: bool = False, is_function: bool = True,
    is_method: bool = True, is_neural: bool = False, is_inplace: bool = False,
    doc: str | None = None, order: str | None = None,
) -> Any:  # fmt: skip
    """Makes a function over LazyTensors one of torch's, under a name. Its results lie in memory in
    row-major order (`order` "rows"), with their axes as those of the first operand ("first"), or
    as composit/eager/operation_strides.h says."""
    if order is not None:
        _core.set_order_of_results(function, order)

    over_tensors = lifted(function, name, is_view)
    functools.update_wrapper(over_tensors, function)
    if function.__module__ not in _drawing:
        pure.add(function)
    over_tensors.__name__ = over_tensors.__qualname__ = name
    over_tensors.__module__ = "composit.torch"
    over_tensors.__doc__ = doc or function.__doc__ or f"torch's {name}."
    enter(name, over_tensors, is_function, is_method, is_neural, is_inplace)
    return over_tensors


def enter(
    name: str, over_tensors: Any, is_function: bool = True, is_method: bool = True,
    is_neural: bool = False, is_inplace: bool = False,
) -> None:  # fmt: skip
    """Puts a function over Tensors where it is found."""
    if is_function:
        functions[name] = over_tensors
    if is_neural:
        neural[name] = over_tensors
    if is_method:
        methods[name] = over_tensors
    if is_inplace:
        methods[f"{name}_"] = writing.inplace(over_tensors, name)
        if is_function:
            functions[f"{name}_"] = methods[f"{name}_"]


def torch_function(
    *names: str, is_view: bool = False, is_function: bool = True, is_method: bool = True,
    is_neural: bool = False, is_inplace: bool = False, order: str | None = None,
) -> Callable[[Any], Any]:  # fmt: skip
    """Makes a function over LazyTensors these functions and methods of torch."""

    def add(function: Any) -> Any:
        for name in names or (function.__name__.strip("_"),):
            define(function, name, is_view=is_view, is_function=is_function, is_method=is_method,
                   is_neural=is_neural, is_inplace=is_inplace, order=order)  # fmt: skip
        return function

    return add


def method(function: Any) -> Any:
    """Makes a function over Tensors a method of torch's, under its own name."""
    methods[function.__name__] = function
    return function


def as_device(value: Any) -> Any:
    """A device, checked."""
    check_device(value)
    return value if isinstance(value, device) else device(value)


steps.parts.materializing = materializing
