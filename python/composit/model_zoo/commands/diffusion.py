"""`stable_diffusion`: an image from noise, with the time that a step takes."""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path
from typing import Any

import numpy as np

import composit
from composit.model_zoo.commands import running
from composit.model_zoo.commands.files import read_array, read_config, read_weights
from composit.model_zoo.parameters import as_tensors
from composit.model_zoo.stable_diffusion import autoencoder_kl, denoising, unet
from composit.model_zoo.stable_diffusion.shapes import autoencoder_shapes, unet_shapes

SCALE = 0.18215  # of latents, for a variance of 1
TINY = {"widths": (32, 64), "text_width": 32, "layers": 1}


def add_options(parser: argparse.ArgumentParser) -> None:
    running.add_common(parser, tiny="two resolutions of 32 and 64 channels")
    option = parser.add_argument
    option(
        "--text",
        type=Path,
        metavar="FILE",
        help="an .npy of (1, tokens, width), what a text encoder made of a prompt; without it, "
        "random numbers",
    )
    option("--no-text", type=Path, metavar="FILE", help="likewise, of an empty prompt")
    option("--steps", type=int, default=20, help="how often noise is taken away (20)")
    option("--guidance", type=float, default=1.0, help="how strictly by the text (1)")
    option("--size", type=int, help="of the image, in pixels (256; 64 if tiny)")
    option(
        "--output", type=Path, default=Path("image.npy"), metavar="FILE",
        help=".npy, or a picture that Pillow writes (image.npy)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    sizes: dict[str, Any] = dict(TINY) if arguments.tiny else {}
    num_heads, groups = 8, 32
    folder = arguments.weights
    if folder is not None:
        config = read_config(folder / "unet")
        sizes = {
            "widths": tuple(config["block_out_channels"]),
            "text_width": config["cross_attention_dim"],
            "layers": config["layers_per_block"],
        }
        num_heads, groups = config["attention_head_dim"], config["norm_num_groups"]
    if folder is None:
        noise = running.draw(unet_shapes(**sizes), arguments.seed)
        image = running.draw(autoencoder_shapes(sizes.get("widths")), arguments.seed + 1)
    else:
        noise = unet.convert_parameters_to_numpy(read_weights(folder / "unet"), False)
        image = autoencoder_kl.convert_parameters_to_numpy(read_weights(folder / "vae"), False)
    p, q = as_tensors(noise), as_tensors(image)
    resolutions = sum(name.endswith("upsamplers.0.conv.bias") for name in image) + 1
    shrinks = 2 ** (resolutions - 1)
    step = shrinks * 2 ** sum(name.endswith("downsamplers.0.conv.bias") for name in noise)
    size = (64 if arguments.tiny else 256) if arguments.size is None else arguments.size
    if size < step or size % step:
        raise ValueError(f"--size is {size}. A multiple of {step} is required.")
    side = size // shrinks
    text = _text(arguments.text, arguments.seed + 2, p)
    no_text = _text(arguments.no_text, arguments.seed + 3, p)
    random = np.random.default_rng(arguments.seed)
    latents = random.standard_normal((1, 4, side, side), np.float32)

    network = functools.partial(unet.unet, num_heads=num_heads, num_groups=groups)
    noise_of = composit.compile(
        lambda x, time, text: network(x, time, text, p),
        name="unet",
        backend=running.backend_of(arguments),
    )
    started, noise_of_first = time.perf_counter(), noise_of(latents, np.int64(1), text)
    print(f"compiled in {time.perf_counter() - started:.1f} s")
    del noise_of_first
    taken = []

    def bar(times: Any) -> Any:
        start = time.perf_counter()
        for step in running.progress(times, total=arguments.steps, unit="step", title="denoising"):
            yield step
            taken.append(time.perf_counter() - start)
            start = time.perf_counter()

    latents = denoising.denoise(
        noise_of, latents, text, steps=arguments.steps, guidance=arguments.guidance,
        no_text=no_text, progress=bar,
    )  # fmt: skip
    decode = composit.compile(
        lambda x: autoencoder_kl.decoder(x, q, channels_last=False, num_groups=groups),
        name="decoder",
        backend=running.backend_of(arguments),
    )
    save(arguments.output, np.asarray(decode(latents / np.float32(SCALE)))[0])
    print(f"wrote {arguments.output}")
    arguments.no_torch |= arguments.weights is not None  # its time is that of random weights
    theirs = functools.partial(
        _torchs_seconds, arguments.guidance, noise, latents, text, num_heads, sizes
    )
    running.report(arguments, "step", float(np.median(taken)), theirs, "diffusers")


def save(file: Path, image: np.ndarray) -> None:
    """(3, height, width) numbers from -1 to 1, as they are or as a picture."""
    if file.suffix == ".npy":
        np.save(file, image)
        return
    from PIL import Image

    pixels = np.clip(np.round((image + 1) * 127.5), 0, 255).astype(np.uint8)
    Image.fromarray(np.moveaxis(pixels, 0, -1)).save(file)


def _text(file: Path | None, seed: int, parameters: Any) -> np.ndarray:
    name = next(name for name in parameters if name.endswith("attn2.to_k.weight"))
    width = parameters[name].shape[0]
    if file is None:
        return np.random.default_rng(seed).standard_normal((1, 77, width), np.float32)
    text = read_array(file)
    if text.ndim != 3 or text.shape[0] != 1 or text.shape[2] != width:
        raise ValueError(f"{file} has shape {text.shape}. (1, tokens, {width}) is required.")
    return text


def _torchs_seconds(
    guidance: float,
    parameters: Any,
    latents: np.ndarray,
    text: np.ndarray,
    num_heads: int,
    sizes: dict[str, Any],
) -> float:
    import torch
    from diffusers import UNet2DConditionModel

    widths = sizes.get("widths", (320, 640, 1280, 1280))
    crossed = len(widths) - 1
    model: Any = UNet2DConditionModel(
        block_out_channels=widths,
        down_block_types=("CrossAttnDownBlock2D",) * crossed + ("DownBlock2D",),
        up_block_types=("UpBlock2D",) + ("CrossAttnUpBlock2D",) * crossed,
        layers_per_block=sizes.get("layers", 2),
        cross_attention_dim=text.shape[2],
        attention_head_dim=num_heads,
    )
    model.eval()
    model.load_state_dict(running.torch_state(parameters, lambda *_: True))
    with torch.inference_mode():
        x, words = torch.from_numpy(latents), torch.from_numpy(text)
        calls = 1 if guidance == 1 else 2
        return calls * running.seconds_of(lambda: model(x, 500, words))
