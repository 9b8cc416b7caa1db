"""LBFGS: the quasi-Newton method of limited memory, whose steps call the loss again and again."""

from __future__ import annotations

import math
from typing import Any

from composit._core import with_location
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.optim.optimizer import Optimizer
from composit.torch.tape import enable_grad, no_grad


def _cubic_minimum(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: Any = None
) -> float:
    """Where the cubic through two values and slopes is least, within the bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        found = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(found, low), high)


class _Point:
    """A length along the direction, the loss there, its gradient and its slope."""

    def __init__(self, t: float, loss: float, gradient: Any, slope: float) -> None:
        self.t, self.loss, self.gradient, self.slope = t, loss, gradient, slope


def _strong_wolfe(
    at: Any, t: float, size: float, start: _Point, change: float = 1e-9, most: int = 25
) -> tuple[_Point, int]:
    """A length that satisfies the strong Wolfe conditions (Nocedal and Wright, 3.5, 3.6), and how
    often the loss was computed. `size` is the largest element of the direction."""
    c1, c2 = 1e-4, 0.9
    before, now, calls, count = start, at(t), 1, 0
    is_done = False
    pair: list[_Point] = []
    while count < most:
        if now.loss > start.loss + c1 * now.t * start.slope or (
            count > 1 and now.loss >= before.loss
        ):
            pair = [before, now]
            break
        if abs(now.slope) <= -c2 * start.slope:
            pair, is_done = [now], True
            break
        if now.slope >= 0:
            pair = [before, now]
            break
        low, high = now.t + 0.01 * (now.t - before.t), now.t * 10
        t = _cubic_minimum(before.t, before.loss, before.slope, now.t, now.loss, now.slope,
                           (low, high))  # fmt: skip
        before, now = now, at(t)
        calls, count = calls + 1, count + 1
    if count == most:
        pair = [start, now]
    is_slow = False
    best, other = (0, 1) if pair[0].loss <= pair[-1].loss else (1, 0)
    while not is_done and count < most:
        if abs(pair[1].t - pair[0].t) * size < change:
            break
        t = _cubic_minimum(pair[0].t, pair[0].loss, pair[0].slope, pair[1].t, pair[1].loss,
                           pair[1].slope)  # fmt: skip
        ends = [point.t for point in pair]
        margin = 0.1 * (max(ends) - min(ends))
        if min(max(ends) - t, t - min(ends)) < margin:
            if is_slow or t >= max(ends) or t <= min(ends):
                is_high = abs(t - max(ends)) < abs(t - min(ends))
                t = max(ends) - margin if is_high else min(ends) + margin
                is_slow = False
            else:
                is_slow = True
        else:
            is_slow = False
        now = at(t)
        calls, count = calls + 1, count + 1
        if now.loss > start.loss + c1 * t * start.slope or now.loss >= pair[best].loss:
            pair[other] = now
            best, other = (0, 1) if pair[0].loss <= pair[1].loss else (1, 0)
            continue
        if abs(now.slope) <= -c2 * start.slope:
            is_done = True
        elif now.slope * (pair[other].t - pair[best].t) >= 0:
            pair[other] = pair[best]
        pair[best] = now
    return pair[best if len(pair) > 1 else 0], calls


class LBFGS(Optimizer):
    """LBFGS (Nocedal); step needs a closure that computes the loss and its gradients anew."""

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if not lr >= 0:
            raise ValueError(with_location(f"Invalid learning rate: {lr}"))
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError(with_location("only 'strong_wolfe' is supported"))
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError(
                with_location("LBFGS doesn't support per-parameter options (parameter groups)")
            )

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
            raise TypeError(with_location("LBFGS.step() needs a closure that computes the loss."))
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

                def at(length: float, starts: Any = starts, direction: Any = direction) -> _Point:
                    self._move(starts, length, direction)
                    value = float(compute())
                    gradient = self._gradient()
                    return _Point(length, value, gradient, float(gradient.dot(direction)))

                size = float(direction.abs().max())
                found, more = _strong_wolfe(at, t, size, _Point(0.0, loss, flat, slope))
                t, loss, flat = found.t, found.loss, found.gradient
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
        pairs = list(zip(changes, steps_))
        weights = [1.0 / float(change.dot(moved)) for change, moved in pairs]
        q, factors = -flat, [0.0] * len(pairs)
        for i in reversed(range(len(pairs))):
            change, moved = pairs[i]
            factors[i] = float(moved.dot(q)) * weights[i]
            q = q - change * factors[i]
        d = q * scale
        for i, (change, moved) in enumerate(pairs):
            d = d + moved * (factors[i] - float(change.dot(d)) * weights[i])
        return d
