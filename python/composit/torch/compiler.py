"""torch.compiler: what belongs to torch.compile. What speaks to parts of PyTorch's compiler that do
not exist here is accepted where it changes no value."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from composit._core import not_implemented, runtime_error, value_error
from composit.torch.compiling import Unsupported, compile, disable, is_compiling, reset

__path__: list[str] = []  # modules below are found by composit.torch.parts
__all__ = [
    "Unsupported", "allow_in_graph", "assume_constant_result", "compile",
    "cudagraph_mark_step_begin", "disable", "get_default_backend", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "load_cache_artifacts",
    "load_compiled_function", "nested_compile_region", "reset", "save_cache_artifacts",
    "set_default_backend", "set_enable_guard_collectives", "set_stance", "substitute_in_graph",
    "wrap_numpy",
]  # fmt: skip

is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False: torch.export is not built."""
    return False


def allow_in_graph(fn: Any) -> Any:
    """The function itself: a capture follows all functions."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
    return fn


def nested_compile_region(
    fn: Any = None, options: Any = None, *, reuse_hash_fn: Any = None,
    max_reuse_entries: int | None = None,
) -> Any:  # fmt: skip
    """The function itself, also as a decorator with ()."""
    return (lambda function: function) if fn is None else fn


def substitute_in_graph(original_fn: Any, **_: Any) -> Callable[[Any], Any]:
    """A decorator that gives back its function: a capture follows what is called."""
    return lambda function: function


def wrap_numpy(fn: Any) -> Any:
    """A function of ndarrays as one of tensors."""
    from composit.torch.calling import TensorBase, functions

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        def plain(value: Any) -> Any:
            return value.numpy() if isinstance(value, TensorBase) else value

        made = fn(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()})
        return functions["as_tensor"](made)

    return wrapped


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that torch.compile takes for its backend."""
    return ["inductor"]


def get_default_backend() -> str:
    """The name of the backend that torch.compile takes without one."""
    return "inductor"


def set_default_backend(backend: Any) -> None:
    """Accepts "inductor". ValueError for another one: functions are compiled by composit."""
    if backend != "inductor":
        raise value_error(f"set_default_backend: {backend!r}. 'inductor' is required.")


def cudagraph_mark_step_begin() -> None:
    """Nothing: a step's memory is its program's."""


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Accepted; False, what it was."""
    return False


@contextlib.contextmanager
def _stance() -> Iterator[None]:
    yield


def set_stance(stance: str = "default", **_: Any) -> Any:
    """Accepts "default"; a with block or a decorator. NotImplementedError for another stance."""
    if stance != "default":
        raise not_implemented(f"set_stance: {stance!r} is not built. 'default' is.")
    return _stance()


def save_cache_artifacts() -> None:
    """None: kernels are kept in composit's folder (composit.cache)."""
    return None


def load_cache_artifacts(serialized_artifacts: bytes) -> NoReturn:
    """RuntimeError: save_cache_artifacts makes none."""
    raise runtime_error("load_cache_artifacts: there are none that composit made.")


def load_compiled_function(*args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError."""
    raise not_implemented("load_compiled_function is not built. composit.export writes programs.")
