"""What benchmarks/python/gpu.py measures: a name, the function in composit, arguments, and the same
in other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from models.weights import draw, normal

Function = Callable[..., Any]


@dataclass
class Work:
    """`ours` takes tensors of the arguments; `peers` by library: functions of its arrays, or what
    makes such a function of the arguments."""

    ours: Function
    arguments: tuple[Any, ...]
    peers: dict[str, Function] = field(default_factory=dict)
    flops: float = 0  # of one call
    bytes: float = 0  # that it reads and writes at least
    per_call: int = 1  # units of the work that the row is about, "steps"
    tolerance: float = 1e-3  # of the largest, between ours and peers'
    # Whether each call's results are the next one's arguments: all but the first, in their places.
    feeds_back: bool = False


@dataclass
class Steps:
    """Steps of training as users of PyTorch write them: `training(library, device)` makes a loop of
    composit.torch's or PyTorch's (models/as_modules.py). A timing takes `count` steps."""

    training: Callable[[Any, str], Any]
    count: int


@dataclass
class Row:
    """`must` and `aim`: of the best peer's time over composit's."""

    name: str
    must: float | None
    aim: float | None
    make: Callable[[bool], Work | Steps]  # small: for trying out the script


def elements(small: bool) -> int:
    return 1 << (16 if small else 24)


def negate(small: bool) -> Work:
    n = 4 * elements(small)
    return Work(
        lambda x: -x,
        (normal(n),),
        {"torch": lambda x: -x, "cupy": lambda x: -x, "jax": lambda x: -x},
        bytes=8 * n,
    )


def chain(small: bool) -> Work:
    import composit.numpy as cnp

    def of(library):
        return lambda x: library.tanh(x * 0.5 + 1.0) * library.exp(-(x * x)) + x

    n = elements(small)
    peers = {name: lazily(name, of) for name in ("torch", "cupy", "jax")}
    return Work(of(cnp), (normal(n),), peers, bytes=8 * n)


def lazily(name: str, of: Callable[[Any], Function]) -> Function:
    """A function of the library of that name (jax.numpy for "jax"), imported at the first call."""

    def call(*arguments: Any) -> Any:
        import importlib

        return of(importlib.import_module("jax.numpy" if name == "jax" else name))(*arguments)

    return call


def rows_of(small: bool) -> tuple[int, int]:
    return (64, 1024) if small else (4096, 1024)


def softmax(small: bool) -> Work:
    from composit import nn

    def in_jax(x):
        import jax

        return jax.nn.softmax(x, -1)

    def in_torch(x):
        import torch

        return torch.softmax(x, -1)

    shape = rows_of(small)
    return Work(
        lambda x: nn.softmax(x, axis=-1),
        (normal(*shape),),
        {"torch": in_torch, "jax": in_jax},
        bytes=8 * np.prod(shape),
    )


def layer_norm(small: bool) -> Work:
    from composit import nn

    def in_torch(x, scale, bias):
        import torch

        return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, bias, 1e-5)

    def in_jax(x, scale, bias):
        import jax
        import jax.numpy as jnp

        deviation = x - jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(deviation**2, -1, keepdims=True)
        return deviation * jax.lax.rsqrt(variance + 1e-5) * scale + bias

    shape = rows_of(small)
    return Work(
        lambda x, scale, bias: nn.layer_norm(x, scale, bias, axis=-1, epsilon=1e-5),
        (normal(*shape), normal(shape[1], seed=2), normal(shape[1], seed=3)),
        {"torch": in_torch, "jax": in_jax},
        bytes=8 * np.prod(shape),
    )


def gelu(small: bool) -> Work:
    from composit import nn

    def in_torch(x):
        import torch

        return torch.nn.functional.gelu(x)

    def in_jax(x):
        import jax

        return jax.nn.gelu(x, approximate=False)

    n = elements(small)
    return Work(nn.gelu, (normal(n),), {"torch": in_torch, "jax": in_jax}, bytes=8 * n)


def gelu_gradient(small: bool) -> Work:
    import composit
    import composit.numpy as cnp
    from composit import nn

    def in_torch(x):
        import torch

        with torch.inference_mode(False), torch.enable_grad():
            x = x.clone() if x.is_inference() else x.detach()
            x.requires_grad_(True)
            torch.nn.functional.gelu(x).sum().backward()
        return x.grad

    def in_jax(x):
        import jax

        return jax.grad(lambda x: jax.nn.gelu(x, approximate=False).sum())(x)

    n = elements(small)
    return Work(
        composit.grad(lambda x: cnp.sum(nn.gelu(x))),
        (normal(n),),
        {"torch": in_torch, "jax": in_jax},
        bytes=8 * n,
    )


def total(small: bool) -> Work:
    import composit.numpy as cnp

    n = elements(small)
    peers = {name: lambda x: x.sum() for name in ("torch", "cupy", "jax")}
    return Work(cnp.sum, (normal(n),), peers, bytes=4 * n)


def matmul(size: int) -> Callable[[bool], Work]:
    def make(small: bool) -> Work:
        n = min(size, 256) if small else size
        peers = {name: lambda a, b: a @ b for name in ("torch", "cupy", "jax")}
        return Work(
            lambda a, b: a @ b,
            (normal(n, n), normal(n, n, seed=2)),
            peers,
            flops=2.0 * n**3,
            bytes=12 * n * n,
        )

    return make


def convolution(small: bool) -> Work:
    from composit import nn

    def in_torch(x, filters):
        import torch

        return torch.nn.functional.conv2d(x, filters, padding=1)

    def in_jax(x, filters):
        import jax

        return jax.lax.conv_general_dilated(x, filters, (1, 1), "SAME")

    images, channels, size = (1, 8, 14) if small else (8, 64, 56)
    return Work(
        lambda x, filters: nn.convolution(x, filters, channels_last=False, padding=(1, 1)),
        (normal(images, channels, size, size), normal(channels, channels, 3, 3, seed=2)),
        {"torch": in_torch, "jax": in_jax},
        flops=2.0 * images * size * size * channels * channels * 9,
    )


def bert(small: bool) -> Work:
    from models import bert as model

    batch, length = (1, 16) if small else (8, 128)
    weights = draw(model.shapes(1, 48, 96, 100) if small else model.shapes())
    ids, mask = model.inputs(batch, length, 100 if small else model.VOCABULARY)

    def torch_for(*_):
        module = model.torch_model(weights).cuda()
        return module

    def jax_for(*_):
        import jax

        held = jax.device_put(weights)
        return lambda ids, mask: jitted(ids, mask, held)

    def jitted(*arguments):
        import jax

        held.setdefault("jax", jax.jit(model.jax_model))
        return held["jax"](*arguments)

    held: dict[str, Any] = {}
    for made in (torch_for, jax_for):
        made.makes = True  # type: ignore[attr-defined]
    return Work(
        lambda ids, mask: model.composit_model(ids, mask, weights),
        (ids, mask),
        {} if small else {"torch": torch_for, "jax": jax_for},
        flops=0 if small else model.flops(batch, length),
    )


def resnet(small: bool) -> Work:
    from models import resnet as model

    stages = ((1, 8, 1),) if small else model.STAGES
    weights = draw(model.shapes(stages))
    images = normal(1, 3, 32, 32) if small else normal(8, 3, 224, 224)

    def torch_for(*_):
        return model.torch_model(weights, stages).eval().cuda()

    torch_for.makes = True  # type: ignore[attr-defined]
    return Work(
        lambda images: model.composit_model(images, weights, stages),
        (images,),
        {"torch": torch_for},
        flops=0 if small else 8 * model.flops(),
    )


def xor(small: bool) -> Work:
    from models import xor as model

    def step(*weights):
        loss, changed = model.composit_step(list(weights), model.INPUTS, model.TARGETS)
        return (loss, *changed)

    def in_jax(*weights):
        loss, changed = model.jax_step(list(weights), model.INPUTS, model.TARGETS)
        return (loss, *changed)

    def in_torch(*weights):
        import torch

        held.setdefault(
            "batch", [torch.from_numpy(a).cuda() for a in (model.INPUTS, model.TARGETS)]
        )
        inputs, targets = held["batch"]
        with torch.inference_mode(False), torch.enable_grad():
            first, bias, second, last = (w.detach().clone().requires_grad_() for w in weights)
            found = torch.tanh(inputs @ first + bias) @ second + last
            loss = ((found - targets) ** 2).mean()
            slopes = torch.autograd.grad(loss, (first, bias, second, last))
        return (loss, *(w - model.RATE * g for w, g in zip(weights, slopes)))

    held: dict[str, Any] = {}
    return Work(step, tuple(model.weights()), {"torch": in_torch, "jax": in_jax}, feeds_back=True)


def xor_steps(small: bool) -> Steps:
    from models import as_modules

    state, batch = as_modules.xor_state(), (as_modules.XOR_INPUTS, as_modules.XOR_LABELS)

    def training(t: Any, device: str) -> Any:
        network = as_modules.xor_network(t)
        return as_modules.Training(t, network, state, batch,
                                   lambda t, p: t.optim.SGD(p, lr=0.5), device)  # fmt: skip

    return Steps(training, 100 if small else 5000)


def mnist_steps(of: str) -> Callable[[bool], Steps]:
    def make(small: bool) -> Steps:
        from models import as_modules, convnet, training, vit

        model, network, state_of = {
            "ConvNet": (convnet, as_modules.conv_network, as_modules.convnet_state),
            "ViT": (vit, as_modules.transformer, as_modules.vit_state),
        }[of]
        state, batch = state_of(draw(model.shapes())), training.batch_of(4 if small else 32)

        def trained(t: Any, device: str) -> Any:
            return as_modules.Training(t, network(t), state, batch,
                                       lambda t, p: t.optim.Adam(p, training.RATE),
                                       device)  # fmt: skip

        return Steps(trained, 2 if small else 50)

    return make


def all_rows() -> Iterator[Row]:
    yield Row("negate 64M float32", None, None, negate)
    yield Row("chain of 7 functions, 16M float32", 1.5, None, chain)
    yield Row("sum of 16M float32", 1.0, None, total)
    yield Row("softmax of 4096 rows of 1024", 1.2, None, softmax)
    yield Row("layer norm of 4096 rows of 1024", 1.2, None, layer_norm)
    yield Row("gelu of 16M float32", 1.2, None, gelu)
    yield Row("gradient of gelu, 16M float32", 1.2, None, gelu_gradient)
    yield Row("matmul 512 float32", None, None, matmul(512))
    for size in (2048, 4096, 8192):
        yield Row(f"matmul {size} float32", 0.85, 1.0, matmul(size))
    yield Row("convolution 8x64x56x56, 3x3", 0.7, None, convolution)
    yield Row("XOR, one step compiled", None, None, xor)
    yield Row("XOR, 5000 steps", 3.0, None, xor_steps)
    yield Row("MNIST ConvNet training step, batch 32", 1.5, None, mnist_steps("ConvNet"))
    yield Row("MNIST ViT training step, batch 32", 1.5, None, mnist_steps("ViT"))
    yield Row("BERT-base, 8 x 128 tokens", 0.8, 1.2, bert)
    yield Row("ResNet-50, batch 8", 0.8, 1.2, resnet)
