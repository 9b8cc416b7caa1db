"""Random weights by name and shape, the same in every process."""

import numpy as np

Shapes = dict[str, tuple[int, ...]]
Weights = dict[str, np.ndarray]


def draw(shapes: Shapes, seed: int = 0) -> Weights:
    """Matrices and filters small enough to keep signals as they are; scales near 1, variances
    above 0, biases near 0. Dense weights are (in, out), filters (out, in, height, width)."""
    random = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes.items():
        values = random.standard_normal(shape, np.float32)
        if name.endswith("variance"):
            weights[name] = 0.75 + 0.5 * random.random(shape, np.float32)
        elif name.endswith("scale"):
            weights[name] = 1 + np.float32(0.05) * values
        elif len(shape) == 4:
            weights[name] = values * np.float32(np.sqrt(2 / np.prod(shape[1:])))
        elif len(shape) == 2 and name.endswith("weight"):
            weights[name] = values * np.float32(np.sqrt(1 / shape[0]))
        else:
            weights[name] = np.float32(0.02) * values
    return weights


def normal(*shape: int, seed: int = 1) -> np.ndarray:
    """Inputs."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)
