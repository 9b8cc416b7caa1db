"""Lazy modules: their number of inputs is that of the first tensor they are called with, and they
are ordinary modules from then on."""

from __future__ import annotations

from typing import Any

from composit._core import runtime_error
from composit.torch.nn.modules import convolutions, normalisation, plain
from composit.torch.nn.parameter import UninitializedBuffer, UninitializedParameter

__all__ = ["UninitializedBuffer", "UninitializedParameter"]


def _lazy(kind: Any, count: Any, place: int, ndim: Any) -> Any:
    """The lazy class of a kind, whose first argument is left out: it is the length of dimension
    `place` of what the module is called with."""
    name = f"Lazy{kind.__name__}"

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if name.endswith(("Norm1d", "Norm2d", "Norm3d")):  # PyTorch's lazy ones have other defaults
            for at, option in ((2, "affine"), (3, "track_running_stats")):
                if len(args) <= at:
                    kwargs.setdefault(option, True)
        # A module of as few inputs as it may have tells which parameters there are.
        kind.__init__(self, kwargs.get("groups", 1), *args, **kwargs)
        self.__dict__["_lazy_given"] = (args, kwargs)
        setattr(self, count, 0)
        for group, made in ((self._parameters, UninitializedParameter),
                            (self._buffers, UninitializedBuffer)):  # fmt: skip
            for key, held in group.items():
                if held is not None and key != "num_batches_tracked":
                    group[key] = made()

    def forward(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        """Takes the number of inputs from the first call, then is an ordinary module."""
        if input.ndim not in ndim and ndim:
            raise runtime_error(
                f"{name}: an input of {input.ndim} dimensions. "
                f"{' or '.join(map(str, ndim))} are required."
            )
        is_batched = place < 0 or "BatchNorm" in name or input.ndim == max(ndim)
        at = place if is_batched else place - 1
        given, options = self.__dict__.pop("_lazy_given")
        made = kind(input.shape[at], *given, **options)
        made.train(self.training)
        for held in (*self._parameters.values(), *self._buffers.values()):
            if held is not None and held.is_floating_point():
                made.to(held.dtype)
        for key, held in self._parameters.items():
            if isinstance(held, UninitializedParameter):
                held.materialize(made._parameters[key].shape)
                held.data = made._parameters[key].data
        self._buffers.update(made._buffers)
        setattr(self, count, getattr(made, count))
        object.__setattr__(self, "__class__", kind)
        return self(input, *args, **kwargs)

    def has_uninitialized_params(self: Any) -> bool:
        """Whether it was not called yet."""
        return "_lazy_given" in self.__dict__

    return type(name, (kind,), {
        "__init__": __init__, "forward": forward, "__module__": __name__,
        "has_uninitialized_params": has_uninitialized_params,
        "__doc__": f"{kind.__name__}, whose {count} is that of the first tensor it is called with.",
    })  # fmt: skip


def _enter(made: Any) -> None:
    globals()[made.__name__] = made
    __all__.append(made.__name__)


_enter(_lazy(plain.Linear, "in_features", -1, ()))
for _n in (1, 2, 3):
    for _kind in (f"Conv{_n}d", f"ConvTranspose{_n}d"):
        _enter(_lazy(getattr(convolutions, _kind), "in_channels", 1, (_n + 1, _n + 2)))
    for _kind, _ndim in ((f"BatchNorm{_n}d", (2, 3) if _n == 1 else (_n + 2,)),
                         (f"InstanceNorm{_n}d", (_n + 1, _n + 2))):  # fmt: skip
        _enter(_lazy(getattr(normalisation, _kind), "num_features", 1, _ndim))
