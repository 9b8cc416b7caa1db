"""Sparse tensors in coordinates: indices and values, which are dense tensors, as graph networks use
them. Products gather and add rows, so gradients reach the values and the other operand."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import composit._core as _core
from composit._core import not_implemented, runtime_error
from composit.torch import calling
from composit.torch.calling import TensorBase, functions
from composit.torch.dtypes import Size, sparse_coo
from composit.torch.typed_tensors import of

__path__: list[str] = []  # modules below are found by composit.torch.parts


class SparseTensor:
    """A tensor of `shape` that is zero but at `indices`, an int64 tensor of shape (dimensions,
    count). `values` has the shape (count, ...): dimensions after the sparse ones are dense. Values
    at equal indices count together, until `coalesce` adds them up."""

    is_sparse = True
    layout = sparse_coo

    def __init__(self, indices: Any, values: Any, shape: Any, is_coalesced: bool = False) -> None:
        self._at, self._value = indices, values
        self.shape = Size(shape)
        self._is_coalesced = is_coalesced

    def _with_values(self, values: Any) -> SparseTensor:
        return SparseTensor(self._at, values, self.shape, self._is_coalesced)

    dtype = property(lambda self: self._value.dtype, doc="The values' dtype.")
    device = property(lambda self: self._value.device, doc="Where the values lie.")
    requires_grad = property(lambda self: self._value.requires_grad, doc="Whether the values do.")
    grad = property(lambda self: self._gradient(), doc="The gradient, where there are elements.")
    is_cuda = property(lambda self: self._value.is_cuda, doc="Whether the values lie there.")
    ndim = property(lambda self: len(self.shape), doc="The number of dimensions.")

    def _gradient(self) -> SparseTensor | None:
        values = self._value.grad
        if values is None or self._is_coalesced:
            return None if values is None else self._with_values(values)
        # Elements with the same coordinates have one gradient, which counts once.
        at, places = functions["unique"](self._at, return_inverse=True, dim=1)
        once = values.new_zeros((at.shape[1], *values.shape[1:]))
        once[places] = values
        return SparseTensor(at, once, self.shape, True)

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one length of it."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """The number of elements, with the zeros."""
        return self.shape.numel()

    def sparse_dim(self) -> int:
        """How many dimensions the indices address."""
        return int(self._at.shape[0])

    def dense_dim(self) -> int:
        """How many dimensions each value has."""
        return len(self.shape) - self.sparse_dim()

    def _indices(self) -> Any:
        return self._at

    def _values(self) -> Any:
        return self._value

    def _nnz(self) -> int:
        return int(self._at.shape[1])

    def is_coalesced(self) -> bool:
        """Whether no two indices are equal, and they ascend."""
        return self._is_coalesced

    def _checked(self, name: str) -> None:
        if not self._is_coalesced:
            raise runtime_error(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )

    def indices(self) -> Any:
        """The indices. RuntimeError: the tensor is not coalesced."""
        self._checked("indices")
        return self._at

    def values(self) -> Any:
        """The values. RuntimeError: the tensor is not coalesced."""
        self._checked("values")
        return self._value

    def _elements(self) -> tuple[Any, Any, tuple[int, ...]]:
        return self._at, self._value, tuple(self.shape)

    def coalesce(self) -> SparseTensor:
        """The same with ascending indices, each once: values at equal ones are added up."""
        if self._is_coalesced:
            return self
        indices, values = _coalesced(*self._elements())
        return SparseTensor(indices, values, self.shape, True)

    def to_dense(self, dtype: Any = None) -> Any:
        """The dense tensor."""
        found = _dense(*self._elements())
        return found if dtype is None else found.to(dtype)

    def t(self) -> SparseTensor:
        """The transposed matrix."""
        return self.transpose(0, 1)

    @property
    def T(self) -> SparseTensor:
        """The dimensions reversed."""
        made = self
        for i in range(self.dim() // 2):
            made = made.transpose(i, self.dim() - 1 - i)
        return made

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """Two sparse dimensions exchanged."""
        count = self.sparse_dim()
        order = list(_core.aten.sparse_transposed(self.dim(), count, dim0, dim1))
        shape = [self.shape[i] for i in order]
        return SparseTensor(self._at[order[:count]], self._value, shape)

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """Of another dtype, or on another device."""
        values = self._value.to(*args, **kwargs)
        made = self._with_values(values)
        made._at = self._at.to(values.device)
        return made

    def cuda(self, device: Any = None, non_blocking: bool = False) -> SparseTensor:
        """On a CUDA device."""
        return self.to("cuda" if device is None else device)

    def cpu(self) -> SparseTensor:
        """On the CPU."""
        return self.to("cpu")

    def float(self) -> SparseTensor:
        """In float32."""
        return self._with_values(self._value.float())

    def double(self) -> SparseTensor:
        """In float64."""
        return self._with_values(self._value.double())

    def detach(self) -> SparseTensor:
        """Without a gradient."""
        return self._with_values(self._value.detach())

    def clone(self) -> SparseTensor:
        """With values of its own."""
        return self._with_values(self._value.clone())

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """The values require a gradient from now on."""
        self._value.requires_grad_(requires_grad)
        return self

    def sum(self, dim: Any = None) -> Any:
        """The sum of all, or over the dimensions in `dim`, of the dense tensor."""
        return self._value.sum() if dim is None else self.to_dense().sum(dim)

    def mm(self, mat2: Any) -> Any:
        """The product with a dense matrix: dense."""
        return mm(self, mat2)

    def matmul(self, tensor2: Any) -> Any:
        """The product with a dense matrix or vector: dense."""
        return mv(self, tensor2) if tensor2.dim() == 1 else mm(self, tensor2)

    __matmul__ = matmul

    def __rmatmul__(self, other: Any) -> Any:
        if other.dim() == 1:
            return mm(self.t(), other[:, None])[:, 0]
        return mm(self.t(), other.t()).t()

    def mv(self, vec: Any) -> Any:
        """The product with a dense vector: dense."""
        return mv(self, vec)

    def __mul__(self, other: Any) -> SparseTensor:
        return self._with_values(self._value * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self._with_values(self._value / other)

    def __neg__(self) -> SparseTensor:
        return self._with_values(-self._value)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, SparseTensor):
            return self.to_dense() + other
        if other.shape != self.shape:
            raise runtime_error(
                "add: expected sizes of 'self' and 'other' to match, but "
                f"{list(self.shape)} != {list(other.shape)}"
            )
        indices = functions["cat"]((self._at, other._at), 1)
        values = functions["cat"]((self._value, other._value), 0)
        return SparseTensor(indices, values, self.shape)

    __radd__ = __add__

    def __repr__(self) -> str:
        return (
            f"tensor(indices={self._at},\n       values={self._value},\n       "
            f"size={tuple(self.shape)}, nnz={self._nnz()}, layout=torch.sparse_coo)"
        )


def _as_tensor(values: Any) -> Any:
    return values if isinstance(values, TensorBase) else functions["tensor"](values)


def _bounds(at: Any) -> tuple[list[int], list[int]]:
    """The least and the greatest coordinates of each dimension, where there are some."""
    has_some = at.dim() == 2 and at.numel() > 0
    return (at.min(1)[0].tolist(), at.max(1)[0].tolist()) if has_some else ([], [])


def sparse_coo_tensor(
    indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:  # fmt: skip
    """A sparse tensor of indices and values; without a size, the smallest that holds them.
    RuntimeError: an index is negative, or beyond the size; lengths do not fit."""
    at, value = _as_tensor(indices).long(), _as_tensor(values)
    value = value.to(dtype=dtype or value.dtype, device=device or value.device)
    if value.dim() == 0:
        value = value[None]
    if not value.requires_grad:
        value = value.detach()  # it may be asked to, and the caller's values are not
    given = size if size is None else tuple(size)
    shape = _core.aten.sparse_size(at.shape, value.shape, *_bounds(at), given)
    made = SparseTensor(at, value, shape, bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


def _of_elements(function: Any, name: str) -> Any:
    """A function of composit::aten over indices, values, a shape and more, over tensors."""

    def over(indices: Any, values: Any, shape: Any, *more: Any) -> Any:
        return function(indices, values, shape, *more)

    return calling.define(over, name, is_function=False, is_method=False)


_coalesced = _of_elements(_core.aten.coalesce, "coalesce")
_dense = _of_elements(_core.aten.sparse_to_dense, "to_dense")
_product_with_dense = _of_elements(_core.aten.sparse_mm, "sparse_mm")
_product_with_vector = _of_elements(_core.aten.sparse_mv, "sparse_mv")
_softmax_of_elements = _of_elements(_core.aten.sparse_softmax, "sparse_softmax")


def _softmax(name: str, input: Any, dim: int, dtype: Any) -> SparseTensor:
    if not isinstance(input, SparseTensor):
        raise runtime_error(f"{name}: a dense tensor is given. A sparse one is required.")
    found = input.coalesce()
    values = found._value.to(dtype=dtype)
    made = _softmax_of_elements(found._at, values, tuple(found.shape), dim, name == "log_softmax")
    return found._with_values(made)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> SparseTensor:
    """softmax along a dimension of the elements that are there: those that are not count as
    -infinity. The result is coalesced."""
    return _softmax("softmax", input, dim, dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> SparseTensor:
    """The logarithm of softmax, of the elements that are there."""
    return _softmax("log_softmax", input, dim, dtype)


class check_sparse_tensor_invariants:
    """Whether PyTorch checks sparse tensors' indices when they are made: a state to ask, and to set
    for a block or a function. Here they are always checked."""

    _is_enabled: ClassVar[list[bool]] = [False]

    def __init__(self, enable: bool = True) -> None:
        self._enable = enable
        self._before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """What was set last."""
        return check_sparse_tensor_invariants._is_enabled[0]

    @staticmethod
    def enable() -> None:
        """Sets it."""
        check_sparse_tensor_invariants._is_enabled[0] = True

    @staticmethod
    def disable() -> None:
        """Unsets it."""
        check_sparse_tensor_invariants._is_enabled[0] = False

    def __enter__(self) -> None:
        if self._before is not None:
            raise runtime_error(
                "This context manager instance is already activated. Use a different context "
                "manager instance for context nesting."
            )
        self._before, self._is_enabled[0] = self._is_enabled[0], self._enable

    def __exit__(self, *_: Any) -> None:
        assert self._before is not None
        self._is_enabled[0], self._before = self._before, None

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with check_sparse_tensor_invariants(self._enable):
                return function(*args, **kwargs)

        return within


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of a sparse and a dense matrix, dense."""
    if not isinstance(mat1, SparseTensor):
        is_turned = isinstance(mat2, SparseTensor)
        return mm(mat2.t(), mat1.t()).t() if is_turned else functions["mm"](mat1, mat2)
    if isinstance(mat2, SparseTensor):
        return to_sparse(mm(mat1, mat2.to_dense()))
    return _product_with_dense(*mat1._elements(), mat2)


