"""Draws the graphs of the zoo's models, at small sizes, into docs/images: tools/zoo_pictures.py."""

import sys
from pathlib import Path

import numpy as np

from composit import model_zoo
from composit.model_zoo.parameters import Parameters, as_tensors, draw
from composit.model_zoo.stable_diffusion import autoencoder_kl, shapes, unet
from composit.model_zoo.stable_diffusion.blocks import resnet_block
from composit.types import visualize

IMAGES = Path(__file__).resolve().parent.parent / "docs/images"
IDS = np.zeros((1, 16), np.int64)


def image(size: int, channels: int = 3) -> np.ndarray:
    return np.zeros((1, channels, size, size), np.float32)


def tensors_of(shapes_of_model: dict) -> dict:
    return as_tensors(draw(shapes_of_model, 0))


def models() -> dict:
    """A tensor of each model, by the picture's name."""
    zoo = model_zoo
    bert = tensors_of(zoo.bert.parameter_shapes(width=64, vocab_size=100))
    gpt2 = tensors_of(zoo.gpt2.parameter_shapes(width=64, vocab_size=100))
    llama = tensors_of(zoo.llama.parameter_shapes(width=64, hidden_width=96, vocab_size=100))
    lstm = tensors_of(zoo.lstm.parameter_shapes(width=64, vocab_size=100))
    vit = tensors_of(zoo.vit.parameter_shapes(width=64, image_size=32, patch_size=8))
    noise = tensors_of(shapes.unet_shapes((32, 64), text_width=32, layers=1))
    part = Parameters(noise) / "down_blocks.0"
    decoder = tensors_of(shapes.autoencoder_shapes((32, 64), layers=1))
    latents, text = image(8, 4), np.zeros((1, 5, 32), np.float32)
    return {
        "bert": zoo.bert.bert(IDS, None, None, bert, num_encoders=12, head_size=8),
        "convnet": zoo.convnet.convnet(image(28, 1), tensors_of(zoo.convnet.parameter_shapes())),
        "gpt2": zoo.gpt2.gpt2(IDS, gpt2, num_heads=8),
        "llama": zoo.llama.llama(IDS, llama, num_heads=8),
        "lstm": zoo.lstm.lstm(IDS, lstm),
        "resnet18": zoo.resnet.resnet(
            image(64), tensors_of(zoo.resnet.parameter_shapes(18)), channels_last=False
        ),
        "vit": zoo.vit.vit(image(32), vit, num_heads=8),
        "unet_resnet": resnet_block(
            image(8, 32),
            part / "resnets.0",
            channels_last=False,
            epsilon=unet.EPSILON,
            embedded_time=np.zeros((1, 128), np.float32),
        ),
        "unet_transformer": unet.transformer(
            image(8, 32), text, part / "attentions.0", num_heads=8, channels_last=False
        ),
        "autoencoder": autoencoder_kl.decoder(latents, decoder, channels_last=False),
    }


def main(folder: Path) -> None:
    for name, tensor in models().items():
        picture = visualize(tensor, render=False, depth=0, fold=20)
        svg = picture.pipe(format="svg", encoding="utf-8")
        (folder / f"zoo_{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
