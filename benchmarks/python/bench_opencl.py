"""OpenCL beside the C++ back end: PoCL runs OpenCL on the same cores, where there is no GPU."""

import os
from collections.abc import Callable

import numpy as np
from group import main
from measure import Case, Sides
from models.weights import normal

ROWS = (16384, 1024)
SMALL = (4096, 1024)


def case(name: str, must: float, shapes: list[tuple[int, ...]], function: Callable) -> Case:
    """The arguments of each side lie where it runs; their results have the same bits."""

    def prepare(threads: int) -> Sides:
        import composit
        import composit.numpy as cnp

        arrays = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
        there = [cnp.asarray(array, device="opencl") for array in arrays]
        here = composit.compile(function, threads=threads, name="f")
        compiled = composit.compile(function, device="opencl", name="f")
        bits = [np.asarray(r).tobytes() for r in (here(*arrays), compiled(*there))]
        assert bits[0] == bits[1], f"{name}: the bits differ"

        def on_device():
            compiled(*there)
            composit.devices.synchronise("opencl")

        return Sides(on_device, {"C++ back end": lambda: here(*arrays)})

    return Case(name, must, 1.0, prepare, threads=(2,))


def cases():
    import composit
    import composit.numpy as cnp
    from composit import nn

    # Each of PoCL's threads on a processor of its own: without it both may share one for a while,
    # which takes twice the time.
    if len(os.sched_getaffinity(0)) == os.cpu_count():
        os.environ.setdefault("POCL_AFFINITY", "1")
    if "opencl:0" not in composit.devices.names():
        raise RuntimeError(composit.devices.missing()["opencl"])
    many = [(2**24,)]
    yield case("x * 2 + 1, 16M", 0.6, many, lambda x: x * 2 + 1)
    yield case("tanh(x * 2 + 1) * x - 0.5, 16M", 0.6, many, lambda x: cnp.tanh(x * 2 + 1) * x - 0.5)
    yield case("exp(x) + 1, 1M", 0.6, [(2**20,)], lambda x: cnp.exp(x) + 1)
    yield case("gelu, 16384 x 1024", 0.6, [ROWS], nn.gelu)
    yield case("transposed copy, 16384 x 1024", 0.6, [ROWS], lambda x: cnp.ascontiguousarray(x.T))
    yield case("sum, 16M", 0.6, many, cnp.sum)
    yield case("sums of rows, 16384 x 1024", 0.6, [ROWS], lambda x: cnp.sum(x, axis=1))
    yield case("sums of columns, 16384 x 1024", 0.6, [ROWS], lambda x: cnp.sum(x, axis=0))
    yield case("maxima of rows, 16384 x 1024", 0.6, [ROWS], lambda x: cnp.max(x, axis=1))
    yield case("argmax of rows, 16384 x 1024", 0.6, [ROWS], lambda x: cnp.argmax(x, axis=1))
    yield case("running sums of rows, 16384 x 1024", 0.6, [ROWS], lambda x: cnp.cumsum(x, axis=1))
    yield case("softmax, 16384 x 1024", 0.6, [ROWS], lambda x: nn.softmax(x, axis=-1))
    yield case(
        "layer norm, 16384 x 1024", 0.6, [ROWS, (1024,), (1024,)],
        lambda x, scale, bias: nn.layer_norm(x, scale, bias, axis=-1, epsilon=1e-5),
    )  # fmt: skip
    # A launch of PoCL is a third of these.
    yield case("sums of rows, 4096 x 1024", 0.4, [SMALL], lambda x: cnp.sum(x, axis=1))
    yield case("softmax, 4096 x 1024", 0.6, [SMALL], lambda x: nn.softmax(x, axis=-1))
    yield case("matrix product, 512", 0.4, [(512, 512)] * 2, lambda a, b: a @ b)
    yield case(
        "convolution 3 x 3, 8 x 64 x 56 x 56", 0.4, [(8, 64, 56, 56), (64, 64, 3, 3)],
        lambda x, w: nn.convolution(x, w, channels_last=False, padding=(1, 1)),
    )  # fmt: skip


if __name__ == "__main__":
    main("OpenCL (PoCL) beside the C++ back end", "The bits of both sides are compared.", cases)
