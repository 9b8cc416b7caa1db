"""Fused elementwise work, products, softmax, sums and gelu against NumPy and PyTorch."""

import numpy as np
from measure import check, compare, thread_counts, torch, write
from scipy.special import erf
from threadpoolctl import threadpool_limits

import composit
import composit.numpy as cnp
from composit import nn

ROOT_2 = np.float32(np.sqrt(2))


def normal(*shape):
    return np.random.RandomState(len(shape) + shape[0]).standard_normal(shape).astype(np.float32)


def numpy_softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def cases():
    """(name, arguments, composit's function, NumPy's, PyTorch's)"""
    for size in (100, 1_000_000):
        yield (f"exp(a + b) * tanh(c), {size:,}", [normal(size) / 2 for _ in range(3)],
               lambda a, b, c: cnp.exp(a + b) * cnp.tanh(c),
               lambda a, b, c: np.exp(a + b) * np.tanh(c),
               lambda a, b, c: torch.exp(a + b) * torch.tanh(c))  # fmt: skip
    for n in (256, 1024):
        yield f"matmul {n} x {n}", [normal(n, n), normal(n, n)], cnp.matmul, np.matmul, torch.matmul
    yield ("softmax 512 x 512", [normal(512, 512)], lambda x: nn.softmax(x, axis=1), numpy_softmax,
           lambda x: torch.softmax(x, 1))  # fmt: skip
    for axis in (0, 1, None):
        name = "all" if axis is None else f"axis {axis}"
        yield (f"sum of 1000 x 1000, {name}", [normal(1000, 1000)],
               lambda x, axis=axis: cnp.sum(x, axis=axis),
               lambda x, axis=axis: np.sum(x, axis=axis),
               lambda x, axis=axis: torch.sum(x, axis))  # fmt: skip
    yield ("gelu, 1,000,000", [normal(1_000_000)], nn.gelu,
           lambda x: 0.5 * x * (1 + erf(x / ROOT_2)), torch.nn.functional.gelu)  # fmt: skip


def rows_of(name, arguments, ours, numpys, torchs, threads):
    compiled = composit.compile(ours, *arguments, threads=threads, name="f")
    tensors = [torch.from_numpy(array) for array in arguments]
    expected = numpys(*arguments)
    check(name, compiled(*arguments), expected, 1e-3)
    check(name, torchs(*tensors).numpy(), expected, 1e-3)
    yield compare(name, "NumPy", threads, lambda: compiled(*arguments), lambda: numpys(*arguments))
    yield compare(name, "PyTorch", threads, lambda: compiled(*arguments), lambda: torchs(*tensors))


def main():
    rows = []
    with torch.inference_mode():
        for threads in thread_counts():
            torch.set_num_threads(threads)
            with threadpool_limits(threads):
                for case in cases():
                    rows += rows_of(*case, threads)
    notes = "float32. NumPy's gelu uses SciPy's erf. NumPy uses threads in matmul only."
    write("elementwise", "Elementwise functions, products and reductions", notes, rows)


if __name__ == "__main__":
    main()
