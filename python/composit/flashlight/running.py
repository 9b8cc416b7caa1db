"""What a trace does with one operator: torch's shapes, composit's values, memory that is shared."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tag
from torch._ops import HigherOrderOperator
from torch.utils._mode_utils import no_dispatch

import composit._core as _core
from composit import numpy as cnp
from composit import structure
from composit._core import LazyTensor
from composit.flashlight import operators
from composit.flashlight.control import of_functions
from composit.flashlight.decompositions import decomposed
from composit.flashlight.dtypes import numpy_dtype
from composit.flashlight.places import mapped, tensors_in
from composit.flashlight.refusals import PARTS_WRITTEN, refuse, refuse_values
from composit.flashlight.tensor import Tensor

_DYNAMIC = (Tag.data_dependent_output, Tag.dynamic_output_shape)
_INDEXED = ("index", "_unsafe_index", "index_put", "index_put_", "_unsafe_index_put")
_LIFTS = ("lift_fresh", "lift_fresh_copy", "lift")
_RESIZED = ("resize_", "resize_as_", "set_")
_OF_METADATA = ("resize_", "set_", "resize_as_", "as_strided_", "t_", "transpose_", "squeeze_",
                "unsqueeze_", "swapaxes_", "swapdims_", "rename_")  # fmt: skip


def run(tracer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """The operator's result in the trace."""
    if isinstance(func, HigherOrderOperator):
        return of_functions(tracer, func, args)
    name = func._schema.name.partition("::")[2]
    is_random = Tag.nondeterministic_seeded in func.tags
    given = tensors_in((args, kwargs))
    if name in _LIFTS and not any(isinstance(tensor, Tensor) for tensor in given):
        return tracer.constant(args[0].clone())
    if Tag.inplace_view in func.tags and isinstance(args[0], Tensor):
        functional = None if name in _RESIZED else _functional(func)
        if functional is not None:
            return _shown_otherwise(tracer, func, functional, args, kwargs)
    if all(tracer.is_constant(tensor) for tensor in given) and not is_random:
        return _by_torch(tracer, func, args, kwargs)
    if name in _INDEXED:
        args = (args[0], _numbered(tracer, args[1]), *args[2:])
    elif any(tag in func.tags for tag in _DYNAMIC) and not _has_classes(name, args, kwargs):
        if not tracer.run_torch:
            refuse_values(tracer, str(func))
        if name == "masked_select":
            x, mask = torch.broadcast_tensors(*args)
            return run(tracer, torch.ops.aten.index.Tensor, (x, [mask]), {})
        return _by_values(tracer, func, args, kwargs)
    if name in _OF_METADATA:
        refuse(tracer, str(func), "the shape of a traced tensor is changed in place.")
    if func._schema.is_mutable:
        return _mutated(tracer, func, args, kwargs)
    row = operators.find(func)
    if row is None:
        return decomposed(tracer, func, args, kwargs)
    return _mapped(tracer, func, row, args, kwargs)


def _numbered(tracer: Any, indices: Any) -> list[Any]:
    """Indices with masks that are constants as the numbers of what they choose."""
    found: list[Any] = []
    for index in indices:
        is_mask = index is not None and index.dtype in (torch.bool, torch.uint8)
        if is_mask and tracer.is_constant(index):
            found += [tracer.constant(numbers) for numbers in index._real.nonzero(as_tuple=True)]
        elif is_mask and tracer.run_torch:
            chosen = tracer.value_of(index, "a mask").nonzero(as_tuple=True)
            found += [tracer.constant(numbers) for numbers in chosen]
        else:
            found.append(index)
    return found


def _has_classes(name: str, args: Any, kwargs: Any) -> bool:
    """Whether it is one_hot with the number of classes, which the values are not asked for."""
    return name == "one_hot" and kwargs.get("num_classes", (*args, -1)[1]) >= 0


def _shown_otherwise(tracer: Any, func: Any, functional: Any, args: Any, kwargs: Any) -> Any:
    """A value of the trace whose shape is changed in place: it becomes the view that the operator
    without the underscore gives."""
    target = args[0]
    made = run(tracer, functional, args, kwargs)
    with no_dispatch():
        func(*args, **kwargs)
    if tuple(target.shape) != tuple(made.shape) or target.stride() != made.stride():
        refuse(tracer, str(func), "the shape of a traced tensor is changed in place.")
    target._twin, target._elements, target._real = made._twin, made._elements, made._real
    target._depth = made._depth
    return target


