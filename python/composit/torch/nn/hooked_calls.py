"""Calls of modules that have hooks: hooks before, hooks after, hooks of gradients around."""

from __future__ import annotations

import warnings
from typing import Any

from composit._core import runtime_error
from composit.torch.nn.backward_hooks import Call
from composit.torch.nn.module_hooks import of_all


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the module's forward gives, with all hooks. An exception calls those hooks that were
    registered with always_call and were not called before it."""
    called: set[int] = set()
    try:
        return _called(module, called, args, kwargs)
    except Exception:
        _call_always(module, called, args, kwargs)
        raise


def _called(module: Any, called: set[int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for holder in (of_all, module):
        for number, pre in list(holder._forward_pre_hooks.items()):
            with_kwargs = number in holder._forward_pre_hooks_with_kwargs
            args, kwargs = _before(module, pre, with_kwargs, args, kwargs)
    watch = None
    if any(each._backward_hooks or each._backward_pre_hooks for each in (of_all, module)):
        watch = Call(module)
        args = watch.entered(args)
    result = module.forward(*args, **kwargs)
    for holder in (of_all, module):
        for number, hook in list(holder._forward_hooks.items()):
            called.add(number)
            changed = hook(*_given(module, holder, number, args, kwargs, result))
            result = result if changed is None else changed
    return result if watch is None else watch.left(result)


def _before(
    module: Any, pre: Any, with_kwargs: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The arguments that a hook before the call leaves."""
    if not with_kwargs:
        changed = pre(module, args)
        if changed is None:
            return args, kwargs
        return (changed if isinstance(changed, tuple) else (changed,)), kwargs
    changed = pre(module, args, kwargs)
    if changed is None:
        return args, kwargs
    if not (isinstance(changed, tuple) and len(changed) == 2):
        raise runtime_error(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
            f"{changed}."
        )
    return changed


def _given(
    module: Any, holder: Any, number: int, args: tuple[Any, ...], kwargs: dict[str, Any],
    result: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """What a hook of a holder is called with after the call."""
    if number in holder._forward_hooks_with_kwargs:
        return module, args, kwargs, result
    return module, args, result


def _call_always(
    module: Any, called: set[int], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    hooks = [(holder, *item) for holder in (of_all, module)
             for item in list(holder._forward_hooks.items())]  # fmt: skip
    for holder, number, hook in hooks:
        if number in holder._forward_hooks_always_called and number not in called:
            try:
                hook(*_given(module, holder, number, args, kwargs, None))
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}",
                    stacklevel=2,
                )
