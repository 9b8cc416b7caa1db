"""Trains a small ConvNet on handwritten digits and ships it, training step and all, as C++."""

import argparse
import functools
import importlib.util
import operator
import sys
import time
from pathlib import Path

import numpy as np

import composit
import composit._core as _core
import composit.numpy as cnp
from composit.examples.digits import data, network, project
from composit.examples.epochs import Epochs
from composit.examples.options import STEPS, checked, seeds_below


def parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m composit.examples.digits", description=__doc__)
    option = parser.add_argument
    option(
        "--epochs",
        type=int,
        help="passes over the training images (60, but 3 over more than 10000 images)",
    )
    option("--batch-size", type=int, default=32, help="images per step (32)")
    option("--learning-rate", type=float, default=0.1, help="of gradient descent (0.1)")
    option("--seed", type=int, default=1, help="of the split, the weights and the order (1)")
    option("--device", default="cpu", help='where it trains: "opencl", "cuda", … (cpu)')
    option(
        "--output",
        type=Path,
        default=Path("digits_output"),
        metavar="DIR",
        help="where every file goes (digits_output)",
    )
    option(
        "--data",
        type=Path,
        metavar="DIR",
        help="MNIST's four IDX files, gzipped or not, instead of the bundled scans",
    )
    return checked(parser, words, STEPS, seeds_below(2**32, "2**32"))


class Training:
    """The network's weights, and its step as a compiled function."""

    def __init__(self, digits: data.Digits, arguments: argparse.Namespace) -> None:
        self.batch = min(arguments.batch_size, len(digits.train_images))
        self.digits, self.seed = digits, arguments.seed
        self.step = functools.partial(network.training_step, learning_rate=arguments.learning_rate)
        height, width = digits.train_images.shape[2:]
        self.weights = network.initial_weights(height, width, arguments.seed)
        self.device = composit.devices.full_name(arguments.device)

    def examples(self) -> list:
        """What a step takes, as named tensors."""
        images = cnp.asarray(self.digits.train_images[: self.batch], name="images")
        labels = cnp.asarray(self.digits.train_labels[: self.batch], name="labels")
        weights = [cnp.asarray(w, name=n) for w, n in zip(self.weights, network.NAMES)]
        return [images, labels, *weights]

    def compile(self) -> None:
        compiled = functools.partial(
            composit.compile, self.step, *self.examples(), name="train_step"
        )
        self.train_step = compiled()
        on_cpu = self.device == "cpu"
        self.step_there = self.train_step if on_cpu else compiled(device=self.device)

    def run(self, epochs: int) -> None:
        random = np.random.RandomState(self.seed)
        images, labels = self.digits.train_images, self.digits.train_labels
        passes = Epochs(len(images), self.batch, epochs, random, "training")

        def step(number: int, chosen: np.ndarray) -> None:
            loss, logits, *self.weights = self.step_there(
                data.moved(images[chosen], random), labels[chosen], *self.weights
            )
            accuracy = float((np.argmax(np.asarray(logits), axis=1) == labels[chosen]).mean())
            if number % 8 == 0:
                passes.say(loss=f"{float(loss):.4f}", accuracy=f"{accuracy:.2f}")

        for _ in passes:
            for number, chosen in enumerate(passes.steps()):
                step(number, chosen)
        self.weights = list(map(np.asarray, self.weights))  # from the device

    def logits(self, images: np.ndarray) -> np.ndarray:
        weights = [cnp.asarray(w) for w in self.weights]
        return cnp.evaluate(network.network(cnp.asarray(images), weights))

    def accuracy(self, images: np.ndarray, labels: np.ndarray) -> float:
        return float((self.logits(images).argmax(axis=1) == labels).mean())


def seconds_per_step(step, repeats: int) -> float:
    step()
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return (time.perf_counter() - start) / repeats


