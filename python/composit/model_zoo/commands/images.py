"""`resnet`, `vit` and `convnet`: what an image shows, with the time that one takes."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import composit
from composit.model_zoo import convnet, resnet, vit
from composit.model_zoo.commands import running
from composit.model_zoo.commands.files import read_array, read_config, read_picture
from composit.model_zoo.parameters import as_tensors, convert

VIT_KEYS = {
    "num_layers": "num_hidden_layers", "width": "hidden_size", "image_size": "image_size",
    "patch_size": "patch_size", "num_channels": "num_channels",
    "num_heads": "num_attention_heads",
}  # fmt: skip
TINY_VIT = {
    "num_layers": 2, "width": 64, "image_size": 32, "patch_size": 8, "num_classes": 10,
    "num_heads": 2,
}  # fmt: skip
# What images that classifiers were trained with had, by channel.
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def add_options(parser: argparse.ArgumentParser) -> None:
    running.add_common(parser, tiny="a small one; a ResNet of 18 layers")
    option = parser.add_argument
    option(
        "--image",
        type=Path,
        metavar="FILE",
        help="a picture that Pillow reads, or an .npy of (channels, height, width); without it, "
        "one of random pixels",
    )
    option("--batch-size", type=int, default=1, help="copies of the image at a time (1)")
    option("--top", type=int, default=5, help="how many classes to print (5)")


def add_resnet_options(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument("--depth", type=int, choices=list(resnet.BLOCKS), default=50, help="(50)")
    parser.add_argument("--channels-last", action="store_true", help="as the network computes")


def run_resnet(arguments: argparse.Namespace) -> None:
    depth = 18 if arguments.tiny else arguments.depth
    size, last = 64 if arguments.tiny else 224, arguments.channels_last
    classes = 1000
    if arguments.weights is not None:
        config = read_config(arguments.weights)
        classes = len(config["id2label"]) if "id2label" in config else classes
    parameters = running.parameters_for(
        arguments,
        resnet.parameter_shapes(depth, num_classes=classes),
        lambda state: resnet.convert_parameters_to_numpy(state, False),
    )
    filters_first = parameters
    if last:
        arrays = {name: np.asarray(value) for name, value in parameters.items()}
        parameters = as_tensors(convert(arrays, lambda *_: False, channels_last=True))
    images = read_images(arguments, (3, size, size))
    ours = np.ascontiguousarray(np.moveaxis(images, 1, -1)) if last else images

    def of_torch() -> Any:
        import torch
        from transformers import ResNetConfig, ResNetForImageClassification

        options: dict[str, Any] = {
            "hidden_sizes": [(256 if depth >= 50 else 64) * 2**i for i in range(4)],
            "depths": list(resnet.BLOCKS[depth]),
            "layer_type": "bottleneck" if depth >= 50 else "basic",
            "num_labels": classes,
        }
        model = ResNetForImageClassification(ResNetConfig(**options)).eval()
        known = running.torch_state(filters_first, lambda *_: True)
        state = model.state_dict()
        for name in state:
            if not name.endswith("num_batches_tracked"):
                state[name] = known[resnet.torchvision_name(name)]
        model.load_state_dict(state)
        return lambda x: model(torch.moveaxis(x, -1, 1) if last else x).logits

    model = functools.partial(resnet.resnet, parameters=parameters, channels_last=last)
    classify(arguments, model, ours, of_torch)


def run_vit(arguments: argparse.Namespace) -> None:
    sizes = {"num_heads": 12} | running.sizes_of(arguments, VIT_KEYS, TINY_VIT)
    if arguments.weights is not None:
        sizes["num_classes"] = len(read_config(arguments.weights).get("id2label", range(1000)))
    num_heads = sizes.pop("num_heads")
    shapes = vit.parameter_shapes(**sizes)
    parameters = running.parameters_for(arguments, shapes, vit.convert_parameters_to_numpy)
    filters = shapes["vit.embeddings.patch_embeddings.projection.weight"]
    tokens = shapes["vit.embeddings.position_embeddings"][1]
    size = round((tokens - 1) ** 0.5) * filters[2]
    images = read_images(arguments, (filters[1], size, size))

    def of_torch() -> Any:
        from transformers import ViTConfig, ViTForImageClassification

        options: dict[str, Any] = {
            "hidden_size": filters[0],
            "num_hidden_layers": sum(name.endswith("fc1.bias") for name in shapes),
            "num_attention_heads": num_heads,
            "intermediate_size": 4 * filters[0],
            "image_size": size,
            "patch_size": filters[2],
            "num_channels": filters[1],
            "num_labels": shapes["classifier.bias"][0],
        }
        model = ViTForImageClassification(ViTConfig(**options)).eval()
        model.load_state_dict(running.torch_state(parameters, lambda *_: True))
        return lambda x: model(x).logits

    classify(arguments, lambda x: vit.vit(x, parameters, num_heads=num_heads), images, of_torch)


def run_convnet(arguments: argparse.Namespace) -> None:
    parameters = running.parameters_for(
        arguments, convnet.parameter_shapes(), convnet.convert_parameters_to_numpy
    )
    images = read_images(arguments, (1, 28, 28))
    classify(
        arguments,
        lambda x: convnet.convnet(x, parameters),
        images,
        lambda: _torchs_convnet(parameters),
    )


def _torchs_convnet(parameters: Any) -> Any:
    import torch.nn.functional as F

    p = running.torch_state(parameters, lambda *_: True)

    def model(x: Any) -> Any:
        x = F.relu(F.conv2d(x, p["conv1.weight"], p["conv1.bias"]))
        x = F.relu(F.conv2d(x, p["conv2.weight"], p["conv2.bias"]))
        x = F.relu(F.linear(F.max_pool2d(x, 2).flatten(1), p["fc1.weight"], p["fc1.bias"]))
        return F.linear(x, p["fc2.weight"], p["fc2.bias"])

    return model


def read_images(arguments: argparse.Namespace, shape: tuple[int, ...]) -> np.ndarray:
    """(batch, *shape) float32: the image, scaled to the shape's height and width."""
    channels, height, width = shape
    file = arguments.image
    if file is None:
        random = np.random.default_rng(arguments.seed)
        image: Any = random.standard_normal(shape, np.float32)
    elif file.suffix == ".npy":
        image = read_array(file)
        if image.shape != shape:
            raise ValueError(f"{file} has shape {image.shape}. {shape} is required.")
    else:
        picture = read_picture(file, "L" if channels == 1 else "RGB")
        pixels = np.asarray(picture.resize((width, height))).reshape(height, width, channels)
        image = pixels.astype(np.float32) / 255
        if channels == 3:
            image = ((image - MEAN) / DEVIATION).astype(np.float32)
        image = np.moveaxis(image, -1, 0)
    return np.repeat(image[None], arguments.batch_size, axis=0)


def classify(
    arguments: argparse.Namespace,
    model: Callable[[Any], Any],
    images: np.ndarray,
    of_torch: Callable[[], Any],
) -> None:
    """Prints the likeliest classes of the first image, and the time of one. `of_torch()` makes the
    same model of PyTorch."""
    compiled = composit.compile(
        model, images, name="classify", backend=running.backend_of(arguments)
    )
    calls = running.progress(range(6), total=6, unit="batch", title="classifying")
    seconds = np.median([running.seconds_of(lambda: compiled(images), calls=1) for _ in calls])
    logits = compiled(images)[0].astype(np.float64)
    likely = np.exp(logits - logits.max())
    likely /= likely.sum()
    for label in np.argsort(-likely, kind="stable")[: arguments.top]:
        print(f"class {label}: {likely[label]:.4f}")

    def theirs() -> float:
        import torch

        function, tensor = of_torch(), torch.from_numpy(images)
        with torch.inference_mode():
            return running.seconds_of(lambda: function(tensor)) / len(images)

    running.report(arguments, "image", float(seconds) / len(images), theirs, "transformers")