def mv(input: Any, vec: Any) -> Any:
    """The product of a sparse matrix and a dense vector, dense."""
    if not isinstance(input, SparseTensor):
        raise runtime_error("mv: the vector is sparse. A dense one is required.")
    return _product_with_vector(*input._elements(), vec)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * mat + alpha * (mat1 @ mat2), of a sparse mat1."""
    return beta * mat + alpha * mm(mat1, mat2)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of a sparse tensor."""
    found = input.sum(dim)
    return found if dtype is None else found.to(dtype)


def _is_kept(is_there: Any, count: int) -> Any:
    """Which parts have an element that is there."""
    return is_there.flatten(count).any(-1) if count < is_there.dim() else is_there


def _check_coordinates(layout: Any, blocksize: Any) -> None:
    given = str(layout) if blocksize is None else "blocksize"
    if blocksize is not None or layout not in (None, sparse_coo):
        raise runtime_error(
            f"to_sparse: {given} is asked for. Sparse tensors here have coordinates: "
            "torch.sparse_coo without blocksize is required."
        )


def to_sparse(
    dense: Any, sparse_dim: int | None = None, layout: Any = None, blocksize: Any = None,
    dense_dim: int | None = None,
) -> SparseTensor:  # fmt: skip
    """A dense tensor's elements that are not 0; or parts of it that are not, whose places are those
    of its first sparse_dim dimensions and which have its last dense_dim ones."""
    _check_coordinates(layout, blocksize)
    count = _core.aten.sparse_dims(dense.dim(), sparse_dim, dense_dim)
    at = _is_kept(dense != 0, count).nonzero()
    return SparseTensor(at.t(), dense[tuple(at.t())], dense.shape, True)


