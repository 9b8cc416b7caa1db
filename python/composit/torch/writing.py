"""Writes in place: what a memory holds afterwards, and where gradients go."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import nn
from composit._core import GradFn, LazyTensor, is_recorded, record_name, record_of, runtime_error
from composit.torch import assigning, materializing, steps
from composit.torch.places import beside
from composit.torch.tape import is_grad_enabled
from composit.torch.tensor_base import TensorBase


def is_alias(one: Any, other: Any) -> bool:
    """Whether both see the same elements of one memory."""
    a, b = one._lazy, other._lazy
    return (
        a.is_in_memory_of(b)
        and a.offset == b.offset
        and (a.shape, a.strides) == (b.shape, b.strides)
    )


def stored(result: Any) -> LazyTensor:
    """What memory holds of a result: no gradient goes from there to what it was made of, unless the
    result is recorded."""
    lazy = result._lazy
    if not result._is_tainted or is_recorded(result):
        return lazy
    return _core.own_constant(lazy) if lazy.node.is_constant else nn.stop_gradient(lazy)


def overwrite(target: Any, value: LazyTensor, has_gradient: bool = False) -> None:
    """Puts a value, in the target's dtype and shape, in the target's place and its views'. Where
    autograd does not see it, gradients go on as if nothing had been written. `has_gradient` says
    that gradients go from the target to what the value is made of."""
    steps.interrupt()
    lazy = target._lazy
    value = beside(value, lazy)
    if value.dtype != lazy.dtype:
        value = _cast(value, lazy.dtype)
    if tuple(value.shape) != tuple(lazy.shape):
        value = _broadcast(value, lazy.shape)
    owner, is_known = assigning.memory_of(target)
    held = owner._lazy
    before = None
    is_result = is_recorded(owner) and not owner._is_leaf_with_grad
    is_left = owner._root is not None  # the tensor of this memory lies in other memory now
    if is_left:
        held = held.memory()
    if is_left or (is_result and not (is_known and is_grad_enabled())):
        before = held.copied()
        value = value if has_gradient else nn.stop_gradient(value)
    is_own = owner._is_leaf_with_grad and value.node.is_constant
    if has_gradient and not is_known:
        # Through the detached tensor, and none through those that share its memory.
        alias = target if target._root is None else target._root
        alias._lazy.write_with_gradient(lazy, value)
    else:
        # A leaf's node is of its own: gradients stop there.
        lazy.replaced(_core.own_constant(value) if is_own else value)
    if owner._is_leaf_with_grad:
        owner._is_pending = not held.node.is_constant
        if owner._is_pending:
            held.replaced(nn.stop_gradient(held))
            materializing.enter(owner)
    elif before is not None:
        held.replaced(nn.with_values(before, held))
    _core.count_write(target)
    if not lazy.node.is_constant:
        target._is_pending = target._is_leaf_with_grad
        materializing.enter(target)


def _cast(value: LazyTensor, to: Any) -> LazyTensor:
    from composit import numpy as cnp

    return cnp.astype(value, to)


def _broadcast(value: LazyTensor, shape: Any) -> LazyTensor:
    from composit import numpy as cnp

    return cnp.broadcast_to(value, shape)


def check_writable(target: Any, is_view: bool = False) -> None:
    """RuntimeError for leaves that require gradients, and views of them, where it is recorded.
    `is_view` says that a view of the target is written."""
    if not is_grad_enabled():
        return
    if target._is_leaf_with_grad and not is_view:
        kind = "a view of a leaf" if target._number < 0 else "a leaf"
        raise runtime_error(
            f"{kind} Variable that requires grad is being used in an in-place operation."
        )
    root = target if target._root is None else target._root
    if root._is_leaf_with_grad:
        if target._number:
            _refuse_one_of_several(target)
        raise runtime_error(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )


_order = "biufc"


def write(target: Any, result: Any, name: str) -> Any:
    """An in-place operation: the target becomes the result, which may be recorded."""
    check_writable(target)
    seen, made = target._seen, result._seen
    has, new = seen.dtype, made.dtype
    if has != new:
        kinds = [4 if d.kind == "V" else _order.index(d.kind) for d in (has, new)]
        kinds = [1 if kind == 2 else 3 if kind == 4 and d.kind == "V" else kind
                 for kind, d in zip(kinds, (has, new))]  # fmt: skip
        if kinds[1] > kinds[0]:
            raise runtime_error(f"result type {new} can't be cast to the desired output type {has}")
    if tuple(made.shape) != tuple(seen.shape):
        raise runtime_error(
            f"output with shape {list(seen.shape)} doesn't match the broadcast shape "
            f"{list(made.shape)}"
        )
    replace(target, result, name)
    return target


def _refuse_one_of_several(target: Any) -> None:
    maker = target._record.name() if target._record else "a function of several views"
    raise runtime_error(
        f"Output {target._number - 1} of {maker} is a view and is being modified inplace. This "
        "view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace "
        "operation by an out-of-place one."
    )


_keeping = ("fill", "copy")  # what they overwrite gets a gradient of zeros


def replace(target: Any, result: Any, name: str) -> None:
    """The target becomes the result, record and all."""
    if not result._has_lazy and not is_recorded(result):
        _core.materialized_by_structure(result)  # so that no nodes are made of what came before
    steps.interrupt()
    has_gradient = is_recorded(result)
    is_written_with_gradient = is_grad_enabled() and (has_gradient or is_recorded(target))
    if is_written_with_gradient and target._number:
        _refuse_one_of_several(target)
    if has_gradient:
        operands = [record_of(result)]
        if name == "copy" and is_grad_enabled() and target._record is not None:
            operands.append(target._record)
        record = GradFn(record_name(name), operands)
        root = target._root
        if root is not None:
            if root._record is None and root._is_tainted:  # what is not written stays as it is
                root._lazy.hold_back()
            root._record = target._record_of_root = GradFn("CopySlices", [root._record, record])
        target._record = record
    elif (
        name in _keeping
        and is_grad_enabled()
        and target._root is None
        and target._record is not None
    ):
        target._record = GradFn(
            record_name(name), [target._record]
        )  # zeros go on to where it came from
    elif (
        target._root is None
        and not target._is_leaf_with_grad
        and (target._record is None or is_grad_enabled())
    ):
        target._record = None
        target._is_tainted = target._twin is not None
    overwrite(target, stored(result), is_written_with_gradient)
    if has_gradient and result._record is not None:
        _core.moved_into(result._record, target)


def may_see_others(tensor: Any) -> bool:
    """Whether its memory may be seen by other tensors, too."""
    return tensor._root is not None or tensor._is_shared or tensor._twin is not None


def share_memory(one: Any, other: Any) -> bool:
    """Whether both lie in one memory. Tensors of a trace have none yet, but that of their root."""
    a, b = (x if x._root is None else x._root for x in (one, other))
    return a is b or (a._has_lazy and b._has_lazy and a._lazy.is_in_memory_of(b._lazy))


def check_overlap(target: Any, operands: Any) -> None:
    """RuntimeError where elements of the target are one in memory, or are some, but not all, of an
    operand's."""
    for value in operands:
        if isinstance(value, TensorBase) and share_memory(target, value):
            _core.check_overlap(target._lazy, value._lazy)


def inplace(over_tensors: Any, name: str) -> Any:
    """The function that writes its result over its first operand."""

    assigned = assigning.assigned

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._is_leaf_with_grad or self._root is not None:
            check_writable(self)
        if may_see_others(self):
            check_overlap(self, (self, *args, *kwargs.values()))
        made = over_tensors(self, *args, **kwargs)
        for value in args:
            if made is value:
                break
        else:
            if assigned(self, made):
                return self
        return write(self, made, name)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"{name}, written over the tensor."
    return method
