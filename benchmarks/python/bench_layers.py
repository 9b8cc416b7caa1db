"""Layers of networks: softmax, layer norm, convolution, pooling; forward, and with gradients."""

from functions import Pass, function_case
from group import main

IMAGES, FILTERS, EACH = (8, 64, 56, 56), (64, 64, 3, 3), (64, 1, 3, 3)
CONVOLUTION = 2 * 8 * 64 * 64 * 9 * 56 * 56


def cases():
    import jax
    import torch
    from torch.nn import functional as F

    from composit import nn

    for kind in (Pass.FORWARD, Pass.BOTH):
        yield function_case(
            f"softmax 512 x 512, {kind.value}", 1.3, 2.5, [(512, 512)],
            lambda x: nn.softmax(x, axis=-1), kind,
            jax=lambda x: jax.nn.softmax(x, -1), torch=lambda x: torch.softmax(x, -1),
        )  # fmt: skip
    for kind in (Pass.FORWARD, Pass.BOTH):
        yield function_case(
            f"layer norm 1024 x 768, {kind.value}", 1.2, 2, [(1024, 768), (768,), (768,)],
            lambda x, scale, bias: nn.layer_norm(x, scale, bias, axis=-1), kind,
            torch=lambda x, scale, bias: F.layer_norm(x, (768,), scale, bias),
        )  # fmt: skip
    for kind in (Pass.FORWARD, Pass.BOTH):
        yield function_case(
            f"convolution 3 x 3, {kind.value}", 1, 1.25, [IMAGES, FILTERS],
            lambda x, w: nn.convolution(x, w, channels_last=False, padding=(1, 1)), kind,
            torch=lambda x, w: F.conv2d(x, w, padding=1), flops=CONVOLUTION,
        )  # fmt: skip
    yield function_case(
        "convolution 3 x 3 of each channel, forward", None, None, [IMAGES, EACH],
        lambda x, w: nn.convolution(x, w, channels_last=False, padding=1, groups=64),
        Pass.FORWARD, torch=lambda x, w: F.conv2d(x, w, padding=1, groups=64),
        flops=CONVOLUTION // 64,
    )  # fmt: skip
    yield function_case(
        "max pool 2 x 2, forward and backward", 2, 4, [IMAGES],
        lambda x: nn.max_pool(x, kernel_size=(2, 2), strides=(2, 2), channels_last=False),
        Pass.BOTH, torch=lambda x: F.max_pool2d(x, 2),
    )  # fmt: skip


if __name__ == "__main__":
    notes = (
        "Gradients are those of all inputs. Images are 8 x 64 x 56 x 56; convolutions have 64 "
        "filters and padding 1. Results agree to 1e-5 of the largest."
    )
    main("Layers", notes, cases)