_operations: dict[str, Any] = {
    "mm": mm, "spmm": mm, "matmul": lambda a, b: _product(a, b), "addmm": addmm,
    "add": lambda a, b: b + a if isinstance(b, SparseTensor) else a + b, "sum": sum,
    "mul": lambda a, b: b * a if isinstance(b, SparseTensor) else a * b,
    "transpose": SparseTensor.transpose, "t": SparseTensor.t, "mv": mv,
}  # fmt: skip


def _product(a: Any, b: Any) -> Any:
    return a.matmul(b) if isinstance(a, SparseTensor) else b.__rmatmul__(a)


def _called(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    operation = _operations.get(name)
    if operation is None:
        raise not_implemented(
            f"{name}: a sparse tensor is given. Available of them: "
            f"{', '.join(sorted(_operations))}, and its methods; to_dense() makes it dense."
        )
    return operation(*args, **kwargs)


calling.others[SparseTensor] = _called


class _Typed:
    """torch.sparse.FloatTensor: makes sparse tensors of a dtype."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, indices: Any, values: Any, size: Any = None) -> SparseTensor:
        return sparse_coo_tensor(indices, values, size, dtype=of(self._name).dtype)


FloatTensor, DoubleTensor = _Typed("FloatTensor"), _Typed("DoubleTensor")
LongTensor, IntTensor = _Typed("LongTensor"), _Typed("IntTensor")

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "softmax", "sum"]
