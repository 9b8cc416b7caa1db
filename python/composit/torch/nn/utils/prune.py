"""torch.nn.utils.prune: parameters of which elements are left out.

A pruned parameter NAME is the product of the parameter NAME_orig and the buffer NAME_mask, which a
hook computes before each call of the module. Masks are C++'s (composit/aten/pruning.h)."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable as Iterable
from collections.abc import Iterator
from typing import Any

import composit._core as _core
from composit.torch.calling import define, functions
from composit.torch.nn.utils.convert_parameters import parameters_to_vector

_here: dict[str, Any] = {"is_function": False, "is_method": False}


def _prune_elements(mask: Any, scores: Any, count: int) -> Any:
    return _core.aten.prune_elements(mask, scores, count)


def _prune_channels(mask: Any, scores: Any, count: int, dim: int) -> Any:
    return _core.aten.prune_channels(mask, scores, count, dim)


prune_elements = define(_prune_elements, "prune_elements", **_here)
prune_channels = define(_prune_channels, "prune_channels", **_here)


class BasePruningMethod(ABC):
    """How a mask is made. A subclass has `PRUNING_TYPE`, "unstructured", "structured" or "global",
    and compute_mask; `apply` of the class prunes a module with it."""

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of scores t, where default_mask is what earlier pruning left."""

    def apply_mask(self, module: Any) -> Any:
        """The parameter times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, f"{self._tensor_name}_mask")
        orig = getattr(module, f"{self._tensor_name}_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prunes a parameter of the module by this method, after those that it was pruned by
        before. Its elements are ranked by themselves, or by importance_scores of their shape."""
        method = cls(*args, **kwargs)
        return _core.modules.prune(method, module, name, importance_scores)

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor times the mask that the method makes for it; no module is changed."""
        return _core.modules.pruned(self, t, default_mask, importance_scores)

    def remove(self, module: Any) -> None:
        """Makes the parameter an ordinary one of its pruned values."""
        _core.modules.unprune(self, module)


class PruningContainer(BasePruningMethod):
    """Methods that prune one parameter, one after another: each what those before it left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Adds a method for the same parameter. TypeError for what is none, ValueError for one of
        another parameter."""
        _core.modules.add_pruning_method(self, method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask with what the last method prunes of what is left."""
        return _core.modules.mask_of_container(self, t, default_mask)


class Identity(BasePruningMethod):
    """A mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """What earlier pruning left."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        """Gives a parameter a mask of ones."""
        return super().apply(module, name)


class _ByAmount(BasePruningMethod):
    """A method that prunes an amount: a part of all from 0.0 to 1.0, or a number of them."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class RandomUnstructured(_ByAmount):
    """Prunes elements at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask without elements that are drawn."""
        count = self._count(t.nelement())
        if count == 0:
            return default_mask.clone()
        return prune_elements(default_mask, functions["rand_like"](t), count)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prunes elements of a parameter at random."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_ByAmount):
    """Prunes the elements of least magnitude."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask without the elements of least magnitude in t."""
        count = self._count(t.nelement())
        return prune_elements(default_mask, t.detach().abs(), count)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, importance_scores: Any = None
    ) -> Any:
        """Prunes the elements of a parameter of least magnitude, or of least scores."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _channels(method: Any, t: Any) -> int:
    """How many slices along its dimension a method prunes."""
    _validate_structured_pruning(t)
    _validate_pruning_dim(t, method.dim)
    return method._count(t.shape[method.dim])


class RandomStructured(_ByAmount):
    """Prunes slices along a dimension at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask without slices that are drawn."""
        count = _channels(self, t)
        if count == 0:
            return default_mask
        scores = functions["rand"](t.shape[self.dim], device=t.device)
        return prune_channels(default_mask.to(t.dtype), scores, count, self.dim)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, dim: int = -1
    ) -> Any:
        """Prunes slices of a parameter at random."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_ByAmount):
    """Prunes the slices along a dimension of the least norms."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask without the slices of the least norms."""
        count = _channels(self, t)
        if count == 0:
            return default_mask
        norms = _compute_norm(t.detach(), self.n, self.dim)
        return prune_channels(default_mask.to(t.dtype), norms, count, self.dim)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        """Prunes the slices of a parameter of the least norms, or of those of scores."""
        return super().apply(module, name, amount=amount, n=n, dim=dim,
                             importance_scores=importance_scores)  # fmt: skip


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask, within what earlier pruning left."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match "
                f"self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:  # type: ignore[override]
        """Prunes a parameter with a mask."""
        return super().apply(module, name, mask=mask)


def identity(module: Any, name: str) -> Any:
    """Gives a parameter a mask of ones; the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prunes an amount of a parameter's elements at random; the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prunes an amount of a parameter's elements, those of least magnitude, or of least scores; the
    module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prunes an amount of the slices along a dimension at random; the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prunes an amount of the slices along a dimension, those of the least n-norms; the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prunes parameters, (module, name) each, as if their elements were one tensor's. Scores are by
    the same pairs. TypeError for a method that is not unstructured."""
    _core.modules.prune_globally(parameters, pruning_method, importance_scores, kwargs)


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prunes a parameter with a mask; the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Makes a pruned parameter an ordinary one of its pruned values; the module. ValueError where
    it is not pruned."""
    _core.modules.remove_pruning(module, name)
    return module


def is_pruned(module: Any) -> bool:
    """Whether the module or one within has a pruned parameter."""
    return _core.modules.is_pruned(module)


def _validate_pruning_amount_init(amount: Any) -> None:
    """TypeError, ValueError for what is no part and no number of elements."""
    _core.modules.check_pruning_amount(amount)


def _validate_pruning_amount(amount: int, tensor_size: int) -> None:
    """ValueError for more than there are."""
    if amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to "
            f"prune={tensor_size}"
        )


def _validate_structured_pruning(t: Any) -> None:
    """ValueError for a tensor without slices."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t: Any, dim: int) -> None:
    """IndexError for a dimension that there is not."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _compute_norm(t: Any, n: Any, dim: int) -> Any:
    """The norms of the slices along a dimension."""
    dims = list(range(t.dim()))
    dims.remove(dims[dim])
    return functions["norm"](t, p=n, dim=dims)


_core.provide("pruning_method", BasePruningMethod)
_core.provide("pruning_container", PruningContainer)
_core.provide("torch_ones_like", lambda x: functions["ones_like"](x))
_core.provide("parameters_to_vector", parameters_to_vector)
_core.provide("custom_from_mask", custom_from_mask)
