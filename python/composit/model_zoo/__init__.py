"""Models that people know, written by hand from composit.numpy and composit.nn: functions of inputs
and of parameters by the names of PyTorch's libraries. `python -m composit.model_zoo --help` runs
them."""

from composit.model_zoo import (
    bert,
    convnet,
    generation,
    gpt2,
    llama,
    lstm,
    resnet,
    stable_diffusion,
    vit,
)

__all__ = [
    "bert", "convnet", "generation", "gpt2", "llama", "lstm", "resnet", "stable_diffusion", "vit",
]  # fmt: skip
