"""Fits a + b exp(-c x) to noisy points, looks at what runs, and ships the step as C++."""

import numpy as np

import composit
from composit import numpy as cnp

draw = np.random.default_rng(1)
x = np.linspace(0, 4, 64)
y = 0.5 + 2.0 * np.exp(-1.5 * x) + 0.01 * draw.standard_normal(x.size)


def loss(parameters, x, y):
    a, b, c = parameters
    return cnp.mean((a + b * cnp.exp(-c * x) - y) ** 2)


def step(parameters, x, y):
    value, slopes = composit.value_and_grad(loss)(parameters, x, y)
    return value, [p - 0.2 * slope for p, slope in zip(parameters, slopes)]


parameters = [np.ones(()) for _ in range(3)]
compiled = composit.compile(step, parameters, x, y)
for _ in range(5000):
    value, parameters = compiled(parameters, x, y)

a, b, c = (float(p) for p in parameters)
print(f"a = {a:.3f}, b = {b:.3f}, c = {c:.3f}; mean squared error {float(value):.2e}")
print(f"{len(compiled.graph)} nodes became {len(compiled.kernels)} kernels:")
for kernel in compiled.kernels:
    print("   ", kernel.name)
compiled.export("fit_a_curve")
assert np.allclose([a, b, c], [0.5, 2.0, 1.5], atol=0.05) and value < 2e-4
