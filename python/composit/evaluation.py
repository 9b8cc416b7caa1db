"""evaluate: the values of tensors."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.numpy.creation import asarray


class Cache(dict):
    """Values by tensor, found by the tensor's identity. evaluate(…, cache=) takes from it what was
    computed before, and adds what it computes; tensors that were written since are computed.
    cache[x] of a tensor that those are computed from is computed when it is asked for."""

    def __init__(self, values: Any = ()) -> None:
        super().__init__()
        self._nodes: dict[Any, tuple[Any, int]] = {}
        for tensor, value in dict(values).items():
            self[tensor] = value

    def __setitem__(self, tensor: Any, value: Any) -> None:
        super().__setitem__(tensor, value)
        self._nodes[tensor] = _place(tensor)

    def __missing__(self, tensor: Any) -> Any:
        if isinstance(tensor, LazyTensor):
            ends = [known for known in self if isinstance(known, LazyTensor)]
            if tensor.node in _core.topological_order(ends):
                return evaluate(tensor, cache=self)
        raise KeyError(tensor)

    def known(self) -> Iterator[tuple[Any, Any]]:
        """The tensors that still are what they were, and their values."""
        for tensor, value in self.items():
            if self._nodes.get(tensor) == _place(tensor):
                yield tensor, value


def _place(tensor: Any) -> tuple[Any, int]:
    return (tensor.node, tensor.output_index) if isinstance(tensor, LazyTensor) else (tensor, 0)


def options(
    backend: str = "interpreter",
    threads: int | None = None,
    fuse: bool = True,
    reuse_buffers: bool = True,
    cache_folder: str | None = None,
    bytes_of_part: int | None = None,
    pipeline: Any = None,
    place: Any = None,
) -> Any:
    """How to run: the back end by name, threads (None: set_threads' or all), what to plan, how
    many bytes a part of fused rows touches (None: the back end's choice), the passes (None: the
    standard ones), and what runs elsewhere (a Placement, or devices by name)."""
    return _core.run_options(
        backend, threads, fuse, reuse_buffers, cache_folder, bytes_of_part, pipeline,
        _core.Placement(place), _threads[0],
    )  # fmt: skip


_threads = [0]
_usual: dict[int, Any] = {}


def _usual_options() -> Any:
    """options(), made once for each number of threads."""
    count = _threads[0]
    found = _usual.get(count)
    if found is None:
        found = _usual[count] = options()
    return found


def set_threads(count: int | None) -> None:
    """How many threads evaluation may use; None: all cores that this process may use. The number
    never changes a result."""
    check_positive("set_threads", count)
    _threads[0] = count or 0


def get_threads() -> int:
    """How many threads evaluation may use: set_threads' number, else COMPOSIT_THREADS, else all
    cores that this process may use."""
    return _threads[0] or _core.default_threads()


def check_positive(name: str, count: Any, unit: str = "threads") -> None:
    """ValueError unless `count` is None or can be a number of `unit`."""
    if count is not None and (not isinstance(count, int) or not 1 <= count < 2**31):
        raise value_error(f"{name}: {count!r} {unit}. A positive integer or None is required.")


def check_function(name: str, function: Any) -> None:
    """TypeError unless `function` can be called."""
    if not callable(function):
        raise type_error(f"{name}: {function!r} is not a function, which is required.")


def as_tensor(value: Any) -> LazyTensor:
    """`value` itself if it is a LazyTensor, else a constant of it."""
    return value if isinstance(value, LazyTensor) else asarray(value)


def placeholder(name: str, shape: Any, dtype: Any = "float32") -> LazyTensor:
    """A tensor without a value yet, for graphs that are compiled: mosaic.compile takes arrays in
    its place. Evaluating what depends on it is a ValueError."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return _core.input(name, dtype, shape)


def evaluate(
    *tensors: Any,
    inputs: Mapping[Any, Any] | None = None,
    cache: Cache | None = None,
    return_cache: bool = False,
    always_return_tuple: bool = False,
    backend: str = "interpreter",
    threads: int | None = None,
) -> Any:
    """The values: an ndarray for one tensor, a list of them for several, computed together.

    `inputs` (or a mapping behind the tensors) gives tensors of the graph other values for this
    call: evaluate(y, {x: array}). `cache` holds what earlier calls computed, and receives what this
    one does."""
    last = tensors[-1] if tensors else None
    if type(last) is not LazyTensor and inputs is None and isinstance(last, Mapping):
        *tensors, inputs = tensors  # type: ignore[assignment]
    if inputs is not None and not isinstance(inputs, Mapping):
        raise type_error(f"evaluate: inputs is {inputs!r}. A mapping from tensors is required.")
    if cache is not None and not isinstance(cache, Cache):
        raise type_error(f"evaluate: cache is {cache!r}. A Cache is required.")
    outputs = [x if type(x) is LazyTensor else as_tensor(x) for x in tensors]
    targets = outputs
    if inputs:
        targets = _core.with_given(outputs, dict(inputs))
    elif cache:
        targets = _with_known(outputs, cache)
    usual = isinstance(backend, str) and backend == "interpreter" and threads is None
    values = _core.look(targets, _usual_options() if usual else options(backend, threads))
    result: Any = tuple(values) if always_return_tuple else values
    if len(values) == 1 and not always_return_tuple:
        result = values[0]
    if cache is not None and not inputs:
        for output, value in zip(outputs, values):
            cache[output] = value
    if return_cache:
        return result, cache if cache is not None else Cache(zip(outputs, values))
    return result


def _with_known(outputs: list[Any], cache: Cache) -> list[Any]:
    """The outputs over constants in place of the tensors whose values the cache knows."""
    known = dict(cache.known())
    constants = [_core.constant(value, tensor.name, False) for tensor, value in known.items()]
    return _core.substitute(outputs, list(known), constants)


if not TYPE_CHECKING:
    # Calls with one tensor are answered in C++.
    evaluate = functools.update_wrapper(_core.Evaluate(_usual_options, evaluate), evaluate)
