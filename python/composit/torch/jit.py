"""torch.jit: functions and modules as they are. PyTorch's compiles them to programs that compute
the same; torch.compile does that here."""

from __future__ import annotations

from typing import Any, NoReturn

from composit._core import not_implemented


class ScriptModule:
    """Nothing is one: script and trace give back what they get."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ScriptModule")


ScriptFunction = ScriptModule


def _refuse(name: str) -> NoReturn:
    raise not_implemented(
        f"jit.{name}: files and classes of TorchScript are not built. torch.save and "
        "torch.load, or composit.export, are required."
    )


def script(obj: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function, class or module itself."""
    return obj


def trace(func: Any, *args: Any, **kwargs: Any) -> Any:
    """The function or module itself."""
    return func


def ignore(fn: Any = None, **kwargs: Any) -> Any:
    """The function itself; also with arguments, as a decorator."""
    return fn if callable(fn) else lambda function: function


def export(fn: Any) -> Any:
    """The function itself."""
    return fn


def unused(fn: Any) -> Any:
    """The function itself."""
    return fn


def script_if_tracing(fn: Any) -> Any:
    """The function itself."""
    return fn


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself."""
    return mod


def optimize_for_inference(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself."""
    return mod


def __getattr__(name: str) -> Any:
    """What loads when it is first used."""
    if name != "Future":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from composit.torch.futures import Future

    return Future


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether the object is of the type."""
    import builtins

    return builtins.isinstance(obj, target_type)


def trace_module(mod: Any, inputs: Any = None, **kwargs: Any) -> Any:
    """The module itself."""
    return mod


def interface(obj: Any) -> Any:
    """The class itself."""
    return obj


def fork(func: Any, *args: Any, **kwargs: Any) -> Any:
    """A torch.futures.Future of what the function returns, which is called now."""
    from composit.torch.futures import Future

    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Any) -> Any:
    """The future's result."""
    return future.wait()


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """Accepted; nothing is left of an older one."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Accepted."""


def onednn_fusion_enabled() -> bool:
    """False."""
    return False


def export_opnames(m: Any) -> NoReturn:
    """NotImplementedError."""
    _refuse("export_opnames")


class Attribute:
    """A value with a type, as modules of TorchScript have them."""

    def __init__(self, value: Any, type: Any) -> None:
        self.value, self.type = value, type


def save(m: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """NotImplementedError."""
    _refuse("save")


def load(f: Any, *args: Any, **kwargs: Any) -> Any:
    """NotImplementedError."""
    _refuse("load")
