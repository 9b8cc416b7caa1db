"""The state of modules: how state_dict() and load_state_dict() walk a tree of modules, and which
methods and hooks of single modules they call."""

from __future__ import annotations

import functools
from collections import OrderedDict, namedtuple
from collections.abc import Iterator, Mapping
from typing import Any

from composit._core import runtime_error, type_error, with_location
from composit.torch import materializing
from composit.torch.calling import TensorBase
from composit.torch.hooks import _Handle
from composit.torch.tape import no_grad

EXTRA = "_extra_state"  # the key of get_extra_state()


class IncompatibleKeys(
    namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])
):  # fmt: skip
    """What load_state_dict() did not find, and what it did not expect."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def _persistent(module: Any) -> Iterator[tuple[str, Any]]:
    """(name, tensor) of the module's own parameters and of its persistent buffers."""
    yield from module._parameters.items()
    for name, tensor in module._buffers.items():
        if name not in module._non_persistent_buffers_set:
            yield name, tensor


# ----- saving


def save_own(module: Any, destination: Any, prefix: str, keep_vars: bool, has_extra: bool) -> None:
    """Puts the module's own tensors into `destination`, and its extra state if it has one."""
    for name, tensor in _persistent(module):
        if tensor is not None:
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if has_extra:
        destination[prefix + EXTRA] = module.get_extra_state()


def save(module: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """The state of the module and of all within, with the versions of their classes as the
    attribute `_metadata`."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for pre in list(module._state_dict_pre_hooks.values()):
        pre(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.",
                             keep_vars=keep_vars)  # fmt: skip
    for hook, is_public in list(module._state_dict_hooks.values()):
        changed = hook(module, destination, prefix, metadata)
        if changed is None:
            continue
        if is_public:
            raise runtime_error("state_dict post-hook must return None")
        destination = changed
    return destination


# ----- loading


def load_own(
    module: Any, state_dict: Any, prefix: str, metadata: Any, strict: bool,
    missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    takes_extra: bool,
) -> None:  # fmt: skip
    """Gives the module's own tensors the values that `state_dict` has for them under `prefix`, and
    the module its extra state if it takes one. Adds what is wrong to the lists."""
    for hook in list(module._load_state_dict_pre_hooks.values()):
        hook(state_dict, prefix, metadata, strict, missing_keys, unexpected_keys, error_msgs)
    own = {name: tensor for name, tensor in _persistent(module) if tensor is not None}
    is_assigned = metadata.get("assign_to_params_buffers", False)
    for name, tensor in own.items():
        key = prefix + name
        if key in state_dict:
            _load_one(module, name, tensor, state_dict[key], key, is_assigned, error_msgs)
        elif strict:
            missing_keys.append(key)
    extra = prefix + EXTRA
    if takes_extra:
        if extra in state_dict:
            module.set_extra_state(state_dict[extra])
        elif strict:
            missing_keys.append(extra)
    elif strict and extra in state_dict:
        unexpected_keys.append(extra)
    if not strict:
        return
    for key in state_dict:
        if key.startswith(prefix) and key != extra:
            first, *rest = key[len(prefix) :].split(".", 1)
            if first not in (module._modules if rest else own):
                unexpected_keys.append(key)


def _load_one(
    module: Any, name: str, tensor: Any, value: Any, key: str, is_assigned: bool,
    error_msgs: list[str],
) -> None:  # fmt: skip
    given = _as_tensor(value)
    if not isinstance(given, TensorBase):
        error_msgs.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}"
        )
        return
    value = given
    if tensor.ndim == 0 and tuple(value.shape) == (1,):
        value = value[0]  # as PyTorch wrote single numbers before it had tensors without dimensions
    is_lazy = getattr(tensor, "is_uninitialized", False)
    if not is_lazy and tuple(value.shape) != tuple(tensor.shape):
        error_msgs.append(
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
        return
    if is_lazy and not is_assigned:
        tensor.materialize(value.shape)
    try:
        with no_grad():
            if is_assigned:
                _assign(module, name, tensor, value)
            else:
                tensor.copy_(value)
    except Exception as error:
        error_msgs.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{tensor.size()} and whose dimensions in the checkpoint are {value.size()}, an "
            f"exception occurred : {error.args}."
        )


def _assign(module: Any, name: str, tensor: Any, value: Any) -> None:
    """Puts the very tensor of the state in the place of the module's."""
    from composit.torch.nn.parameter import Parameter

    if isinstance(tensor, Parameter):
        if isinstance(value, Parameter):
            value.requires_grad_(tensor.requires_grad)
        else:
            value = Parameter(value, requires_grad=tensor.requires_grad)
    setattr(module, name, value)


def _as_tensor(value: Any) -> Any:
    """A Tensor of what another library keeps (PyTorch's tensors, arrays of NumPy)."""
    if isinstance(value, TensorBase) or not hasattr(value, "__array__"):
        return value
    import numpy as np

    from composit.torch.tensor import tensor

    return tensor(np.asarray(value))


def load(module: Any, state_dict: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Gives the module and all within the values of a state. RuntimeError with all that is wrong;
    what fits was copied then."""
    if not isinstance(state_dict, Mapping):
        raise type_error(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", None)
    missing: list[str] = []
    unexpected: list[str] = []
    problems: list[str] = []
    waiting = [(module, OrderedDict(state_dict), "")]
    loaded: list[Any] = []
    if metadata is not None:
        waiting[0][1]._metadata = metadata  # type: ignore[attr-defined]
    # Parents before their children, in the order of a walk that goes down first.
    while waiting:
        current, state, prefix = waiting.pop()
        loaded.append(current)
        own = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            own["assign_to_params_buffers"] = True
        current._load_from_state_dict(state, prefix, own, True, missing, unexpected, problems)
        children = []
        for name, child in current._modules.items():
            if child is not None:
                at = f"{prefix}{name}."
                part = OrderedDict((key, x) for key, x in state.items() if key.startswith(at))
                children.append((child, part, at))
        waiting += reversed(children)
    for current in reversed(loaded):
        found = IncompatibleKeys(missing, unexpected)
        for hook in list(current._load_state_dict_post_hooks.values()):
            if hook(current, found) is not None:
                raise AssertionError(
                    with_location(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                        "expected to return new values, if incompatible_keys need to be modified, "
                        "it should be done inplace."
                    )
                )
    materializing.materialize()
    if strict:
        for what, names in (("Unexpected", unexpected), ("Missing", missing)):
            if names:
                listed = ", ".join(f'"{name}"' for name in names)
                problems.insert(0, f"{what} key(s) in state_dict: {listed}. ")
    if problems:
        raise runtime_error(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t"
            + "\n\t".join(problems)
        )
    return IncompatibleKeys(missing, unexpected)


# ----- hooks


def add_hook(module: Any, hook: Any, is_public: bool) -> _Handle:
    """Calls hook(module, state, prefix, metadata) after state_dict(). What the older kind returns
    is the state; the public one returns None."""
    return _Handle(module._state_dict_hooks, (hook, is_public))


def add_load_pre_hook(module: Any, hook: Any, with_module: bool) -> _Handle:
    """Calls the hook before the module's own tensors are loaded, with the arguments of
    _load_from_state_dict()."""
    called = functools.partial(hook, module) if with_module else hook
    return _Handle(module._load_state_dict_pre_hooks, called)
