"""Plots of a kernel, of its derivative, and of a training, as SVG."""

from pathlib import Path
from typing import Any

import numpy as np


def _figure() -> Any:
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "composit"  # equal plots are equal files
    from matplotlib.figure import Figure

    return Figure(figsize=(4.5, 3), layout="constrained")


def _write(figure: Any, file: Path) -> None:
    temporary = file.with_name(f".{file.name}.tmp")
    figure.savefig(temporary, format="svg", metadata={"Date": None})
    temporary.replace(file)


def of_function(kernel: Any, file: Path, *, with_derivative: bool = False) -> None:
    """The function of one float between -3 and 3; its derivative is a vector-Jacobian product with
    ones."""
    t = np.arange(-3, 3, step=0.01)
    figure = _figure()
    axes = figure.add_subplot(xlabel="x")
    axes.plot(t, kernel(t), "b", label=kernel.__name__)
    if with_derivative:
        axes.plot(t, kernel.vjp(t, np.ones_like(t)), "r", label="its derivative")
    axes.grid(alpha=0.3)
    axes.legend()
    _write(figure, file)


def of_training(losses: list[float], accuracies: list[float], file: Path) -> None:
    """The loss of every step, and the share of the test images that was right after each epoch."""
    figure = _figure()
    axes = figure.add_subplot(xlabel="step", ylabel="loss of a batch")
    axes.plot(np.arange(1, len(losses) + 1), losses, "b", linewidth=0.7)
    right = axes.twinx()
    steps = np.arange(1, len(accuracies) + 1) * (len(losses) // len(accuracies))
    right.plot(steps, np.multiply(100, accuracies), "r.-")
    right.set_ylabel("right of the test images, %")
    _write(figure, file)
