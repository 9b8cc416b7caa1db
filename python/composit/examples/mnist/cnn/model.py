"""Three convolutions, each with batch norm, relu and a pool, and a linear layer."""

from __future__ import annotations

from typing import Any


def network(torch: Any) -> Any:
    """A module of `torch`, which is composit.torch or PyTorch: images (batch, 1, 28, 28) to
    (batch, 10)."""
    nn = torch.nn
    layers: list[Any] = []
    channels = 1
    for width, padding in ((8, "same"), (16, 2), (32, "same")):
        layers += [nn.Conv2d(channels, width, 3, padding=padding), nn.BatchNorm2d(width),
                   nn.ReLU(), nn.AvgPool2d(2)]  # fmt: skip
        channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.1), nn.Linear(512, 10))