def describe(training: Training) -> None:
    """What the training step costs, as a graph, as a plan, and in time."""
    examples = training.examples()
    images = training.digits.train_images[: training.batch]
    labels = training.digits.train_labels[: training.batch]
    before = seconds_per_step(lambda: cnp.evaluate(*training.step(*examples)), repeats=10)
    start = time.perf_counter()
    training.compile()
    compiling = time.perf_counter() - start
    after = seconds_per_step(
        lambda: training.train_step(images, labels, *training.weights), repeats=50
    )
    without = composit.compile(
        training.step, *examples, name="train_step", reuse_buffers=False, backend="interpreter"
    )
    program = training.train_step.program
    flops = sum(map(operator.attrgetter("flops"), program.kernels))
    print(
        f"training step: {len(training.train_step.graph)} nodes, {len(program.kernels)} kernels, "
        f"{flops / 1e6:.1f} MFLOP for {training.batch} images"
    )
    print(
        f"memory for temporaries: {program.arena_bytes / 1024:.0f} KiB planned with buffer reuse, "
        f"{without.program.arena_bytes / 1024:.0f} KiB without"
    )
    print(
        f"time per step: {before * 1e3:.2f} ms interpreted, {after * 1e3:.2f} ms compiled "
        f"(compiling took {compiling:.2f} s)"
    )
    if training.device != "cpu":
        describe_device(training, images, labels)


def describe_device(training: Training, images, labels) -> None:
    """What a step costs there."""
    there = seconds_per_step(
        lambda: np.asarray(training.step_there(images, labels, *training.weights)[0]), 50
    )
    print(f"time per step on {training.device}: {there * 1e3:.2f} ms, copies of all weights in it")


def require_packages(*names: str) -> None:
    """ImportError that says what to install, before any work is done."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"digits: {name} is not installed. Install composit[examples].")


def draw(training: Training, path: Path) -> None:
    """The network, from one image to its logits, as a picture; its source (.gv) without `dot`."""
    import graphviz

    images = cnp.asarray(training.digits.test_images[:1], name="image")
    weights = [cnp.asarray(w, name=n) for w, n in zip(training.weights, network.NAMES)]
    picture = composit.visualize(network.network(images, weights), render=False)
    try:
        _core.write_whole_file("digits", str(path), picture.pipe(format="svg"))
    except graphviz.ExecutableNotFound:
        source = path.with_suffix(".gv")
        _core.write_whole_file("digits", str(source), picture.source.encode())
        print(f"graph: the program `dot` (Graphviz) is not installed; its source is in {source}")


def ship(training: Training, folder: Path) -> project.Report:
    digits = training.digits
    weights = [cnp.asarray(w, name=n) for w, n in zip(training.weights, network.NAMES)]
    image = cnp.asarray(digits.test_images[:1], name="image")
    classify = composit.compile(
        lambda x, *w: network.network(x, w), image, *weights, name="classify"
    )
    step_images = digits.train_images[: training.batch]
    step_labels = digits.train_labels[: training.batch]
    sources = project.write(folder, classify, training.train_step, training.weights, step_images)
    return project.check(
        folder,
        sources,
        digits.test_images,
        digits.test_labels,
        training.logits(digits.test_images),
        step_images,
        step_labels,
        training.train_step(step_images, step_labels, *training.weights),
    )


def main(words: list[str] | None = None) -> int:
    arguments = parse(words)
    try:
        require_packages("tqdm", "graphviz")
        arguments.output.mkdir(parents=True, exist_ok=True)
        digits = data.load(arguments.data, arguments.seed)
        sizes = f"{len(digits.train_images)} to train, {len(digits.test_images)} to test"
        print(f"data: {digits.source}; {sizes}")
        training = Training(digits, arguments)
        describe(training)
        few = len(digits.train_images) <= 10_000
        training.run(arguments.epochs or (60 if few else 3))
        accuracy = training.accuracy(digits.test_images, digits.test_labels)
        print(f"test accuracy: {100 * accuracy:.2f} %")
        draw(training, arguments.output / "digits.svg")
        report = ship(training, arguments.output / "digits")
    except (data.DataError, project.ProjectError, ImportError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("digits: interrupted; every file that was written is whole.", file=sys.stderr)
        return 130
    print(
        f"C++: built with `{report.command}` in {report.build_seconds:.1f} s, "
        f"{report.binary_bytes / 1024:.0f} KiB"
    )
    print(
        f"C++: test accuracy {100 * report.accuracy:.2f} %, "
        f"{report.microseconds_per_image:.1f} us per image"
    )
    print("C++: logits, loss and updated weights have the same bits as in Python")
    print(f"files: {arguments.output.resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
