"""Module: what holds parameters, buffers and other modules, and is called."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import composit._core as _core
from composit._core import not_implemented, runtime_error, with_location
from composit.torch.dtypes import dtype as _dtype
from composit.torch.nn import backward_hooks, state
from composit.torch.nn.module_hooks import of_all
from composit.torch.tensor import _Handle

_modules: Any = _core.modules
# The value, or the module of composit.torch that a module of PyTorch offers in its place.
as_module = _modules.as_module
are_hooks_of_all = of_all.are_any


class Module:
    """The base of all modules: attributes that are parameters, buffers or modules are found by
    parameters(), state_dict() and the like."""

    training: bool
    dump_patches = False
    # torch.compile, which makes modules of modules; composit.torch.compiling provides it.
    _compiled: ClassVar[Callable[..., Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _modules={},
            _non_persistent_buffers_set=set(), _forward_hooks={}, _forward_pre_hooks={},
            _forward_hooks_with_kwargs={}, _forward_hooks_always_called={},
            _forward_pre_hooks_with_kwargs={},
            _backward_hooks={}, _backward_pre_hooks={}, _state_dict_hooks={},
            _state_dict_pre_hooks={}, _load_state_dict_pre_hooks={},
            _load_state_dict_post_hooks={},
        )  # fmt: skip

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; each class has its own."""
        raise not_implemented(f'Module [{type(self).__name__}] is missing the required "forward" '
                              "function")  # fmt: skip

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or are_hooks_of_all()
        ):
            return self.forward(*args, **kwargs)
        return _modules.call_with_hooks(self, args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """From now on calls run what torch.compile makes of forward."""
        forward = type(self).forward.__get__(self)
        self.__dict__["forward"] = Module._compiled(forward, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "forward"}

    # ----- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        _modules.set_attribute(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return _modules.attribute(self, name)

    def __delattr__(self, name: str) -> None:
        _modules.delete_attribute(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]

    def register_parameter(self, name: str, param: Any) -> None:
        """Adds a parameter, or None for one that is left out. TypeError for what is none, KeyError
        for a name that is taken, ValueError for what an operation made."""
        _modules.register_parameter(self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Adds a tensor that is part of the state, unless not persistent, and is not learnt.
        TypeError for what is none, KeyError for a name that is taken."""
        _modules.register_buffer(self, name, tensor, persistent)

    def register_module(self, name: str, module: Any) -> None:
        """Adds a module. TypeError for what is none, KeyError for a name that is taken."""
        _modules.register_module(self, name, module)

    add_module = register_module

    def get_submodule(self, target: str) -> Any:
        """The module at a path of names."""
        return operator.attrgetter(target)(self) if target else self

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path of names."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._parameters[name]

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path of names."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._buffers[name]

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Puts a module at a path of names; with `strict` one has to be there."""
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if not name or (strict and not hasattr(parent, name)):
            raise AttributeError(
                with_location(f"{parent._get_name()} has no attribute `{name}`")
                if name else with_location("Cannot set the submodule without a target name!")
            )  # fmt: skip
        setattr(parent, name, module)

    # ----- what is in it

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(path, module) of this one and all within."""
        return iter(_modules.named_modules(self, memo, prefix, remove_duplicate))

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This one and all within."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """(name, module) of those directly within."""
        return iter(_modules.named_children(self))

    def children(self) -> Iterator[Any]:
        """The modules directly within."""
        return (module for _, module in self.named_children())

    def _named(
        self, group: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        return iter(_modules.named_tensors(self, group, prefix, recurse, remove_duplicate))

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(path, parameter) of all within."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """The parameters of all within."""
        return (tensor for _, tensor in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(path, buffer) of all within."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """The buffers of all within."""
        return (tensor for _, tensor in self.named_buffers(recurse=recurse))

    # ----- modes

    def train(self, mode: bool = True) -> Any:
        """Into training, or out of it."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Any:
        """Out of training."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Whether gradients of its parameters are wanted."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of its parameters."""
        group = {"params": list(self.parameters())}
        _core.optimizers.zero_gradients([group], set_to_none)

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Calls fn on all within, the innermost first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Makes fn of all parameters, of their gradients, and of buffers; classes override it."""
        _modules.apply_to_tensors(self, fn, recurse)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """All its tensors on another device, its floats in another dtype: as Tensor.to."""
        device, dtype = _modules.destination(args, kwargs, _dtype)

        def convert(tensor: Any) -> Any:
            is_cast = tensor.is_floating_point() or tensor.is_complex()
            return tensor.to(device=device, dtype=dtype if is_cast else None)

        return self._apply(convert)

    def type(self, dst_type: Any) -> Any:
        """All its tensors in another dtype."""
        return self._apply(lambda x: x.type(dst_type))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """All its tensors anew, of zeros, on a device; None: where they lie."""
        return self._apply(lambda x: x.new_zeros(tuple(x.shape), device=device), recurse)

    def share_memory(self) -> Any:
        """Itself: processes get copies of what is sent to them."""
        return self

    def float(self) -> Any:
        """Its floats as float32."""
        return self._apply(lambda x: x.float() if x.is_floating_point() else x)

    def double(self) -> Any:
        """Its floats as float64."""
        return self._apply(lambda x: x.double() if x.is_floating_point() else x)

    def half(self) -> Any:
        """Its floats as float16."""
        return self._apply(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self) -> Any:
        """Its floats as bfloat16."""
        return self._apply(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def cpu(self) -> Any:
        """All its tensors in the host's memory."""
        return self._apply(lambda x: x.cpu())

    def cuda(self, device: Any = None) -> Any:
        """All its tensors on a CUDA device."""
        return self._apply(lambda x: x.cuda(device))

    # ----- state

    _version = 1  # of what a class keeps in its state

    def get_extra_state(self) -> Any:
        """What a class adds to its state beside tensors. RuntimeError: this one adds nothing."""
        raise runtime_error(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state: Any) -> None:
        """Takes what get_extra_state() gave. RuntimeError: this class gives nothing."""
        raise runtime_error(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Puts the module's own state into `destination`; classes override it."""
        has_extra = type(self).get_extra_state is not Module.get_extra_state
        state.save_own(self, destination, prefix, keep_vars, has_extra)

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters, buffers and extra states by path."""
        given = (*args, *(destination, prefix, keep_vars)[len(args) :])
        return state.save(self, *given)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Takes the module's own state from `state_dict`; classes override it."""
        takes_extra = type(self).set_extra_state is not Module.set_extra_state
        state.load_own(self, state_dict, prefix, local_metadata, strict, missing_keys,
                       unexpected_keys, error_msgs, takes_extra)  # fmt: skip

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> state.IncompatibleKeys:
        """Takes parameters and buffers by path, or with `assign` the very tensors of the state:
        RuntimeError where names or shapes differ."""
        return state.load(self, state_dict, strict, assign)

    def register_state_dict_pre_hook(self, hook: Any) -> Any:
        """Calls hook(module, prefix, keep_vars) before state_dict()."""
        return _Handle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> Any:
        """Calls hook(module, state_dict, prefix, local_metadata) after state_dict()."""
        return state.add_hook(self, hook, True)

    def _register_state_dict_hook(self, hook: Any) -> Any:
        """As register_state_dict_post_hook; what the hook returns is the state."""
        return state.add_hook(self, hook, False)

    def register_load_state_dict_pre_hook(self, hook: Any) -> Any:
        """Calls the hook with the module and the arguments of _load_from_state_dict, before."""
        return state.add_load_pre_hook(self, hook, True)

    def _register_load_state_dict_pre_hook(self, hook: Any, with_module: bool = False) -> Any:
        """As register_load_state_dict_pre_hook, without the module unless it is asked for."""
        return state.add_load_pre_hook(self, hook, with_module)

    def register_load_state_dict_post_hook(self, hook: Any) -> Any:
        """Calls hook(module, incompatible_keys) after load_state_dict()."""
        return _Handle(self._load_state_dict_post_hooks, hook)

    # ----- hooks

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Any:  # fmt: skip
        """Calls hook(module, arguments, result) after each call; what it returns is the result.
        With always_call also after an exception, with None for the result."""
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return _Handle(self._forward_hooks, hook, prepend, tuple(marks))

    def register_forward_pre_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> Any:
        """Calls hook(module, arguments) before each call; what it returns are the arguments."""
        marks = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return _Handle(self._forward_pre_hooks, hook, prepend, marks)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(module, grad_input, grad_output) when the gradients of a call's arguments are
        computed; what it returns takes grad_input's place."""
        return _Handle(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(module, grad_output) before the gradients of a call are computed; what it
        returns takes grad_output's place."""
        return _Handle(self._backward_pre_hooks, hook, prepend)

    # ----- text

    def extra_repr(self) -> str:
        """What stands between the brackets of its text."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return _modules.text(self)


_core.provide("torch_module", Module)
_core.provide("hooks_of_all_modules", of_all)
_core.provide("watched_call", backward_hooks.Call)
