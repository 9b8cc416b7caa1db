"""LBFGS: the quasi-Newton method of limited memory, whose steps call the loss again and again."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import runtime_error, type_error, value_error
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.optim.optimizer import Optimizer
from composit.torch.tape import enable_grad, no_grad


class LBFGS(Optimizer):
    """LBFGS (Nocedal); step needs a closure that computes the loss and its gradients anew."""

    _bounded = "lbfgs"

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if line_search_fn not in (None, "strong_wolfe"):
            raise runtime_error("only 'strong_wolfe' is supported")
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise value_error("LBFGS doesn't support per-parameter options (parameter groups)")

    def _gradient(self) -> Any:
        parts = [
            calling.functions["zeros_like"](x) if x.grad is None else x.grad
            for x in self.param_groups[0]["params"]
        ]
        return calling.functions["cat"]([x.detach().reshape(-1) for x in parts])

    def _move(self, starts: list[Any], t: float, direction: Any) -> None:
        place = 0
        for x, start in zip(self.param_groups[0]["params"], starts):
            count = x.numel()
            x.copy_(start + direction[place : place + count].reshape(x.shape) * t)
            place += count

    @no_grad()
    @in_default_state
    def step(self, closure: Any = None) -> Any:
        """Several updates, until max_iter, max_eval or a tolerance is reached; the first loss."""
        if closure is None:
            raise type_error("LBFGS.step() needs a closure that computes the loss.")
        group = self.param_groups[0]
        parameters = group["params"]

        def compute() -> Any:
            with enable_grad():
                return closure()

        state = self.state.setdefault(parameters[0], {"func_evals": 0, "n_iter": 0})
        first = compute()
        loss, calls = float(first), 1
        state["func_evals"] += 1
        flat = self._gradient()
        if float(flat.abs().max()) <= group["tolerance_grad"]:
            return first
        direction, t = state.get("d"), state.get("t", 0.0)
        changes, steps_ = state.get("old_dirs", []), state.get("old_stps", [])
        scale, before = state.get("H_diag", 1.0), state.get("prev_flat_grad")
        loss_before = state.get("prev_loss", loss)
        count = 0
        while count < group["max_iter"]:
            count += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction, changes, steps_, scale = -flat, [], [], 1.0
            else:
                change, moved = flat - before, direction * t
                curvature = float(change.dot(moved))
                if curvature > 1e-10:
                    if len(changes) == group["history_size"]:
                        changes.pop(0)
                        steps_.pop(0)
                    changes.append(change)
                    steps_.append(moved)
                    scale = curvature / float(change.dot(change))
                direction = self._direction(flat, changes, steps_, scale)
            before, loss_before = flat.clone(), loss
            t = group["lr"]
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / float(flat.abs().sum())) * group["lr"]
            slope = float(flat.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            more = 0
            if group["line_search_fn"] is not None:
                starts = [x.detach().clone() for x in parameters]
                gradients: list[Any] = []

                def at(length: float, starts: Any = starts, direction: Any = direction,
                       gradients: Any = gradients) -> tuple[float, float]:  # fmt: skip
                    self._move(starts, length, direction)
                    value = float(compute())
                    gradients.append(self._gradient())
                    return value, float(gradients[-1].dot(direction))

                size = float(direction.abs().max())
                t, loss, call, more = _core.aten.strong_wolfe(at, t, size, loss, slope)
                flat = gradients[call] if call >= 0 else flat
                self._move(starts, t, direction)
                is_flat = float(flat.abs().max()) <= group["tolerance_grad"]
            else:
                self._move([x.detach().clone() for x in parameters], t, direction)
                is_flat = False
                if count != group["max_iter"]:
                    loss = float(compute())
                    flat = self._gradient()
                    is_flat = float(flat.abs().max()) <= group["tolerance_grad"]
                    more = 1
            calls += more
            state["func_evals"] += more
            if count == group["max_iter"] or calls >= group["max_eval"] or is_flat:
                break
            if float((direction * t).abs().max()) <= group["tolerance_change"]:
                break
            if abs(loss - loss_before) < group["tolerance_change"]:
                break
        state.update(d=direction, t=t, old_dirs=changes, old_stps=steps_, H_diag=scale,
                     prev_flat_grad=before, prev_loss=loss_before)  # fmt: skip
        return first

    def _direction(self, flat: Any, changes: Any, steps_: Any, scale: float) -> Any:
        """The recursion of two loops: minus the inverse Hessian's estimate times the gradient."""
        of_changes, moves = ([x._lazy for x in several] for several in (changes, steps_))
        made = _core.aten.lbfgs_direction(flat._lazy, of_changes, moves, scale)
        return calling.wrapped(made)
