"""ResNet-50 (He et al. 2015) for inference: stride in the 3 x 3 convolutions, as in torchvision."""

from models.weights import Shapes, Weights

Stages = tuple[tuple[int, int, int], ...]  # blocks, width, first stride
STAGES: Stages = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
CLASSES, EPSILON = 1000, 1e-5


def convolutions(stages: Stages = STAGES) -> dict[str, tuple[tuple[int, int, int, int], int]]:
    """By name: the shape of the filters, and the stride."""
    found = {"stem": ((64, 3, 7, 7), 2)}
    inputs = 64
    for stage, (blocks, width, stage_stride) in enumerate(stages):
        for block in range(blocks):
            stride = stage_stride if block == 0 else 1
            name = f"{stage}.{block}"
            found[f"{name}.first"] = ((width, inputs, 1, 1), 1)
            found[f"{name}.second"] = ((width, width, 3, 3), stride)
            found[f"{name}.third"] = ((4 * width, width, 1, 1), 1)
            if block == 0:
                found[f"{name}.shortcut"] = ((4 * width, inputs, 1, 1), stride)
            inputs = 4 * width
    return found


def shapes(stages: Stages = STAGES) -> Shapes:
    found: Shapes = {"dense.weight": (4 * stages[-1][1], CLASSES), "dense.bias": (CLASSES,)}
    for name, (shape, _) in convolutions(stages).items():
        found[f"{name}.filters"] = shape
        for kind in ("mean", "variance", "scale", "bias"):
            found[f"{name}.{kind}"] = shape[:1]
    return found


def flops() -> float:
    """Of the convolutions and the last product, for one image."""
    sizes = {"stem": 112}
    for stage, size in enumerate((56, 28, 14, 7)):
        for name in convolutions():
            if name.startswith(f"{stage}."):
                sizes[name] = size
        if stage:
            sizes[f"{stage}.0.first"] = 2 * size
    total = 2.0 * 2048 * CLASSES
    for name, ((outputs, inputs, height, width), _) in convolutions().items():
        total += 2.0 * sizes[name] ** 2 * outputs * inputs * height * width
    return total


def composit_model(images, weights, stages: Stages = STAGES):
    """In composit.nn."""
    import composit.numpy as cnp
    from composit import nn

    w, layers = weights, convolutions(stages)
    kinds = ("mean", "variance", "scale", "bias")

    def per_channel(name, kind):
        return cnp.reshape(w[f"{name}.{kind}"], (-1, 1, 1))

    def convolution(x, name):
        (_, _, size, _), stride = layers[name]
        filters, padding = w[f"{name}.filters"], (size // 2,) * 2
        x = nn.convolution(x, filters, channels_last=False, strides=stride, padding=padding)
        return nn.batch_norm(x, *(per_channel(name, kind) for kind in kinds), epsilon=EPSILON)

    def block(x, name):
        left = convolution(x, f"{name}.shortcut") if f"{name}.shortcut" in layers else x
        x = nn.relu(convolution(x, f"{name}.first"))
        x = nn.relu(convolution(x, f"{name}.second"))
        return nn.relu(convolution(x, f"{name}.third") + left)

    x = nn.relu(convolution(images, "stem"))
    x = nn.max_pool(x, kernel_size=3, strides=2, padding=1, channels_last=False)
    for stage, (blocks, _, _) in enumerate(stages):
        for i in range(blocks):
            x = block(x, f"{stage}.{i}")
    return cnp.mean(x, axis=(2, 3)) @ w["dense.weight"] + w["dense.bias"]


def torch_model(weights: Weights, stages: Stages = STAGES):
    """A module of images."""
    import torch
    from torch import nn

    layers = convolutions(stages)

    def convolution(name):
        (outputs, inputs, size, _), stride = layers[name]
        layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
        norm = nn.BatchNorm2d(outputs, EPSILON)
        target = {
            "filters": layer.weight, "mean": norm.running_mean, "variance": norm.running_var,
            "scale": norm.weight, "bias": norm.bias,
        }  # fmt: skip
        with torch.no_grad():
            for kind, tensor in target.items():
                tensor.copy_(torch.from_numpy(weights[f"{name}.{kind}"]))
        return nn.Sequential(layer, norm)

    class Block(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.first = convolution(f"{name}.first")
            self.second = convolution(f"{name}.second")
            self.third = convolution(f"{name}.third")
            has_shortcut = f"{name}.shortcut" in layers
            self.shortcut = convolution(f"{name}.shortcut") if has_shortcut else nn.Identity()

        def forward(self, x):
            y = torch.relu(self.first(x))
            y = torch.relu(self.second(y))
            return torch.relu(self.third(y) + self.shortcut(x))

    blocks = [Block(f"{s}.{i}") for s, (count, _, _) in enumerate(stages) for i in range(count)]
    dense = nn.Linear(4 * stages[-1][1], CLASSES)
    with torch.no_grad():
        dense.weight.copy_(torch.from_numpy(weights["dense.weight"].T.copy()))
        dense.bias.copy_(torch.from_numpy(weights["dense.bias"]))
    pool = nn.MaxPool2d(3, 2, 1)
    return nn.Sequential(
        convolution("stem"), nn.ReLU(), pool, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), dense
    ).eval()
