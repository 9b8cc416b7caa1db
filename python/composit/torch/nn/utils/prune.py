"""torch.nn.utils.prune: parameters of which elements are left out.

A pruned parameter NAME is the product of the parameter NAME_orig and the buffer NAME_mask, which a
hook computes before each call of the module. Masks are C++'s (composit/aten/pruning.h)."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
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
        method = _joined_with_earlier(cls(*args, **kwargs), module, name)
        orig = getattr(module, name)
        if importance_scores is None:
            importance_scores = orig
        elif importance_scores.shape != orig.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}, got {importance_scores.shape} vs {orig.shape}"
            )
        is_first = not isinstance(method, PruningContainer)
        if is_first:
            module.register_parameter(f"{name}_orig", orig)
            del module._parameters[name]
            mask = functions["ones_like"](orig)
        else:
            mask = getattr(module, f"{name}_mask").detach().clone()
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(importance_scores, mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if is_first:
                module.register_parameter(name, getattr(module, f"{name}_orig"))
                del module._parameters[f"{name}_orig"]
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor times the mask that the method makes for it; no module is changed."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                "importance_scores should have the same shape as tensor t, "
                f"got {importance_scores.shape} vs {t.shape}"
            )
        mask = functions["ones_like"](t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Makes the parameter an ordinary one of its pruned values."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        orig = module._parameters[f"{self._tensor_name}_orig"]
        orig.data = weight.data
        del module._parameters[f"{self._tensor_name}_orig"]
        del module._buffers[f"{self._tensor_name}_mask"]
        setattr(module, self._tensor_name, orig)


def _joined_with_earlier(method: Any, module: Any, name: str) -> Any:
    """The method, or a container of it and those that the parameter was pruned by before, whose
    hook is taken from the module."""
    method._tensor_name = name
    hooks = module._forward_pre_hooks
    earlier = [
        (key, hook) for key, hook in hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]  # fmt: skip
    if len(earlier) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. "
            "Use a PruningContainer."
        )
    for key, hook in earlier:
        del hooks[key]
        container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
        container.add_pruning_method(method)
        return container
    return method


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
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on "
                f"the parameter named '{self._tensor_name}' to PruningContainer {self}."
                f" Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask with what the last method prunes of what is left."""
        method = self._pruning_methods[-1]
        left = _left_for(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype).clone()
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(mask.dtype)
        return mask


def _left_for(method: Any, t: Any, mask: Any) -> Any:
    """The index of the elements that a method prunes: those that are left, or slices of which some
    element is."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    index = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                "Pruning methods of PRUNING_TYPE "
                '"structured" need to have the attribute `dim` defined.'
            )
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        index[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(index)


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
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = importance_scores if importance_scores is not None else {}
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    given = [(module, name, getattr(module, name)) for module, name in parameters]
    scores = parameters_to_vector(
        [importance_scores.get((module, name), value) for module, name, value in given]
    )
    masks = parameters_to_vector(
        [getattr(m, f"{name}_mask", functions["ones_like"](value)) for m, name, value in given]
    )
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask, start = container.compute_mask(scores, masks), 0
    for module, name, value in given:
        end = start + value.numel()
        custom_from_mask(module, name, mask=mask[start:end].view_as(value))
        start = end


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prunes a parameter with a mask; the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Makes a pruned parameter an ordinary one of its pruned values; the module. ValueError where
    it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Whether the module or one within has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod)
        for inner in module.modules() for hook in inner._forward_pre_hooks.values()
    )  # fmt: skip


def _validate_pruning_amount_init(amount: Any) -> None:
    """TypeError, ValueError for what is no part and no number of elements."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_whole, number = isinstance(amount, numbers.Integral), float(amount)
    if number < 0 or (not is_whole and number > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


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
