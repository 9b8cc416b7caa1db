"""Trains a network of relu3, a knossos kernel, on digits, with PyTorch or composit.torch; plots."""

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from composit.examples.activation import plots
from composit.examples.activation.relu3 import network, relu3
from composit.examples.digits import data

FRONTS = {"composit": "composit.torch", "torch": "torch"}


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
    arguments = parser.parse_args(words)
    if arguments.epochs < 1 or arguments.batch_size < 2:
        parser.error("--epochs must be at least 1 and --batch-size at least 2")
    if not 0 <= arguments.seed < 2**32 - 1:
        parser.error(f"--seed is {arguments.seed}; it must be at least 0 and below 2**32 - 1")
    return arguments


def train(
    torch: Any, model: Any, digits: data.Digits, arguments: argparse.Namespace
) -> tuple[list[float], list[float]]:
    """The loss of every step, and the accuracy after every epoch."""
    from tqdm import tqdm

    random = np.random.RandomState(arguments.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.learning_rate)
    criterion = torch.nn.NLLLoss()
    images, labels = digits.train_images, digits.train_labels
    size = min(arguments.batch_size, len(images))
    steps = len(images) // size
    losses, accuracies = [], []
    with tqdm(total=arguments.epochs * steps, unit="step", desc=arguments.front) as bar:
        for epoch in range(arguments.epochs):
            model.train()
            order = random.permutation(len(images))
            for i in range(steps):
                chosen = order[i * size : (i + 1) * size]
                given = torch.from_numpy(images[chosen].reshape(size, -1))
                optimizer.zero_grad()
                loss = criterion(model(given), torch.from_numpy(labels[chosen]))
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                bar.update()
            accuracies.append(accuracy(torch, model, digits))
            bar.set_postfix(epoch=epoch + 1, loss=f"{np.mean(losses[-steps:]):.4f}",
                            right=f"{100 * accuracies[-1]:.1f} %")  # fmt: skip
    return losses, accuracies


def accuracy(torch: Any, model: Any, digits: data.Digits) -> float:
    """The share of the test images whose digit the model names."""
    model.eval()
    with torch.no_grad():
        images = digits.test_images.reshape(len(digits.test_images), -1)
        guesses = model(torch.from_numpy(images)).numpy().argmax(1)
    return float(np.mean(guesses == digits.test_labels))


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    arguments = parse(words)
    try:
        torch = importlib.import_module(FRONTS[arguments.front])
        digits = data.load(arguments.data, arguments.seed)
        sizes = f"{len(digits.train_images)} to train, {len(digits.test_images)} to test"
        print(f"data: {digits.source}; {sizes}")
        torch.manual_seed(arguments.seed)
        model = network(torch, digits.train_images[0].size)
        losses, accuracies = train(torch, model, digits, arguments)
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
