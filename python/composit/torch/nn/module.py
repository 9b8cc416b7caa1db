"""Module: what holds parameters, buffers and other modules, and is called."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from composit._core import with_location
from composit.torch import settling
from composit.torch.calling import TensorBase
from composit.torch.nn.backward_hooks import Call
from composit.torch.nn.parameter import Buffer, Parameter
from composit.torch.tape import no_grad
from composit.torch.tensor import _Handle

_IncompatibleKeys = namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])


def as_module(value: Any) -> Any:
    """The value, or the module of composit.torch that a module of PyTorch offers in its place."""
    offered = getattr(type(value), "composit_module", None)
    return value if offered is None else offered(value)


class Module:
    """The base of all modules: attributes that are parameters, buffers or modules are found by
    parameters(), state_dict() and the like."""

    training: bool
    dump_patches = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(
            training=True, _parameters=OrderedDict(), _buffers=OrderedDict(),
            _modules=OrderedDict(), _non_persistent=set(), _forward_hooks={},
            _forward_pre_hooks={}, _backward_hooks={}, _backward_pre_hooks={},
        )  # fmt: skip

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; each class has its own."""
        raise NotImplementedError(
            with_location(f'Module [{type(self).__name__}] is missing the required "forward" '
                          "function")
        )  # fmt: skip

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        for pre, with_kwargs in list(self._forward_pre_hooks.values()):
            if with_kwargs:
                changed = pre(self, args, kwargs)
                args, kwargs = changed if changed is not None else (args, kwargs)
            else:
                changed = pre(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks:
            watch = Call(self)
            args = watch.entered(args)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._forward_hooks.values()):
            given = (self, args, kwargs, result) if with_kwargs else (self, args, result)
            changed = hook(*given)
            result = result if changed is None else changed
        return result if watch is None else watch.left(result)

    # ----- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        groups = self.__dict__
        value = as_module(value)
        if isinstance(value, (Parameter, Module)) and "_parameters" not in groups:
            raise AttributeError(
                with_location("cannot assign parameters or modules before Module.__init__() call")
            )
        if isinstance(value, Parameter):
            self._take(name)
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._take(name)
            self._modules[name] = value
        elif isinstance(value, Buffer):
            self._take(name)
            self.register_buffer(name, value, value.persistent)
        elif name in groups.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    with_location(f"cannot assign {type(value).__name__!r} as parameter {name!r} "
                                  "(torch.nn.Parameter or None expected)")
                )  # fmt: skip
            self._parameters[name] = None
        elif name in groups.get("_buffers", ()):
            self._buffers[name] = value
        elif name in groups.get("_modules", ()):
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def _take(self, name: str) -> None:
        for group in ("_parameters", "_buffers", "_modules"):
            self.__dict__[group].pop(name, None)
        self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        for group in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(group)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for group in (self._parameters, self._buffers, self._modules):
            if name in group:
                del group[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]

    def register_parameter(self, name: str, param: Any) -> None:
        """Adds a parameter, or None for one that is left out."""
        self._take(name)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Adds a tensor that is part of the state and is not learnt."""
        self._take(name)
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent.add(name)

    def register_module(self, name: str, module: Any) -> None:
        """Adds a module. TypeError for what is none, KeyError for a name that is taken."""
        module = as_module(module)
        if not isinstance(module, Module) and module is not None:
            given = module if isinstance(module, type) else type(module)
            place = "" if given.__module__ == "builtins" else f"{given.__module__}."
            raise TypeError(with_location(f"{place}{given.__qualname__} is not a Module subclass"))
        if not isinstance(name, str):
            raise TypeError(
                with_location(f"module name should be a string. Got {type(name).__name__}")
            )
        if name not in self._modules and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError('module name can\'t be empty string ""')
        self._take(name)
        self._modules[name] = module

    add_module = register_module

    def get_submodule(self, target: str) -> Any:
        """The module at a path of names."""
        found: Any = self
        for part in target.split(".") if target else ():
            found = getattr(found, part)
        return found

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path of names."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._parameters[name]

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path of names."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._buffers[name]

    # ----- what is in it

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(path, module) of this one and all within."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """This one and all within."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """(name, module) of those directly within."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Any]:
        """The modules directly within."""
        return (module for _, module in self.named_children())

    def _named(
        self, group: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        every = self.named_modules(prefix=prefix) if recurse else [(prefix, self)]
        for path, module in every:
            for name, tensor in getattr(module, group).items():
                if tensor is None or (remove_duplicate and id(tensor) in seen):
                    continue
                seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

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
        for parameter in self.parameters():
            parameter.grad = None if set_to_none or parameter.grad is None else (
                parameter.grad.detach() * 0
            )  # fmt: skip

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Calls fn on all within, the innermost first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _converted(self, convert: Callable[[Any], Any]) -> Any:
        with no_grad():
            for module in self.modules():
                for tensor in module._parameters.values():
                    if tensor is not None:
                        tensor.data = convert(tensor.data)
                for name, tensor in module._buffers.items():
                    if tensor is not None:
                        module._buffers[name] = convert(tensor)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Its floats in another dtype; devices are checked."""

        def convert(tensor: Any) -> Any:
            moved = tensor.to(*args, **kwargs)
            is_kept = moved.dtype is tensor.dtype or not tensor.is_floating_point()
            return tensor if is_kept else moved

        return self._converted(convert)

    def float(self) -> Any:
        """Its floats as float32."""
        return self._converted(lambda x: x.float() if x.is_floating_point() else x)

    def double(self) -> Any:
        """Its floats as float64."""
        return self._converted(lambda x: x.double() if x.is_floating_point() else x)

    def half(self) -> Any:
        """Its floats as float16."""
        return self._converted(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self) -> Any:
        """Its floats as bfloat16."""
        return self._converted(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def cpu(self) -> Any:
        """Itself."""
        return self

    def cuda(self, device: Any = None) -> Any:
        """RuntimeError: not built."""
        return self.to("cuda")

    # ----- state

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and buffers by path."""
        state = OrderedDict() if destination is None else destination
        for name, tensor in self._parameters.items():
            if tensor is not None:
                state[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, tensor in self._buffers.items():
            if tensor is not None and name not in self._non_persistent:
                state[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=state, prefix=f"{prefix}{name}.",
                                  keep_vars=keep_vars)  # fmt: skip
        return state

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Takes parameters and buffers by path: RuntimeError where names or shapes differ."""
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and unexpected:
            names = ", ".join(f'"{name}"' for name in unexpected)
            problems.append(f"Unexpected key(s) in state_dict: {names}. ")
        if strict and missing:
            names = ", ".join(f'"{name}"' for name in missing)
            problems.append(f"Missing key(s) in state_dict: {names}. ")
        for name, tensor in own.items():
            if name in state_dict and tuple(state_dict[name].shape) != tuple(tensor.shape):
                problems.append(
                    f"size mismatch for {name}: copying a param with shape "
                    f"{state_dict[name].shape} from checkpoint, the shape in current model is "
                    f"{tensor.shape}."
                )
        if problems:
            raise RuntimeError(
                with_location(
                    f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                    + "\n\t".join(problems)
                )
            )
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    value = state_dict[name]
                    tensor.copy_(value if isinstance(value, TensorBase) else _numbers(value))
        settling.settle()
        return _IncompatibleKeys(missing, unexpected)

    # ----- hooks

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Any:  # fmt: skip
        """Calls hook(module, arguments, result) after each call; what it returns is the result."""
        return _Handle(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_forward_pre_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> Any:
        """Calls hook(module, arguments) before each call; what it returns are the arguments."""
        return _Handle(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(module, grad_input, grad_output) when the gradients of a call's arguments are
        computed; what it returns takes grad_input's place."""
        return _Handle(self._backward_hooks, hook, prepend)

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
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = lines + children
        if not body:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(body) + "\n)"


def _numbers(value: Any) -> Any:
    """A state that another library keeps (real torch's tensors, arrays) as a Tensor."""
    import numpy as np

    from composit.torch.tensor import tensor

    return tensor(np.asarray(value))
