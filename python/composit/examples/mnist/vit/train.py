"""Trains a vision transformer: python -m composit.examples.mnist.vit.train"""

import sys
from typing import Any

import composit.torch as torch
from composit.examples.mnist import training
from composit.examples.mnist.vit.model import network
from composit.examples.options import Rule, checked

PATCHES: Rule = (
    lambda options: options.patch_size >= 1 and 28 % options.patch_size == 0,
    "--patch_size is {patch_size}; it must divide 28",
)
HEADS: Rule = (
    lambda given: min(given.num_heads, given.num_layers) >= 1 and not given.embed % given.num_heads,
    "--embed is {embed}, --num_heads {num_heads}, --num_layers {num_layers}; they must be at least "
    "1, and embed a multiple of the heads",
)


def warm_up_and_cosine(optimizer: Any, steps: int) -> Any:
    """The learning rate rises to its value in the first tenth of the steps, then falls to 0: at a
    constant one, results of epochs differ by several percent."""
    schedules, rising = torch.optim.lr_scheduler, max(1, steps // 10)
    parts = [
        schedules.LinearLR(optimizer, 0.1, 1.0, rising),
        schedules.CosineAnnealingLR(optimizer, max(1, steps - rising)),
    ]
    return schedules.SequentialLR(optimizer, parts, [rising])


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    parser = training.parser("vit", "Trains a vision transformer on handwritten digits.", 0.003)
    option = parser.add_argument
    option("--patch_size", type=int, default=4, help="pixels of a patch's side (4)")
    option("--embed", type=int, default=128, help="numbers of a token (128)")
    option("--num_heads", type=int, default=2, help="heads of attention (2)")
    option("--num_layers", type=int, default=1, help="encoder layers (1)")
    options = checked(parser, words, *training.RULES, PATCHES, HEADS)
    sizes = options.patch_size, options.embed, options.num_heads, options.num_layers
    return training.run(lambda: network(torch, *sizes), options, warm_up_and_cosine)


if __name__ == "__main__":
    sys.exit(main())
