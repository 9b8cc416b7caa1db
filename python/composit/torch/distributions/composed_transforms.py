"""Transform, and transforms made of others: inverse, composed, of parts."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar

import composit._core as _core
from composit._core import not_implemented, value_error, with_location
from composit.torch.distributions import constraints
from composit.torch.distributions.formulas import give_formulas
from composit.torch.distributions.utils import (
    lazy_property,
    sum_rightmost,
    torch,
)


class Transform:
    """A differentiable function. With cache_size=1 it keeps its last value and result, so that the
    inverse of a result is the very value."""

    bijective = False
    domain: Any
    codomain: Any
    _made_of: tuple[str, ...]  # the attributes that are the arguments of its class
    _formulas: ClassVar[str]  # the transform of composit::aten whose formulas it has

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_formulas" in cls.__dict__:
            give_formulas(cls, cls._formulas)

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise value_error("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        if cache_size == 1:
            self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_inv"] = None
        return state

    @property
    def event_dim(self) -> int:
        """How many dimensions are transformed together, if the domain's are the codomain's."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise value_error("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse, as a transform."""
        inv = None if self._inv is None else self._inv()
        if inv is None:
            inv = _InverseTransform(self)
            self._inv = weakref.ref(inv)
        return inv

    @property
    def sign(self) -> Any:
        """The sign of the derivative, of a monotone transform."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        for owner in type(self).__mro__:
            if "_made_of" in owner.__dict__:
                return owner(*map(self.__getattribute__, self._made_of), cache_size=cache_size)
        raise not_implemented(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """The transformed value."""
        if self._cache_size and x is self._cached_x_y[0]:
            return self._cached_x_y[1]
        return self._kept(x, self._call(x))[1]

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and y is self._cached_x_y[1]:
            return self._cached_x_y[0]
        return self._kept(self._inverse(y), y)[0]

    def _kept(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Both, which the cache keeps if there is one."""
        if self._cache_size:
            self._cached_x_y = x, y
        return x, y

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx| at a value x and its result y."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result of a value of this shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the value of a result of this shape."""
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform, whose cache it shares."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The transform's codomain."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The transform's domain."""
        return self._inv.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """That of the transform."""
        return bool(self._inv.bijective)

    @property
    def sign(self) -> Any:
        """That of the transform."""
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        """The transform."""
        found: Transform = self._inv
        return found

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """Transforms one after the other."""

    _made_of = ("parts",)

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The first part's, with as many dimensions as all parts need."""
        return self._widened("domain", 0)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The last part's, with as many dimensions as all parts need."""
        return self._widened("codomain", -1)

    def _widened(self, name: str, place: int) -> Any:
        """The domain or codomain of a part, with as many dimensions as all parts need."""
        if not self.parts:
            return constraints.real
        found = getattr(self.parts[place], name)
        each = [(part.domain.event_dim, part.codomain.event_dim) for part in self.parts]
        more = _core.aten.composed_event_dims(each)[place] - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    @lazy_property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(p.bijective for p in self.parts)

    @lazy_property
    def sign(self) -> Any:  # type: ignore[override]
        """The product of the parts'."""
        return functools.reduce(operator.mul, (p.sign for p in self.parts), 1)

    @property
    def inv(self) -> Transform:
        """The parts' inverses, the last one first."""
        inv = None if self._inv is None else self._inv()
        if inv is None:
            inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv = weakref.ref(inv)
            inv._inv = weakref.ref(self)
        return inv

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms = []
        event_dim = self.domain.event_dim
        for part, before, after in zip(self.parts, values[:-1], values[1:]):
            found = part.log_abs_det_jacobian(before, after)
            terms.append(sum_rightmost(found, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        shown = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {shown}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last dimensions are treated as one event."""

    _made_of = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The base's, with more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The base's, with more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """That of the base."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise value_error("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise value_error("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class _Same(Transform):
    """A transform without parameters, which equals others of its class."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


def _check_length(value: Any, dim: int, name: str, required: int) -> None:
    if value.size(dim) != required:
        raise AssertionError(with_location(f"x.size({dim}) = {value.size(dim)} must equal {name} "
                                           f"{required}"))  # fmt: skip


class _Several(Transform):
    """A transform for each part of a value along a dimension."""

    transforms: list[Transform]
    dim: int

    def _parts(self, value: Any) -> list[Any]:
        raise NotImplementedError

    def _joined(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        return self._joined([f(part) for f, part in zip(self.transforms, self._parts(x))])

    def _inverse(self, y: Any) -> Any:
        return self._joined([f.inv(part) for f, part in zip(self.transforms, self._parts(y))])

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all are."""
        return all(t.bijective for t in self.transforms)


class CatTransform(_Several):
    """A transform for each part of given lengths along a dimension."""

    _made_of = ("transforms", "dim", "lengths")

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Any = None, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                with_location(f"lengths ({len(self.lengths)}) must match transforms "
                              f"({len(self.transforms)})")
            )  # fmt: skip
        self.dim = dim

    @lazy_property
    def event_dim(self) -> int:  # type: ignore[override]
        """The largest."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The sum of the lengths."""
        return sum(self.lengths)

    def _parts(self, value: Any) -> list[Any]:
        _check_length(value, self.dim, "length", self.length)
        return list(value.split(self.lengths, self.dim))

    def _joined(self, parts: list[Any]) -> Any:
        return torch.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = []
        for transform, before, after in zip(self.transforms, self._parts(x), self._parts(y)):
            of_part = transform.log_abs_det_jacobian(before, after)
            found.append(sum_rightmost(of_part, self.event_dim - transform.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        if dim < 0:
            return torch.cat(found, dim=dim)
        return functools.reduce(operator.add, found)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' domains, concatenated."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' codomains, concatenated."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Several):
    """A transform for each slice along a dimension."""

    _made_of = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def _parts(self, value: Any) -> list[Any]:
        _check_length(value, self.dim, "len(transforms)", len(self.transforms))
        return [value.select(self.dim, i) for i in range(value.size(self.dim))]

    def _joined(self, parts: list[Any]) -> Any:
        return torch.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x), self._parts(y))
        return self._joined([t.log_abs_det_jacobian(before, after) for t, before, after in pairs])

    @constraints.dependent_property
    def domain(self) -> Any:
        """The slices' domains, stacked."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The slices' codomains, stacked."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


__all__ = [
    "CatTransform", "ComposeTransform", "IndependentTransform", "StackTransform",
    "Transform", "identity_transform",
]  # fmt: skip
