"""torch.nn.utils.parametrize: parameters that are computed from other ones each time they are
read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from composit._core import runtime_error, value_error
from composit.torch.calling import TensorBase
from composit.torch.nn.modules.containers import ModuleDict, ModuleList
from composit.torch.nn.parameter import Buffer, Parameter
from composit.torch.tape import no_grad

_cached: list[Any] = []  # the values of this with block, by list of parametrisations


@contextmanager
def cached() -> Iterator[None]:
    """Within, parametrised tensors are computed once."""
    before = list(_cached)
    _cached[:] = before if before else [{}]
    try:
        yield
    finally:
        _cached[:] = before


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, and what it is computed from: `original`, or `original0`,
    `original1` and so on."""

    def __init__(self, modules: Any, original: Any, unsafe: bool = False) -> None:
        super().__init__(modules)
        new = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    # Where there is none the map begins at what there was.
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, TensorBase)
        self.ntensors = 1 if self.is_tensor else len(new)
        kind = Parameter if isinstance(original, Parameter) else Buffer
        if self.is_tensor:
            made = [original]
            with no_grad():
                if new is not original:
                    if tuple(new.shape) == tuple(original.shape):
                        original.copy_(new)
                    else:
                        made = [_of_kind(kind, new, original)]
        else:
            made = [_of_kind(kind, part, original) for part in new]
        for name, part in zip(self._names(), made):
            if kind is Parameter:
                self.register_parameter(name, part)
            else:
                self.register_buffer(name, part)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def forward(self) -> Any:
        """The tensor, through all parametrisations."""
        value: Any = None
        for number, module in enumerate(self):
            if number == 0:
                value = module(*[getattr(self, name) for name in self._names()])
            else:
                value = module(value)
        return value

    def right_inverse(self, value: Any) -> None:
        """Changes what the tensor is computed from so that it is the value."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise runtime_error(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            for name, part in zip(self._names(), [value] if self.is_tensor else value):
                getattr(self, name).copy_(part)


def _of_kind(kind: Any, value: Any, original: Any) -> Any:
    value = value.detach()
    if kind is Parameter:
        return Parameter(value, requires_grad=original.requires_grad)
    return Buffer(value)


def _parametrised(name: str) -> property:
    def get(self: Any) -> Any:
        held = self.parametrizations[name]
        if not _cached:
            return held()
        key = id(held)
        if key not in _cached[0]:
            _cached[0][key] = held()
        return _cached[0][key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


def _own_class(module: Any) -> None:
    """Gives the module a class of its own, in which tensors can be properties."""
    kind = type(module)
    made = type(f"Parametrized{kind.__name__}", (kind,), {
        "__module__": kind.__module__, "_parametrized_from": kind,
    })  # fmt: skip
    object.__setattr__(module, "__class__", made)


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Makes a parameter or buffer parametrization(original). ValueError where there is none, or its
    shape or dtype would change, unless unsafe."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        before = getattr(module, tensor_name)
        if not unsafe:
            _check(tensor_name, parametrization(before), before)
        if hasattr(parametrization, "right_inverse"):
            held.right_inverse(parametrization.right_inverse(before))
        held.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise value_error(
            f"Module '{type(module).__name__}' does not have a parameter, a buffer, or a "
            f"parametrized element with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    is_same = original.detach().clone()
    held = ParametrizationList([parametrization], original, unsafe)
    if not unsafe:
        _check(tensor_name, held(), is_same)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    delattr(module, tensor_name)
    setattr(type(module), tensor_name, _parametrised(tensor_name))
    module.parametrizations[tensor_name] = held
    return module


def _check(name: str, value: Any, original: Any) -> None:
    if not isinstance(value, TensorBase):
        raise value_error(
            f"A parametrization must return a tensor. Got {type(value).__name__} for {name}."
        )
    of_value, of_original = (value.dtype, tuple(value.shape)), (  # type: ignore[attr-defined]
        original.dtype, tuple(original.shape),
    )  # fmt: skip
    if of_value != of_original:
        raise value_error(
            "Registering a parametrization may not change the dtype or the shape of the "
            f"tensor, unless unsafe=True: {name} is {of_original}, and would be {of_value}."
        )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether the module has parametrised tensors, or that one."""
    held = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Makes the tensor an ordinary one again: with its present values, or what it was computed
    from."""
    if not is_parametrized(module, tensor_name):
        raise value_error(
            f"Module {type(module).__name__} does not have a parametrization on {tensor_name}"
        )
    held = module.parametrizations[tensor_name]
    original = getattr(held, held._names()[0])
    is_parameter = isinstance(original, Parameter)
    if leave_parametrized:
        value = getattr(module, tensor_name).detach().clone()
    elif held.is_tensor:
        value = original.detach()
    else:
        raise value_error(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    if held.is_tensor and tuple(value.shape) == tuple(original.shape):
        with no_grad():
            original.copy_(value)
        made = original
    else:
        made = Parameter(value, requires_grad=original.requires_grad) if is_parameter else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if is_parameter:
        module.register_parameter(tensor_name, made)
    else:
        module.register_buffer(tensor_name, made)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        object.__setattr__(module, "__class__", type(module)._parametrized_from)
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before its tensors were parametrised."""
    return type(module)._parametrized_from if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Gives a module the parametrisations of another one's tensors, or of one of them, and what
    they are computed from; the module."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        held = from_module.parametrizations[name]
        for parametrization in held:
            register_parametrization(to_module, name, parametrization)
        for part in held._names():
            setattr(to_module.parametrizations[name], part, getattr(held, part))
    return to_module
