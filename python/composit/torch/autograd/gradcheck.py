"""gradcheck: gradients against differences of values, and gradgradcheck: those of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from composit._core import value_error, with_location
from composit.torch import calling
from composit.torch.backward import grad
from composit.torch.calling import TensorBase, is_recorded
from composit.torch.tape import enable_grad, no_grad

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """Gradients are not those of the values."""


def _beside(values: Any, tensor: Any) -> Any:
    """An array's values as a tensor, where another one lies."""
    return calling.functions["from_numpy"](values).to(tensor.device)


def _outputs_of(func: Function, inputs: tuple[Any, ...]) -> list[Any]:
    found = func(*inputs)
    several = [found] if isinstance(found, TensorBase) else list(found)
    return [y for y in several if isinstance(y, TensorBase) and y._lazy.dtype.kind in "fV"]


def _numerical(
    func: Function, inputs: tuple[Any, ...], place: int, eps: float
) -> list[np.ndarray[Any, Any]]:
    """Central differences by one input: for each output (elements of the input, of the output)."""
    values = inputs[place].detach().numpy(force=True)
    rows: list[list[Any]] = []
    for number in range(values.size):
        sides = []
        for step in (eps, -eps):
            moved = values.copy()
            moved.reshape(-1)[number] += step
            args = list(inputs)
            args[place] = _beside(moved, inputs[place]).requires_grad_()
            with enable_grad():
                sides.append(
                    [
                        y.detach().numpy(force=True).reshape(-1)
                        for y in _outputs_of(func, tuple(args))
                    ]
                )
        rows.append([(high - low) / (2 * eps) for high, low in zip(*sides)])
    return [np.stack(parts) if parts else np.empty((0, 0)) for parts in zip(*rows)]


def _analytical(outputs: list[Any], x: Any) -> list[np.ndarray[Any, Any]]:
    found = []
    for y in outputs:
        columns = []
        for number in range(y.numel()):
            one = np.zeros(y.numel(), y.dtype.numpy)
            one[number] = 1
            flow = _beside(one.reshape(tuple(y.shape)), y)
            gradient = None
            if y.requires_grad:
                (gradient,) = grad(y, x, flow, retain_graph=True, allow_unused=True)
            columns.append(np.zeros(x.numel()) if gradient is None
                           else gradient.detach().numpy(force=True).reshape(-1))  # fmt: skip
        found.append(np.stack(columns, 1) if columns else np.empty((x.numel(), 0)))
    return found


def _numbers(shape: Any, dtype: Any, start: float) -> np.ndarray[Any, Any]:
    """Any numbers will do; these are the same each time."""
    count = int(np.prod(shape))
    made = np.cos(np.arange(count) + start)
    if dtype.kind == "c":
        made = made + 1j * np.sin(np.arange(count) * 2 + start)
    return made.reshape(shape).astype(dtype)


def _total(func: Function, args: tuple[Any, ...]) -> Any:
    """A sum of all elements of the outputs, each times another number."""
    found = func(*args)
    several = [found] if isinstance(found, TensorBase) else list(found)
    total: Any = 0.0
    for y in several:
        if not isinstance(y, TensorBase) or y._lazy.dtype.kind not in "fVc":
            continue
        if y._lazy.dtype.kind == "c":
            y = calling.functions["view_as_real"](y)
        weights = _beside(_numbers(tuple(y.shape), y.dtype.numpy, 1.0), y)
        total = total + (y * weights).sum()
    return total


def _along_directions(
    func: Function, given: tuple[Any, ...], chosen: list[int], eps: float, tolerances: Any,
    raise_exception: bool,
) -> bool:  # fmt: skip
    with enable_grad():
        total = _total(func, given)
    wanted = [given[i] for i in chosen]
    gradients: Any = [None] * len(chosen)
    if isinstance(total, TensorBase) and is_recorded(total):
        gradients = grad(total, wanted, allow_unused=True)
    for place, gradient in zip(chosen, gradients):
        values = given[place].detach().numpy(force=True)
        direction = _numbers(values.shape, values.dtype, 0.5)
        slope = 0.0
        if gradient is not None:
            slope = float((np.conj(gradient.detach().numpy(force=True)) * direction).real.sum())
        sides = []
        for step in (eps, -eps):
            args = list(given)
            args[place] = _beside(values + step * direction, given[place])
            with enable_grad():
                sides.append(float(_total(func, (*args[:place], args[place].requires_grad_(),
                                                 *args[place + 1 :]))))  # fmt: skip
        difference = (sides[0] - sides[1]) / (2 * eps)
        if not np.allclose(slope, difference, *tolerances):
            if not raise_exception:
                return False
            raise GradcheckError(
                with_location(
                    f"Gradients computed in fast mode differ with respect to input {place},\n"
                    f"numerical:{difference}\nanalytical:{slope}\n"
                )
            )
    return True


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
    given = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    chosen = [i for i, x in enumerate(given) if isinstance(x, TensorBase) and is_recorded(x)]
    if not chosen:
        raise value_error(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True."
        )
    if fast_mode:
        return _along_directions(func, given, chosen, eps, (rtol, atol), raise_exception)
    with enable_grad():
        outputs = _outputs_of(func, given)
    for place in chosen:
        numerical = _numerical(func, given, place, eps)
        for number, mine in enumerate(_analytical(outputs, given[place])):
            theirs = numerical[number] if numerical else mine
            if not np.allclose(mine, theirs, rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    with_location(
                        f"Jacobian mismatch for output {number} with respect to input {place},\n"
                        f"numerical:{theirs}\nanalytical:{mine}\n"
                    )
                )
    return True


def gradgradcheck(
    func: Function, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6,
    atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False,
    masked: bool = False,
) -> bool:  # fmt: skip
    """gradcheck of func's gradients, by its inputs and by what flows into its outputs."""
    given = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    with no_grad():
        outputs = _outputs_of(func, given)
    if grad_outputs is None:
        # Any numbers will do; these are the same each time.
        flows = []
        for y in outputs:
            numbers = np.cos(np.arange(1, y.numel() + 1, dtype=np.float64)).reshape(tuple(y.shape))
            flow = _beside(numbers.astype(y.dtype.numpy), y)
            flows.append(flow.requires_grad_())
    else:
        flows = [grad_outputs] if isinstance(grad_outputs, TensorBase) else list(grad_outputs)
    count = len(given)

    def slope(*args: Any) -> Any:
        own = args[:count]
        chosen = [x for x in own if isinstance(x, TensorBase) and is_recorded(x)]
        found = grad(_outputs_of(func, own), chosen, args[count:], create_graph=True,
                     allow_unused=True)  # fmt: skip
        return tuple(x for x in found if x is not None)

    return gradcheck(slope, (*given, *flows), eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception)  # fmt: skip
