"""weight_norm and spectral_norm as hooks of modules: the forms that came before parametrizations,
whose parameters are named weight_g and weight_v, or weight_orig."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch.calling import functions, neural
from composit.torch.nn.parameter import Parameter
from composit.torch.nn.utils.parametrizations import as_matrix, norm_except
from composit.torch.tape import no_grad

_modules = _core.modules  # composit.torch's modules in C++


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


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Makes a weight the parameters name_g, its length, and name_v, its direction."""
    weight = _modules.weight_to_be_normalised(module, WeightNorm, name, "weight_norm")
    hook = WeightNorm(name, dim)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except(weight.detach(), dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach().clone()))
    setattr(module, name, hook.compute(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight an ordinary parameter again."""
    hook = _modules.without_norm(module, WeightNorm, name, "weight_norm")
    weight = hook.compute(module).detach()
    _modules.drop_tensors(module, name, [f"{name}_g", f"{name}_v"])
    setattr(module, name, Parameter(weight))
    return module


class SpectralNorm:
    """Before each call the weight is divided by its largest singular value, which power iterations
    of the buffers u and v estimate."""

    def __init__(self, name: str, iterations: int, dim: int, eps: float) -> None:
        _modules.check_count_of_iterations(iterations)
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
        count = self.iterations if iterates else 0
        _modules.iterate_power(functions, neural, matrix.detach(), u, v, count, self.eps)
        if iterates:
            u, v = u.clone(), v.clone()
        return weight / functions["dot"](u, functions["mv"](matrix, v))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, module.training))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Makes a weight the parameter name_orig, divided by its spectral norm in each call."""
    weight = _modules.weight_to_be_normalised(module, SpectralNorm, name, "spectral_norm")
    rows_of = _modules.dimension_of_rows(module, dim)
    hook = SpectralNorm(name, n_power_iterations, rows_of, eps)
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
    hook = _modules.without_norm(module, SpectralNorm, name, "spectral_norm")
    with no_grad():
        weight = hook.compute(module, False)
    _modules.drop_tensors(module, name, [f"{name}_orig", f"{name}_u", f"{name}_v"])
    module.register_parameter(name, Parameter(weight.detach()))
    return module
