"""weight_norm and spectral_norm as hooks of modules: the forms that came before parametrizations,
whose parameters are named weight_g and weight_v, or weight_orig."""

from __future__ import annotations

from typing import Any

from composit._core import runtime_error, value_error, with_location
from composit.torch.calling import functions, neural
from composit.torch.nn.parameter import Parameter
from composit.torch.nn.utils.parametrizations import as_matrix, norm_except
from composit.torch.tape import no_grad


class WeightNorm:
    """Before each call the weight is made of its length g and its direction v."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def compute(self, module: Any) -> Any:
        """The weight."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))


def _found(module: Any, kind: Any, name: str) -> Any:
    """(the hook's number, the hook) of a weight; None where there is none."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return number, hook
    return None


def _parameter(module: Any, name: str) -> Any:
    found = module._parameters.get(name)
    if found is None:
        raise KeyError(
            with_location(f"{type(module).__name__} has no parameter {name!r} to be normalised.")
        )
    return found


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Makes a weight the parameters name_g, its length, and name_v, its direction."""
    if _found(module, WeightNorm, name) is not None:
        raise runtime_error(f"Cannot register two weight_norm hooks on the same parameter {name}")
    weight, hook = _parameter(module, name), WeightNorm(name, dim)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except(weight.detach(), dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach().clone()))
    setattr(module, name, hook.compute(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight an ordinary parameter again."""
    found = _found(module, WeightNorm, name)
    if found is None:
        raise value_error(f"weight_norm of '{name}' not found in {module}")
    number, hook = found
    weight = hook.compute(module).detach()
    for part in (f"{name}_g", f"{name}_v"):
        del module._parameters[part]
    module.__dict__.pop(name, None)
    setattr(module, name, Parameter(weight))
    del module._forward_pre_hooks[number]
    return module


class SpectralNorm:
    """Before each call the weight is divided by its largest singular value, which power iterations
    of the buffers u and v estimate."""

    def __init__(self, name: str, iterations: int, dim: int, eps: float) -> None:
        if iterations <= 0:
            raise value_error(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={iterations}"
            )
        self.name, self.iterations, self.dim, self.eps = name, iterations, dim, eps

    def matrix(self, weight: Any) -> Any:
        """The weight with the chosen dimension as rows."""
        return as_matrix(weight, self.dim)

    def unit(self, vector: Any) -> Any:
        """The vector of length 1."""
        return neural["normalize"](vector, dim=0, eps=self.eps)

    def compute(self, module: Any, iterates: bool) -> Any:
        """The weight, after power iterations where it iterates."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.matrix(weight)
        if iterates:
            with no_grad():
                for _ in range(self.iterations):
                    v.copy_(self.unit(functions["mv"](matrix.t(), u)))
                    u.copy_(self.unit(functions["mv"](matrix, v)))
                u, v = u.clone(), v.clone()
        return weight / functions["dot"](u, functions["mv"](matrix, v))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, module.training))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Makes a weight the parameter name_orig, divided by its spectral norm in each call."""
    if _found(module, SpectralNorm, name) is not None:
        raise runtime_error(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    weight, hook = _parameter(module, name), SpectralNorm(name, n_power_iterations, dim, eps)
    with no_grad():
        rows, columns = hook.matrix(weight).shape
        u = hook.unit(weight.new_empty(rows).normal_(0, 1))
        v = hook.unit(weight.new_empty(columns).normal_(0, 1))
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight an ordinary parameter again."""
    found = _found(module, SpectralNorm, name)
    if found is None:
        raise value_error(f"spectral_norm of '{name}' not found in {module}")
    number, hook = found
    with no_grad():
        weight = hook.compute(module, False)
    del module._parameters[f"{name}_orig"]
    for part in (f"{name}_u", f"{name}_v"):
        del module._buffers[part]
    module.__dict__.pop(name, None)
    module.register_parameter(name, Parameter(weight.detach()))
    del module._forward_pre_hooks[number]
    return module
