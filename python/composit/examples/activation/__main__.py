"""Trains a network of relu3, a knossos kernel, on digits, with PyTorch or composit.torch; plots."""

import argparse
import dataclasses
import importlib
import sys
from pathlib import Path

from composit.examples.activation import plots
from composit.examples.activation.relu3 import network, relu3
from composit.examples.digits import data
from composit.examples.digits.training import train
from composit.examples.options import SEEDS, Rule, checked

FRONTS = {"composit": "composit.torch", "torch": "torch"}


STEPS: Rule = (
    lambda options: options.epochs >= 1 and options.batch_size >= 2,
    "--epochs must be at least 1 and --batch-size at least 2",
)


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m composit.examples.activation", description=__doc__
    )
    option = parser.add_argument
    option("--front", choices=FRONTS, default="composit",
           help="whose modules and optimiser: composit.torch or PyTorch (composit)")  # fmt: skip
    option("--epochs", type=int, default=20, help="passes over the training images (20)")
    option("--batch-size", type=int, default=32, help="images per step (32)")
    option("--learning-rate", type=float, default=0.002, help="of Adam (0.002)")
    option("--seed", type=int, default=1, help="of the split, the weights and the order (1)")
    option("--output", type=Path, default=Path("activation_output"), metavar="DIR",
           help="where plots and C++ go (activation_output)")  # fmt: skip
    option("--data", type=Path, metavar="DIR",
           help="MNIST's four IDX files instead of scikit-learn's scans")  # fmt: skip
    return checked(parser, words, STEPS, SEEDS)


def in_rows(digits: data.Digits) -> data.Digits:
    """The digits with every image as a row of pixels."""
    return dataclasses.replace(
        digits,
        train_images=digits.train_images.reshape(len(digits.train_images), -1),
        test_images=digits.test_images.reshape(len(digits.test_images), -1),
    )


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    arguments = parse(words)
    try:
        torch = importlib.import_module(FRONTS[arguments.front])
        digits = in_rows(data.load(arguments.data, arguments.seed))
        sizes = f"{len(digits.train_images)} to train, {len(digits.test_images)} to test"
        print(f"data: {digits.source}; {sizes}")
        torch.manual_seed(arguments.seed)
        model = network(torch, digits.train_images[0].size)
        losses, accuracies = train(torch, model, torch.nn.NLLLoss(), digits, arguments)
        print(f"test accuracy: {100 * accuracies[-1]:.2f} %")
        folder = arguments.output
        folder.mkdir(parents=True, exist_ok=True)
        plots.of_function(relu3, folder / "relu3.svg")
        plots.of_function(relu3, folder / "relu3_derivative.svg", with_derivative=True)
        plots.of_training(losses, accuracies, folder / "training.svg")
        files = relu3.export(folder)
        print(f"plots and {', '.join(files)}: wrote {folder.resolve()}")
    except (data.DataError, ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
