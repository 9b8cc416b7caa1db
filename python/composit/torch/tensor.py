"""Tensor: a cell that holds a LazyTensor, with torch's manners. The functions that are methods too
are attached by composit/torch/methods.py."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import (
    GradFn,
    LazyTensor,
    index_error,
    runtime_error,
    type_error,
    value_error,
    with_location,
)
from composit.torch import backward as _backward
from composit.torch import calling, dtypes, materializing, places, steps, type_names, writing
from composit.torch.calling import TensorBase, is_recorded
from composit.torch.given import array_of, constant
from composit.torch.hooks import _Handle as _Handle
from composit.torch.located import Located
from composit.torch.tape import no_grad


class Tensor(Located):
    """An array with torch's manners, lazy underneath: values are computed when they are asked for.

    torch.tensor([1., 2.]) makes one; Tensor(2, 3) and Tensor([1, 2]) do as in torch, in the default
    dtype."""

    __array_priority__ = 1000
    name: str | None = None
    is_sparse = is_quantized = is_meta = is_mps = is_nested = is_mkldnn = False
    is_sparse_csr = is_ipu = is_maia = is_mtia = is_vulkan = is_xla = is_xpu = False
    layout = dtypes.strided

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *size_or_data: Any, device: Any = None) -> None:
        first = size_or_data[0] if size_or_data else ()
        if size_or_data and isinstance(first, int):
            self._lazy = cnp.zeros(size_or_data, dtypes.default().numpy)
        elif isinstance(first, dtypes.Size):
            self._lazy = cnp.zeros(tuple(first), dtypes.default().numpy)
        else:
            self._lazy = constant(array_of(first if size_or_data else [], dtypes.default()))
        places.put(self, places.present() if device is None else places.full_name(device))

    # ----- what it is

    @property
    def dtype(self) -> dtypes.dtype:
        """The dtype of its elements."""
        return dtypes.of_numpy(self._seen.dtype)

    @property
    def shape(self) -> dtypes.Size:
        """The lengths of its dimensions."""
        return dtypes.Size(self._seen.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one length of it."""
        return self.shape if dim is None else self._seen.shape[self._axis(dim)]

    def _axis(self, dim: int) -> int:
        ndim = max(self._seen.ndim, 1)
        if not -ndim <= dim < ndim:
            raise index_error(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], "
                f"but got {dim})"
            )
        return dim

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._seen.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._seen.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._seen.size

    nelement = numel

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._seen.itemsize

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._seen.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._seen.nbytes

    def stride(self, dim: int | None = None) -> Any:
        """Elements between neighbours along each dimension."""
        steps = tuple(step // self._seen.itemsize for step in self._seen.strides)
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """Where the first element lies in the memory, in elements."""
        return self._lazy.offset

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements follow each other in memory, the last dimension fastest. Other
        memory formats have no meaning: kernels choose the order that they compute in."""
        return self._seen.is_contiguous_in(False)

    def is_floating_point(self) -> bool:
        """Whether its elements are real floats."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether its elements are complex."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether its elements can be negative."""
        return self.dtype.is_signed

    # ----- gradients

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are wanted of it, or flow through it."""
        return is_recorded(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Makes it a leaf whose gradients are wanted, or no more."""
        _core.set_requires_grad(self, requires_grad)
        return self

    def _make_leaf(self) -> None:
        """Makes it a leaf whose gradient is wanted, in the memory where it lies."""
        _core.make_leaf(self)

    def _begin_as_leaf(self) -> None:
        _core.begin_as_leaf(self)

    def _lie_in(self, other: Any, lazy: LazyTensor) -> None:
        """Makes it another name, which holds `lazy`, for the memory of another tensor. Writes reach
        both; autograd tells them apart."""
        writing.lie_in(self, other, lazy)

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it."""
        return self._is_leaf_with_grad or not is_recorded(self) or self.grad_fn is None

    @property
    def grad_fn(self) -> GradFn | None:
        """The record of the operation that made it; None for leaves."""
        return None if self._is_leaf_with_grad else calling.record_of(self)

    @property
    def grad(self) -> Any:
        """The gradients that were added up, or None."""
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        _core.set_gradient(self, value)

    @grad.deleter
    def grad(self) -> None:
        _core.set_gradient(self, None)

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
        inputs: Any = None,
    ) -> None:  # fmt: skip
        """Adds to the leaves' grad the gradients of this tensor."""
        _backward.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """The same elements in the same place, through which no gradient goes."""
        if steps.capturing[0]:  # nothing is written: it is an operation as others are
            with no_grad():
                return calling.call(_same, "detach", False, (self,), {})
        made = object.__new__(Tensor)
        made._lie_in(self, self._lazy.alias())
        made._is_tainted = True
        _core.share_counter(made, self)
        return made

    def detach_(self) -> Tensor:
        """Makes it a leaf, through which no gradient goes."""
        steps.interrupt()
        self._record, self._is_tainted = None, True
        materializing.enter(self)
        return self

    @property
    def data(self) -> Tensor:
        """The elements, without gradients; assigned, the tensor gets other ones. Writes into it are
        not counted."""
        made = self.detach()
        made._is_data = True
        _core.share_counter(made, self, is_counted=False)
        return made

    @data.setter
    def data(self, value: Tensor) -> None:
        _core.set_data(self, value)

    # ----- values

    def numpy(self, *, force: bool = False) -> Any:
        """The values as an ndarray of their own memory."""
        if is_recorded(self) and not force:
            raise runtime_error(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        if not force:
            self._check_on_cpu()
        return np.array(materializing.values_of(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        values = self.numpy()
        return values if dtype is None else _core.called(values.astype, dtype, copy=False)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What a function of NumPy's computed of the values, as a tensor; PyTorch makes bytes of
        booleans."""
        array = np.asarray(array)
        values = array.astype("uint8") if array.dtype == bool else array
        return calling.functions["from_numpy"](values)

    def __dlpack__(self, **options: Any) -> Any:
        if is_recorded(self):
            raise BufferError(
                with_location("Can't export tensors that require gradient, use tensor.detach()")
            )
        if self.device.type != "cuda":
            return self.numpy().__dlpack__(**options)
        materializing.materialize(self)
        return self._lazy.__dlpack__(**{**options, "copy": True})

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.device.index or 0) if self.device.type == "cuda" else (1, 0)

    def tolist(self) -> Any:
        """The values as lists of numbers."""
        return materializing.values_of(self).tolist()

    def item(self) -> Any:
        """The value of its only element, as a number."""
        if self._seen.size != 1:
            raise runtime_error(
                f"a Tensor with {self._lazy.size} elements cannot be converted to Scalar"
            )
        return materializing.values_of(self).item()

    def __bool__(self) -> bool:
        if self._lazy.size != 1:
            what = "no values" if self._lazy.size == 0 else "more than one value"
            raise runtime_error(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._only_element())

    def __float__(self) -> float:
        return float(self._only_element())

    def _only_element(self) -> Any:
        if self._seen.size != 1:
            raise value_error("only one element tensors can be converted to Python scalars")
        return self.item()

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._lazy.dtype.kind not in "iu" or self._lazy.size != 1:
            raise type_error("only integer tensors of a single element can be converted to an "
                             "index")  # fmt: skip
        return operator.index(self.item())

    def __len__(self) -> int:
        if self._seen.ndim == 0:
            raise type_error("len() of a 0-d tensor")
        return self._seen.shape[0]

    def __iter__(self) -> Any:
        if self._seen.ndim == 0:
            raise type_error("iteration over a 0-d tensor")
        whole: Any = self
        return (whole[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __hash__(self) -> int:
        return id(self) >> 4

    def __repr__(self) -> str:
        from composit.torch.printing import text_of

        return text_of(self)

    def __format__(self, specification: str) -> str:
        if self._lazy.ndim == 0 and not is_recorded(self):
            return format(self.item(), specification)
        return format(self.item(), specification) if specification else repr(self)

    def __deepcopy__(self, memo: Any) -> Tensor:
        if self._record is not None:
            raise runtime_error(
                "Only Tensors created explicitly by the user (graph leaves) support the "
                "deepcopy protocol at the moment."
            )
        made = object.__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update(self.__dict__)
        made._is_leaf_with_grad, made._is_pending = self._is_leaf_with_grad, self._is_pending
        made._is_tainted, made._is_data = self._is_tainted, self._is_data
        made._lazy = _copied_leaf(self)
        if self._grad is not None:
            made._grad = self._grad.__deepcopy__(memo)
        return made

    def __reduce__(self) -> Any:
        place = places.place_of(self)
        given = (type(self), np.array(materializing.values_of(self)), self._is_leaf_with_grad)
        return _restored, given if place == "cpu" else (*given, place)

    @property
    def lazy_tensor(self) -> LazyTensor:
        """The node of composit's graph that it holds now."""
        steps.interrupt()
        self._is_shared = True
        return self._lazy

    @property
    def graph(self) -> Any:
        """composit's graph of what is not computed yet."""
        return self._lazy.graph

    # ----- places

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """In another dtype: one of torch's, a typed constructor (torch.LongTensor), or its name
        ("torch.LongTensor"). Without one, the name of its type."""
        if dtype is None:
            return type_names.name_of(self)
        if isinstance(dtype, str):
            return type_names.converted(self, dtype)
        return self.to(getattr(dtype, "dtype", dtype))

    def contiguous(self, memory_format: Any = None) -> Tensor:
        """Itself where it is contiguous, else a contiguous copy."""
        if self.is_contiguous():
            return self
        return calling.functions["clone"](self, memory_format=dtypes.contiguous_format)

    def new_tensor(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        """A tensor of other data, of this one's dtype and device unless others are given."""
        made = object.__new__(Tensor)
        made._lazy = constant(array_of(data, dtype or self.dtype))
        places.put(made, places.place_of(self) if device is None else places.full_name(device))
        return made.requires_grad_() if requires_grad else made

    def __copy__(self) -> Tensor:
        return self.__deepcopy__({})


def _same(input: Any) -> Any:
    return input


calling.pure.add(_same)


def _copied_leaf(tensor: Tensor) -> LazyTensor:
    """The values as another leaf, where the tensor lies."""
    place = places.place_of(tensor)
    if place == "cpu":
        return constant(materializing.values_of(tensor))
    materializing.materialize(tensor)
    return places.copied(tensor._lazy, place)


def _restored(kind: Any, array: Any, is_leaf_with_grad: bool, place: str | None = None) -> Any:
    made = object.__new__(kind)
    made._lazy = constant(array)
    if place is not None:
        places.put(made, places.full_name(place))
    made._is_leaf_with_grad = is_leaf_with_grad
    return made


calling._made["Tensor"] = Tensor
_core.follow_world(
    steps.world() | materializing.world() | {"tensor": Tensor, "defaults": dtypes._default}
)


def tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of numbers, lists of them, or an array; the data are copied. It lies on `device`, or
    where the tensor lies that the data are, or where new tensors are made."""
    place = places.present_name() if device is None else places.full_name(device)
    if place is None and isinstance(data, TensorBase):
        place = places.place_of(data)
    made = object.__new__(Tensor)
    made._lazy = constant(array_of(data, dtype))
    if place is not None:
        places.put(made, place)
    if requires_grad:
        made.requires_grad_()
    return made
