"""gradcheck: gradients against differences of values, and gradgradcheck: those of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.torch import calling
from composit.torch.backward import grad
from composit.torch.calling import TensorBase, is_recorded

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """Gradients are not those of the values."""


def _listed(inputs: Any) -> tuple[Any, ...]:
    return (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)


def gradcheck(
    func: Function, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
    check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether func's gradients by those inputs that require them are central differences of its
    values; GradcheckError where not, or False without raise_exception. Inputs are best float64.
    With fast_mode along one direction of each input, of one sum of all outputs; inputs and outputs
    may be complex there."""
    return _core.gradcheck(func, _listed(inputs), eps, rtol, atol, raise_exception, fast_mode)


def gradgradcheck(
    func: Function, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6,
    atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False,
    masked: bool = False,
) -> bool:  # fmt: skip
    """gradcheck of func's gradients, by its inputs and by what flows into its outputs."""
    given = _listed(inputs)
    flows = _core.flows_into_outputs(func, given) if grad_outputs is None else _listed(grad_outputs)
    count = len(given)

    def slope(*args: Any) -> Any:
        own = args[:count]
        chosen = [x for x in own if isinstance(x, TensorBase) and is_recorded(x)]
        found = grad(_core.real_outputs(func, own), chosen, args[count:], create_graph=True,
                     allow_unused=True)  # fmt: skip
        return tuple(x for x in found if x is not None)

    return gradcheck(slope, (*given, *flows), eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception)  # fmt: skip


_core.provide("gradcheck_error", GradcheckError)
_core.provide("torch_grad", grad)
_core.provide("torch_from_numpy", lambda x: calling.functions["from_numpy"](x))
_core.provide("torch_view_as_real", lambda x: calling.functions["view_as_real"](x))
