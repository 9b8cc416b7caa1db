"""Names and shapes of the parameters of Stable Diffusion's networks, as diffusers names them."""

from __future__ import annotations

from collections.abc import Sequence

from composit.model_zoo.parameters import Shapes, dense, scale

WIDTHS = (320, 640, 1280, 1280)  # of the U-Net, at each resolution
IMAGE_WIDTHS = (128, 256, 512, 512)  # of the autoencoder
LATENTS = 4


def unet_shapes(
    widths: Sequence[int] = WIDTHS, *, text_width: int = 768, layers: int = 2
) -> Shapes:
    """Of the U-Net, by default those of Stable Diffusion 1.5."""
    shapes: Shapes = {}
    time_width, last = 4 * widths[0], len(widths) - 1

    def block(place: str, inputs: int, outputs: int) -> None:
        _resnet(shapes, place, inputs, outputs, time_width)

    def attention(place: str, width: int) -> None:
        _transformer(shapes, place, width, text_width)

    _convolution(shapes, "conv_in", LATENTS, widths[0], 3)
    dense(shapes, "time_embedding.linear_1", widths[0], time_width)
    dense(shapes, "time_embedding.linear_2", time_width, time_width)
    skipped, before = [widths[0]], widths[0]
    for i, width in enumerate(widths):
        place = f"down_blocks.{i}"
        for j in range(layers):
            block(f"{place}.resnets.{j}", before, width)
            before = width
            if i < last:
                attention(f"{place}.attentions.{j}", width)
            skipped.append(width)
        if i < last:
            _convolution(shapes, f"{place}.downsamplers.0.conv", width, width, 3)
            skipped.append(width)
    block("mid_block.resnets.0", before, before)
    attention("mid_block.attentions.0", before)
    block("mid_block.resnets.1", before, before)
    for i, width in enumerate(reversed(widths)):
        place = f"up_blocks.{i}"
        for j in range(layers + 1):
            block(f"{place}.resnets.{j}", before + skipped.pop(), width)
            before = width
            if i > 0:
                attention(f"{place}.attentions.{j}", width)
        if i < last:
            _convolution(shapes, f"{place}.upsamplers.0.conv", width, width, 3)
    scale(shapes, "conv_norm_out", widths[0])
    _convolution(shapes, "conv_out", widths[0], LATENTS, 3)
    return shapes


def autoencoder_shapes(widths: Sequence[int] | None = None, *, layers: int = 2) -> Shapes:
    """Of the autoencoder, by default that of Stable Diffusion 1.5."""
    widths = IMAGE_WIDTHS if widths is None else widths
    shapes: Shapes = {}
    last, deep = len(widths) - 1, widths[-1]

    def middle(place: str) -> None:
        _resnet(shapes, f"{place}.resnets.0", deep, deep)
        scale(shapes, f"{place}.attentions.0.group_norm", deep)
        for name in ("to_q", "to_k", "to_v", "to_out.0"):
            dense(shapes, f"{place}.attentions.0.{name}", deep, deep)
        _resnet(shapes, f"{place}.resnets.1", deep, deep)

    _convolution(shapes, "encoder.conv_in", 3, widths[0], 3)
    before = widths[0]
    for i, width in enumerate(widths):
        for j in range(layers):
            _resnet(shapes, f"encoder.down_blocks.{i}.resnets.{j}", before, width)
            before = width
        if i < last:
            _convolution(shapes, f"encoder.down_blocks.{i}.downsamplers.0.conv", width, width, 3)
    middle("encoder.mid_block")
    scale(shapes, "encoder.conv_norm_out", deep)
    _convolution(shapes, "encoder.conv_out", deep, 2 * LATENTS, 3)
    _convolution(shapes, "quant_conv", 2 * LATENTS, 2 * LATENTS, 1)
    _convolution(shapes, "post_quant_conv", LATENTS, LATENTS, 1)
    _convolution(shapes, "decoder.conv_in", LATENTS, deep, 3)
    middle("decoder.mid_block")
    before = deep
    for i, width in enumerate(reversed(widths)):
        for j in range(layers + 1):
            _resnet(shapes, f"decoder.up_blocks.{i}.resnets.{j}", before, width)
            before = width
        if i < last:
            _convolution(shapes, f"decoder.up_blocks.{i}.upsamplers.0.conv", width, width, 3)
    scale(shapes, "decoder.conv_norm_out", widths[0])
    _convolution(shapes, "decoder.conv_out", widths[0], 3, 3)
    return shapes


def _convolution(shapes: Shapes, place: str, inputs: int, outputs: int, size: int) -> None:
    shapes[f"{place}.weight"] = (outputs, inputs, size, size)
    shapes[f"{place}.bias"] = (outputs,)


def _resnet(
    shapes: Shapes, place: str, inputs: int, outputs: int, time_width: int | None = None
) -> None:
    scale(shapes, f"{place}.norm1", inputs)
    _convolution(shapes, f"{place}.conv1", inputs, outputs, 3)
    if time_width is not None:
        dense(shapes, f"{place}.time_emb_proj", time_width, outputs)
    scale(shapes, f"{place}.norm2", outputs)
    _convolution(shapes, f"{place}.conv2", outputs, outputs, 3)
    if inputs != outputs:
        _convolution(shapes, f"{place}.conv_shortcut", inputs, outputs, 1)


def _transformer(shapes: Shapes, place: str, width: int, text_width: int) -> None:
    block = f"{place}.transformer_blocks.0"
    scale(shapes, f"{place}.norm", width)
    _convolution(shapes, f"{place}.proj_in", width, width, 1)
    for attention, read in (("attn1", width), ("attn2", text_width)):
        dense(shapes, f"{block}.{attention}.to_q", width, width, bias=False)
        dense(shapes, f"{block}.{attention}.to_k", read, width, bias=False)
        dense(shapes, f"{block}.{attention}.to_v", read, width, bias=False)
        dense(shapes, f"{block}.{attention}.to_out.0", width, width)
    for norm in ("norm1", "norm2", "norm3"):
        scale(shapes, f"{block}.{norm}", width)
    dense(shapes, f"{block}.ff.net.0.proj", width, 8 * width)
    dense(shapes, f"{block}.ff.net.2", 4 * width, width)
    _convolution(shapes, f"{place}.proj_out", width, width, 1)