def _by_values(tracer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """The operator on the values of its operands, computed by torch now. Only numbers that have no
    gradient come of that."""

    def known(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return tracer.value_of(value, str(func)) if isinstance(value, Tensor) else value.detach()

    result = func(*mapped(args, known), **mapped(kwargs, known))
    if any(x.dtype.is_floating_point or x.dtype.is_complex for x in tensors_in(result)):
        refuse_values(tracer, str(func))
    return mapped(result, lambda x: tracer.constant(x) if isinstance(x, torch.Tensor) else x)


def _by_torch(tracer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """The operator on constants, computed by torch now."""
    reals: dict[int, Tensor] = {}

    def real(value: Any) -> Any:
        if isinstance(value, Tensor):
            reals[id(value._real)] = value
            return value._real
        return value

    if func._schema.is_mutable:
        for tensor in tensors_in(_targets(func, args, kwargs)):
            _check_scope(tracer, func, tracer.depth_of(tensor))
    result = func(*mapped(args, real), **mapped(kwargs, real))
    if func._schema.is_mutable:
        for tensor in tensors_in(_targets(func, args, kwargs)):
            tracer.memory.note_write(tensor._real)  # type: ignore[attr-defined]

    def constant(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        known = reals.get(id(value))
        return tracer.constant(value) if known is None else known

    return mapped(result, constant)


def _mapped(tracer: Any, func: Any, row: Any, args: Any, kwargs: Any) -> Any:
    """The operator as composit's: a row of the table."""
    twins: dict[int, torch.Tensor] = {}
    seen = _meta(tracer, func, args, kwargs, twins, row.meta)
    if seen is None:  # torch has checked something
        return None
    options: dict[str, Any] = {}
    if row.wants_shape:
        options["shape"] = tuple(seen.shape)
    if row.wants_dtype:
        options["dtype"] = numpy_dtype(seen.dtype)
    if row.wants_key:
        options["key"] = tracer.next_key()

    def operand(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return tracer.operand(value)
        return numpy_dtype(value) if isinstance(value, torch.dtype) else value

    plain = mapped(args, operand)
    looks_up = bool(tracer.scopes) and func._schema.name in _LOOKUPS
    if looks_up:
        plain = (plain[0], *mapped(plain[1:], functools.partial(_within_bounds, tracer)))
    named = {name: mapped(value, operand) for name, value in kwargs.items() if name not in _ignored}
    memories = {twins[id(x)].untyped_storage()._cdata: x for x in reversed(tensors_in(args))}
    sources = {id(x): memories.get(x.untyped_storage()._cdata) for x in tensors_in(seen)}
    if any(source is not None and source is args[0] for source in sources.values()):
        plain = (tracer.viewed(args[0]), *plain[1:])  # composit's views of it are torch's
    elif all(x.numel() == 0 and sources[id(x)] is None for x in tensors_in(seen)):
        return mapped(
            seen, lambda x: tracer.tensor(cnp.zeros(tuple(x.shape), numpy_dtype(x.dtype)), x)
        )
    try:
        result = row.function(*plain, **{**named, **options})
    except Exception as error:  # torch took the arguments
        if isinstance(error, IndexError) and "out of bounds" in str(error):
            raise  # as torch does when it computes
        refuse(tracer, str(func), str(error))
    if looks_up:
        ends = [x for x in _lazy_in(plain) if not x.node.is_constant]
        for scope in tracer.scopes:
            scope.note_total(_lazy_in(result), ends)
    if isinstance(result, operators.Written):
        for index, value in result.writes.items():
            name = func._schema.arguments[index].name
            _write(tracer, args[index] if index < len(args) else kwargs[name], value)
        result = result.result
    if not isinstance(result, (tuple, list)):
        return _wrapped(tracer, func, result, seen, sources, args, plain)
    return type(seen)(
        _wrapped(tracer, func, value, twin, sources, args, plain)
        for value, twin in zip(result, seen)
    )


# Operators that look up elements of their first operand by the indices that the others hold.
_LOOKUPS = {
    f"aten::{name}"
    for name in ("embedding", "gather", "index", "index_select", "take", "_unsafe_index")
}


def _within_bounds(tracer: Any, value: Any) -> Any:
    """An index as the functions around look up with: of a side that is not taken, 0."""
    if isinstance(value, LazyTensor) and not value.node.is_constant and value.dtype.kind in "iu":
        for scope in tracer.scopes:
            value = scope.within_bounds(value)
    return value


def _lazy_in(value: Any) -> list[LazyTensor]:
    return structure.leaves(value, LazyTensor)


_ignored = ("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator")


def _wrapped(
    tracer: Any, func: Any, value: Any, twin: Any, sources: dict[int, Any], args: Any, plain: Any
) -> Any:
    """One output as a value of the trace: in a memory of its own, or a view of an operand's."""
    if value is None or twin is None:
        return None
    value = _fitted(tracer, func, value, twin)
    source = sources[id(twin)]
    if source is None:
        return tracer.tensor(value, twin)
    if isinstance(source, Tensor) and twin is source._twin:
        return source
    if source is not args[0]:
        refuse(tracer, str(func), "a view of an operand that is not the first.")
    if not value.is_in_memory_of(plain[0]):  # an element is a scalar
        value = _core.view(value, plain[0])
    if not value.is_in_memory_of(plain[0]):
        value = _core.numpy.made_of(plain[0], value, PARTS_WRITTEN)
    return Tensor(tracer, twin, value, None, tracer.depth_of(source))


def _fitted(tracer: Any, func: Any, value: Any, twin: torch.Tensor) -> LazyTensor:
    """The value, of the dtype that torch has; of its shape it must be."""
    value = cnp.asarray(value)
    if tuple(value.shape) != tuple(twin.shape):
        refuse(
            tracer,
            str(func),
            f"composit's result has shape {tuple(value.shape)}, torch's {tuple(twin.shape)}.",
        )
    dtype = numpy_dtype(twin.dtype)
    return value if value.dtype == dtype else cnp.astype(value, dtype)


def _meta(
    tracer: Any, func: Any, args: Any, kwargs: Any, twins: dict[int, torch.Tensor], other: Any
) -> Any:
    """The operator on the device "meta", which knows everything but values; or another function."""

    def twin(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return twins.setdefault(id(value), tracer.twin(value))
        return torch.device("meta") if isinstance(value, torch.device) else value

    options = mapped(kwargs, twin)
    is_factory = not tensors_in((args, kwargs))
    if is_factory and "device" in {argument.name for argument in func._schema.arguments}:
        options["device"] = torch.device("meta")
    try:
        return (other or func)(*mapped(args, twin), **options)
    except NotImplementedError as error:
        refuse(tracer, str(func), f"torch does not say what its result looks like: {error}")


# ----- operators that write


def _targets(func: Any, args: Any, kwargs: Any) -> list[Any]:
    """The arguments that the operator writes."""
    found = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            found.append(args[i] if i < len(args) else kwargs.get(argument.name))
    return found


def _mutated(tracer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """The operator's functional form, and what it gives written to the operands."""
    row = operators.find_functional(func)
    functional = None if row else _functional(func)
    targets = _targets(func, args, kwargs)
    for target in tensors_in(targets):
        if not isinstance(target, Tensor) and not tracer.paths.name_of(target):
            refuse(
                tracer,
                str(func),
                "this writes a tensor from before the trace, which stays as it was. A clone of it "
                "can be written.",
            )
        _check_scope(tracer, func, tracer.depth_of(target))
        if 0 in target.stride() and any(
            n > 1 and step == 0 for n, step in zip(target.shape, target.stride())
        ):
            refuse(tracer, str(func), _REPEATED)
    if row is not None:
        target = targets[0]
        options = {"key": tracer.next_key()} if row.wants_key else {}
        plain = mapped(args, lambda x: tracer.read(x) if isinstance(x, torch.Tensor) else x)
        _write(tracer, target, row.function(*plain, **options))
        return _alias(tracer, target)
    if functional is None or any(not isinstance(target, torch.Tensor) for target in targets):
        if func._can_decompose():
            return decomposed(tracer, func, args, kwargs)
        refuse(
            tracer, str(func), "this operator writes its operands, and has no form that does not."
        )
    names = {argument.name for argument in functional._schema.arguments}
    known = {name: value for name, value in kwargs.items() if name in names}
    results = run(tracer, functional, args, known)
    several = results if isinstance(results, (tuple, list)) else (results,)
    for target, result in zip(targets, several):
        _write(tracer, target, tracer.read(result))
    written = tuple(_alias(tracer, target) for target in targets)
    if not func._schema.returns:
        return None
    return written if isinstance(results, (tuple, list)) else written[0]


# In torch's words.
_REPEATED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)


def _check_scope(tracer: Any, func: Any, depth: int) -> None:
    """Refuses to write what was made outside of the function that is being traced."""
    if depth < len(tracer.scopes):
        refuse(
            tracer,
            str(func),
            f"a function that {tracer.scopes[-1].operator} calls writes a tensor from outside of "
            "it. A clone of it can be written, and returned.",
        )


def _functional(func: Any) -> Any:
    """The operator that computes the same and writes nothing."""
    packet, overload = func.overloadpacket, func._overloadname
    name = func._schema.name.partition("::")[2]
    namespace = getattr(torch.ops, func.namespace)
    if name.endswith("_") and not name.endswith("__"):
        found = getattr(namespace, name[:-1], None)
        if found is not None and overload in found.overloads():
            return getattr(found, overload)
        return getattr(found, "int", None) if name == "transpose_" else None
    wanted = [a.name for a in func._schema.arguments if a.alias_info is None]
    if len(wanted) == len(func._schema.arguments):
        return None
    for other in packet.overloads():
        found = getattr(packet, other)
        arguments = [a.name for a in found._schema.arguments]
        if not found._schema.is_mutable and arguments[: len(wanted)] == wanted:
            return found
    return None


def _write(tracer: Any, target: torch.Tensor, value: LazyTensor) -> None:
    """Replaces the elements of a tensor, and of all that shares its memory."""
    dtype = numpy_dtype(target.dtype)
    if value.dtype != dtype:
        value = cnp.astype(value, dtype)
    if tuple(value.shape) != tuple(target.shape):
        value = cnp.broadcast_to(value, tuple(target.shape))
    tracer.place(target).replaced(value)


def _alias(tracer: Any, target: torch.Tensor) -> Any:
    """What a written tensor is in the trace: the operand itself, or a view of a plain one."""
    if isinstance(target, Tensor):
        return target
    return Tensor(tracer, tracer.twin(target), tracer.place(target), None, tracer.depth_of(target))
