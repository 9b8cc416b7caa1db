"""Trains a module of composit.cg on handwritten digits, and draws a call of it."""

import argparse
import sys
from pathlib import Path

import numpy as np

from composit import cg, nn
from composit.cg.visual import plot_cg
from composit.examples.cg import drawing
from composit.examples.cg.tasks import TASKS, Task
from composit.examples.digits import data
from composit.examples.epochs import Epochs
from composit.examples.options import SEEDS, STEPS, Rule, checked

RATES: Rule = (
    lambda options: options.learning_rate is None or 0 <= options.learning_rate < float("inf"),
    "--learning-rate is {learning_rate}; it must be at least 0",
)


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    models = "\n".join(f"  {name:14} {task.doc}" for name, task in TASKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m composit.examples.cg",
        description=f"{__doc__}\n\nmodels:\n{models}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("model", choices=TASKS, metavar="MODEL", help=f"one of {', '.join(TASKS)}")
    option("--epochs", type=int, help="passes over the training images (15, 30 or 60)")
    option("--batch-size", type=int, default=32, help="images per step (32)")
    option("--learning-rate", type=float, help="of Adam (0.003)")
    option("--seed", type=int, default=1, help="of the split, the weights and the order (1)")
    option(
        "--backend",
        default="cpp",
        choices=("cpp", "interpreter"),
        help="cpp, or interpreter where there is no compiler (cpp)",
    )
    option("--output", type=Path, default=Path("cg_output"), metavar="DIR",
           help="where pictures go (cg_output)")  # fmt: skip
    option("--data", type=Path, metavar="DIR",
           help="MNIST's four IDX files instead of scikit-learn's scans")  # fmt: skip
    return checked(parser, words, STEPS, RATES, SEEDS)


def train(
    model: cg.Module, task: Task, digits: data.Digits, arguments: argparse.Namespace
) -> list[float]:
    """Gradient descent with a progress bar; the loss of every step."""
    random = np.random.RandomState(arguments.seed)
    rate = arguments.learning_rate
    optimizer = nn.adam(task.learning_rate if rate is None else rate)
    training = cg.Training(model, task.loss, optimizer, backend=arguments.backend)
    given, targets = task.batch(digits.train_images, digits.train_labels)
    size, epochs = min(arguments.batch_size, len(given)), arguments.epochs or task.epochs
    passes = Epochs(len(given), size, epochs, random, arguments.model)
    losses: list[float] = []
    for _ in passes:
        losses += (training.step(given[chosen], targets[chosen]) for chosen in passes.steps())
        passes.say(loss=f"{np.mean(losses[-passes.count :]):.4f}")
    return losses


def draw(model: cg.Module, task: Task, digits: data.Digits, arguments: argparse.Namespace) -> None:
    """One call as a picture; for the autoencoder, digits and what it makes of them."""
    given, _ = task.batch(digits.test_images[:1], digits.test_labels[:1])
    stem = arguments.output / arguments.model.replace("-", "_")
    plot_cg(model(given).root, save_path=f"{stem}.svg", quiet=False, view=False)
    if not task.is_classifier:
        images = digits.test_images[:10]
        made = model(task.seen(images)).value.reshape(images.shape)
        file = stem.with_name(f"{stem.name}_reconstructions.svg")
        file.write_text(drawing.side_by_side(images[:, 0], made[:, 0]), encoding="utf-8")
        print(f"reconstructions: wrote {file.resolve()}")


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    arguments = parse(words)
    task = TASKS[arguments.model]
    try:
        digits = data.load(arguments.data, arguments.seed)
        sizes = f"{len(digits.train_images)} to train, {len(digits.test_images)} to test"
        print(f"data: {digits.source}; {sizes}")
        height, width = digits.train_images.shape[2:]
        model = task.build(height, width, arguments.seed)
        numbers = sum(np.asarray(one.value).size for one in model.parameters())
        print(f"model: {arguments.model}, {task.doc}; {numbers} numbers to learn")
        train(model, task, digits, arguments)
        what, score = task.score(model, digits)
        print(f"test {what}: {100 * score:.2f} %")
        arguments.output.mkdir(parents=True, exist_ok=True)
        draw(model, task, digits, arguments)
    except (data.DataError, ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
