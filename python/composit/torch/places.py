"""Where tensors lie: torch.device, where new tensors are made, and tensors on the way from one
device to another."""

from __future__ import annotations

import contextvars
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_devices: Any = _core.devices
device_of = _devices.device_of
beside = _devices.beside
copied = _devices.copied

# The full name of where new tensors are made, in this thread; None: on the CPU.
_present: contextvars.ContextVar[str | None] = contextvars.ContextVar("torch.device", default=None)


present_name = _present.get  # "cpu" where a with block says so


class _Current(threading.local):
    cuda = 0  # the number that "cuda" without one means


current = _Current()


class device:
    """torch.device("cuda"), ("cuda", 1), ("cuda:1"), or of any kind that composit knows: "opencl".
    It is a name: whether there is such a device shows when a tensor is to lie there. In a with
    block new tensors are made there. RuntimeError for what is no kind of a device."""

    type: str
    index: int | None

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        kind, index = _core.aten.device_name_with(str(type), index, _more_kinds(str(type)))
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute {name!r} of 'torch.device' objects is not writable")

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        _entered.tokens.append(_present.set(full_name(self)))
        return self

    def __exit__(self, *error: Any) -> None:
        _present.reset(_entered.tokens.pop())


class _Entered(threading.local):
    def __init__(self) -> None:
        self.tokens: list[Any] = []


_entered = _Entered()


def is_kind(kind: str) -> bool:
    """Whether it is the name of a kind of devices."""
    return kind in _kinds or kind in _more_kinds(kind)


_kinds = frozenset(_core.aten.device_kinds())  # what PyTorch calls them


def _more_kinds(name: str) -> list[str]:
    """Kinds of devices that are here, where PyTorch knows no such kind: they are opened."""
    kind = name.partition(":")[0]
    return [] if kind in _kinds else [each.partition(":")[0] for each in _here()]


def _here() -> list[str]:
    return ["cpu", *_devices.all()[0]]


cpu = device("cpu")
_objects: dict[str, device] = {"cpu": cpu}


def of_name(name: str) -> device:
    """The device of a full name; one object of each."""
    found = _objects.get(name)
    if found is None:
        found = _objects[name] = device(name)
    return found


# full_name(given): "cpu", or the name with its number, "cuda:0", of a device, its name or its
# number. RuntimeError for one that is not here, with the reason and what is here.
full_name = _core.full_device_name
_core.provide("current_devices", current)
_core.provide("torch_device", device)


def check_device(given: Any) -> None:
    """RuntimeError for a device that is not here."""
    if given is not None:
        full_name(given)


def place_of(tensor: Any) -> str:
    """The full name of where a tensor lies."""
    return device_of(tensor._seen)


_core.provide("torch_place_of", place_of)


# ----- where new tensors are made


def get_default_device() -> device:
    """Where new tensors are made: what set_default_device says, or the innermost with block."""
    name = _present.get()
    return cpu if name is None else of_name(name)


def set_default_device(device: Any) -> None:
    """Makes new tensors there from now on, in this thread; None: on the CPU. RuntimeError for a
    device that is not here."""
    name = None if device is None else full_name(device)
    _present.set(None if name == "cpu" else name)


cuda_kind = "cuda"  # composit's kind of the devices that torch.cuda asks about


@functools.cache
def cuda_names() -> tuple[str, ...]:
    """The full names of CUDA devices, which are opened."""
    try:
        _devices.full_name(cuda_kind)
    except ValueError:
        return ()
    return tuple(x for x in _devices.all()[0] if x.partition(":")[0] == cuda_kind)


def present() -> str | None:
    """The full name of where new tensors are made; None: on the CPU."""
    name = _present.get()
    return None if name == "cpu" else name


def making(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """A function that makes a tensor, on `device`, or where new tensors are made."""
    run = _runner(function)

    @functools.wraps(function)
    def made(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        _core.check_made(name, kwargs.get("dtype"))
        if device is None:
            place = present_name()
            if place is None:
                return run(*args, **kwargs)
        else:
            place = full_name(device)
            if place == "cpu" and present_name() is None:
                return run(*args, **kwargs)
        return _made_on(place, run, args, kwargs)

    return made


def making_like(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """A function that makes a tensor, on `device`, or where its first argument lies."""
    run = _runner(function)

    @functools.wraps(function)
    def made(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        like = args[0] if args else kwargs.get("input")
        _core.check_made(name, kwargs.get("dtype") or getattr(like, "dtype", None))
        if device is not None:
            place = full_name(device)
        else:
            try:
                place = device_of(like._seen)  # type: ignore[union-attr]
            except AttributeError:
                place = "cpu"
        if place == "cpu" and present_name() is None:
            return run(*args, **kwargs)
        return _made_on(place, run, args, kwargs)

    return made


def _runner(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, without the wrapper of one that is run in the default floating-point state."""
    plain = getattr(function, "__wrapped__", None)
    if plain is None or isinstance(function, _core.TorchFunction):
        return function
    return functools.partial(_core.called, plain)


def _made_on(place: str, run: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    wants_gradient = kwargs.pop("requires_grad", False)
    token = _present.set(place)
    try:
        made = run(*args, **kwargs)
    finally:
        _present.reset(token)
    if kwargs.get("out") is None:
        put(made, place)
    return made.requires_grad_() if wants_gradient else made


def put(made: Any, place: str | None) -> Any:
    """The tensor, which was just made and is no leaf that requires a gradient, on that device."""
    if place is not None and place != "cpu" and place_of(made) != place:
        made._lazy = _devices.placed(made._lazy, place)
    return made


def make_all_on_devices(functions: dict[str, Any], methods: dict[str, Any]) -> None:
    """Gives the functions of torch that make tensors their `device`."""
    for name in _makers:
        functions[name] = making(functions[name], name)
    for name in (each for each in (*functions,) if each.endswith("_like")):
        functions[name] = making_like(functions[name], name)
    for name in (each for each in (*methods,) if each.startswith("new_")):
        methods[name] = making_like(methods[name])


_makers = (
    "arange", "bartlett_window", "blackman_window", "empty", "empty_permuted", "empty_strided",
    "eye", "frombuffer", "full", "hamming_window", "hann_window", "kaiser_window", "linspace",
    "logspace", "normal", "ones", "rand", "randint", "randn", "randperm", "range", "scalar_tensor",
    "tril_indices", "triu_indices", "zeros",
)  # fmt: skip


def make_modules_on_devices(classes: list[Any]) -> None:
    """Makes what classes with a `device` make, and what their bases do, on it."""
    for kind in {base for each in classes for base in each.__mro__ if base is not object}:
        init = kind.__dict__.get("__init__")
        names = () if init is None else inspect.signature(init).parameters
        if "device" in names:
            kind.__init__ = _made_within(init, list(names).index("device"))


def _made_within(init: Callable[..., None], place: int) -> Callable[..., None]:
    """An __init__ whose `device`, the argument at a place, says where it makes new tensors."""

    @functools.wraps(init)
    def made(*args: Any, **kwargs: Any) -> None:
        device = args[place] if len(args) > place else kwargs.get("device")
        if device is None:
            init(*args, **kwargs)
            return
        token = _present.set(full_name(device))
        try:
            init(*args, **kwargs)
        finally:
            _present.reset(token)

    return made


# ----- from one device to another


def transfer(input: LazyTensor, place: str) -> LazyTensor:
    """The node that moves a value."""
    return _devices.transfer(input, place)


# joined(result, operands): an operation's result, or several, where its operands lie: what a rule
# makes of numbers, or computed in Python, is moved there.
joined = _core.joined_places
