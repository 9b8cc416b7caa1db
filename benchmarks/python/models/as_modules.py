"""The training benchmarks' models as users of PyTorch write them, over either library `t`: modules,
a loss, an optimiser; and their weights under the names of models/convnet.py and models/vit.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from models import convnet, vit
from models.weights import Weights

XOR_INPUTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
XOR_LABELS = np.array([1, 0, 0, 1])


def xor_state() -> Weights:
    """Random weights by xor_network's names."""
    draw_from = np.random.default_rng(0)
    shapes = {"0.weight": (8, 2), "0.bias": (8,), "2.weight": (2, 8), "2.bias": (2,)}
    return {n: draw_from.uniform(-0.6, 0.6, s).astype("float32") for n, s in shapes.items()}


def xor_network(t: Any) -> Any:
    """A network of 2, 8 and 2 neurons, composit.examples.xor's."""
    return t.nn.Sequential(t.nn.Linear(2, 8), t.nn.ReLU(), t.nn.Linear(8, 2))


def conv_network(t: Any) -> Any:
    """composit.examples.mnist.cnn's without dropout, so that results can be compared."""
    layers: list[Any] = []
    channels = 1
    for width, padding in zip(convnet.CHANNELS, convnet.PADDING):
        layers += [t.nn.Conv2d(channels, width, 3, padding=padding), t.nn.BatchNorm2d(width),
                   t.nn.ReLU(), t.nn.AvgPool2d(2)]  # fmt: skip
        channels = width
    return t.nn.Sequential(*layers, t.nn.Flatten(), t.nn.Linear(16 * channels, convnet.CLASSES))


def transformer(t: Any) -> Any:
    """composit.examples.mnist.vit's without dropout; attention has no biases, as tensorgrad's."""

    class Encoder(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = t.nn.MultiheadAttention(
                vit.WIDTH, vit.HEADS, bias=False, batch_first=True
            )
            self.norm = t.nn.LayerNorm(vit.WIDTH)
            self.wide = t.nn.Linear(vit.WIDTH, vit.WIDE)
            self.narrow = t.nn.Linear(vit.WIDE, vit.WIDTH)

        def forward(self, x: Any) -> Any:
            x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
            return self.norm(x + self.narrow(self.wide(x).relu()))

    class VisionTransformer(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patch = t.nn.Linear(vit.PATCH * vit.PATCH, vit.WIDTH)
            self.positions = t.nn.Parameter(t.zeros(vit.TOKENS, vit.WIDTH))
            self.layers = t.nn.Sequential(*(Encoder() for _ in range(vit.LAYERS)))
            self.head = t.nn.Linear(vit.WIDTH, vit.CLASSES)

        def forward(self, x: Any) -> Any:
            batch = x.shape[0]
            x = x.reshape(batch, vit.SIDE, vit.PATCH, vit.SIDE, vit.PATCH).permute(0, 1, 3, 2, 4)
            x = self.patch(x.reshape(batch, vit.TOKENS, -1)) + self.positions
            return self.head(self.layers(x).mean(1))

    return VisionTransformer()


def convnet_state(w: Weights) -> Weights:
    """models/convnet.py's weights by conv_network's names."""
    found = {}
    for i in range(len(convnet.CHANNELS)):
        names = ("filters", "bias", "norm.scale", "norm.bias")
        places = (f"{4 * i}.weight", f"{4 * i}.bias", f"{4 * i + 1}.weight", f"{4 * i + 1}.bias")
        found |= {place: w[f"{i}.{name}"] for name, place in zip(names, places)}
    last = 4 * len(convnet.CHANNELS) + 1
    return found | {f"{last}.weight": w["dense.weight"].T, f"{last}.bias": w["dense.bias"]}


def vit_state(w: Weights) -> Weights:
    """models/vit.py's weights by transformer's names."""
    found = {"positions": w["positions"]}
    linear = {"patch": "patch", "head": "head"}
    for i in range(vit.LAYERS):
        linear |= {f"{i}.{name}": f"layers.{i}.{name}" for name in ("wide", "narrow")}
        projections = [w[f"{i}.{name}.weight"].T for name in vit.PROJECTIONS]
        found[f"layers.{i}.attention.in_proj_weight"] = np.concatenate(projections[:3])
        found[f"layers.{i}.attention.out_proj.weight"] = projections[3]
        found[f"layers.{i}.norm.weight"] = w[f"{i}.norm.scale"]
        found[f"layers.{i}.norm.bias"] = w[f"{i}.norm.bias"]
    for name, place in linear.items():
        found[f"{place}.weight"], found[f"{place}.bias"] = w[f"{name}.weight"].T, w[f"{name}.bias"]
    return found


class Training:
    """A loop over one batch, the same lines for both libraries; all tensors lie on `device`."""

    def __init__(
        self, t: Any, model: Any, state: Weights, batch: Any, optimizer: Any, device: str = "cpu"
    ) -> None:
        missing, extra = model.load_state_dict(
            {name: t.tensor(np.ascontiguousarray(value)) for name, value in state.items()}, False
        )
        counters = ("running_mean", "running_var", "num_batches_tracked")
        assert not extra and all(name.endswith(counters) for name in missing), (missing, extra)
        self.model, self.loss_fn = model.to(device), t.nn.CrossEntropyLoss()
        self.inputs, self.labels = (t.tensor(part, device=device) for part in batch)
        self.optimizer = optimizer(t, model.parameters())

    def steps(self, count: int) -> Any:
        """The last loss, not looked at."""
        for _ in range(count):
            self.optimizer.zero_grad()
            loss = self.loss_fn(self.model(self.inputs), self.labels)
            loss.backward()
            self.optimizer.step()
        return loss

    def gradients(self) -> dict[str, np.ndarray]:
        """Of the last step."""
        return {name: x.grad.detach().cpu().numpy() for name, x in self.model.named_parameters()}

    def weights(self) -> dict[str, np.ndarray]:
        return {name: x.detach().cpu().numpy() for name, x in self.model.named_parameters()}
