"""Tensors that lie on a device, at NumPy's door."""

import re
import threading

import numpy as np
import pytest

import composit
import composit.numpy as cnp

RANDOM = np.random.RandomState(7)
A = RANDOM.standard_normal((6, 5)).astype("float32")
B = RANDOM.standard_normal((5, 4)).astype("float32")


def same(x, y):
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def test_where_things_lie(device):
    x = cnp.asarray(A, device=device)
    assert x.device == device and cnp.exp(x).device == device and x[2].device == device
    assert cnp.asarray(A).device == "cpu" and cnp.zeros(3).device == "cpu"
    assert x.to("cpu").device == "cpu" and same(x.to("cpu"), A)
    assert x.to(device) is x and x.to_device(device) is x
    for made in (cnp.zeros_like(x), cnp.ones_like(x), cnp.full_like(x, 3), x * 2, x > 0):
        assert made.device == device
    assert cnp.zeros_like(x, device="cpu").device == cnp.asarray(x, device="cpu").device == "cpu"
    assert (
        cnp.asarray(x).device == device
        and cnp.asarray(cnp.asarray(A), device="cpu").device == "cpu"
    )
    for made in (
        cnp.zeros((2, 2), device=device), cnp.arange(5, device=device),
        cnp.linspace(0, 1, 5, device=device), cnp.eye(3, device=device),
        cnp.full((2,), 7, device=device), cnp.fft.fftfreq(8, device=device),
    ):  # fmt: skip
        assert made.device == device
    assert cnp.linspace(0, 1, 5, retstep=True, device=device)[0].device == device
    assert same(cnp.arange(5, device=device), np.arange(5))
    assert cnp.astype(cnp.asarray(A), "float64", device=device).device == device


def test_with_a_device(device):
    with composit.device(device) as chosen:
        x = cnp.asarray(A)
        assert str(chosen) == x.device == device
        assert cnp.ones((5, 4)).device == device
        with composit.device("cpu"):
            assert cnp.ones(2).device == "cpu"
        assert cnp.ones(2).device == device
        assert cnp.ones(2, device="cpu").device == "cpu"
    assert cnp.ones(2).device == "cpu" and composit.device(device) == chosen


def test_a_program_has_the_bits_of_the_cpu(device):
    def program(x, w):
        y = cnp.tanh(x @ w) + 1
        y[1] = 0
        y[:, 2] *= 3
        for _ in range(3):
            y = y - cnp.mean(y, axis=1, keepdims=True) * y
        chosen = y[y > 0.5]
        return y, cnp.sort(y, axis=0), cnp.cumsum(y, axis=1), y[[3, 1]], chosen, cnp.sum(chosen)

    there = program(cnp.asarray(A, device=device), cnp.asarray(B, device=device))
    here = program(cnp.asarray(A), cnp.asarray(B))
    for x, y in zip(there, here):
        assert x.device == device and same(x, y)


def test_gradients_go_back_to_where_a_leaf_lies(device):
    def loss(w):
        return cnp.sum(cnp.tanh(cnp.asarray(A) @ w).to(device) ** 2)

    gradient = composit.grad(loss)(cnp.asarray(B))
    assert gradient.device == "cpu"
    assert same(gradient, composit.grad(lambda w: cnp.sum(cnp.tanh(cnp.asarray(A) @ w) ** 2))(B))
    ones = cnp.ones((6, 5), dtype="float32")
    _, tangent = composit.jvp(lambda x: x.to(device) * 2, (cnp.asarray(A),), (ones,))
    assert tangent.device == device
    rows = composit.vmap(lambda row: row.to(device) + 1)(cnp.asarray(A))
    assert rows.device == device and same(rows, A + 1)


def test_two_devices_in_one_operation(device):
    x, y = cnp.asarray(A, device=device), cnp.asarray(A, name="y")
    with pytest.raises(
        RuntimeError,
        match=re.escape(
            f"add: expected all tensors to be on the same device, but found a tensor "
            f"(float32[6, 5]) on {device} and 'y' (float32[6, 5]) on cpu. Move one of them with "
            f".to(device). [test_arrays.py:"
        ),
    ):
        x + y
    assert (x + np.float32(2)).device == (2 * x).device == (x + cnp.asarray(2.0)).device == device
    assert same(x.to("cpu") + y, A + A)  # the program goes on


@pytest.mark.parametrize("size", [3, 40])
def test_two_devices_are_told_on_the_line_that_mixes_them(device, size):
    """Few elements whose values are known, too, which the CPU computes at once."""
    x, y = cnp.asarray(np.ones(size), device=device), cnp.asarray(np.ones(size))
    for mix in (
        lambda: x + y, lambda: y * x, lambda: x - cnp.frombuffer(b"a" * 8 * size),
        lambda: np.add(np.ones(size), x), lambda: np.add(x, y),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"^(add|multiply|subtract): .*\[test_arrays\.py:"):
            mix()
    assert same(-x, -np.ones(size)) and (x + 1).device == device
    for mix in (lambda: x[0] + y, lambda: x[1] * 2 + y[1], lambda: cnp.stack([y[0], x[0]])):
        with pytest.raises(RuntimeError, match=r"^(add|stack): .*\[test_arrays\.py:"):
            mix()
    assert (x[0] * 2 + 1).device == device and float(x[0] * 2 + np.float64(1)) == 3
    y[0], x[1] = x[2] * 4, y[1] + 1  # are copied
    assert (y.device, float(y[0]), x.device, float(x[1])) == ("cpu", 4, device, 2)
    assert same((x + 1)[:2], np.array([2.0, 3.0])) and same((y + 1)[:1], np.array([5.0]))


def test_what_is_written_stays_where_it_lies(device):
    x, there = cnp.zeros(4, device=device), cnp.asarray([7.0, 8.0], device=device)
    view, host = x[1:3], np.arange(4.0)
    writes = {
        "number": lambda: x.__setitem__(..., 3), "list": lambda: x.__setitem__(slice(0, 2), [5, 6]),
        "array": lambda: x.__setitem__(slice(None), host), "fill": lambda: x.fill(2),
        "part": lambda: x.__setitem__(slice(0, 4, 2), host[:2]),
        "view": lambda: view.__setitem__(..., cnp.asarray(host[2:])),
        "places": lambda: x.__setitem__([0, 3], host[1:3]),
        "mask": lambda: x.__setitem__(host > 1, host[:2]),
        "copyto": lambda: cnp.copyto(x, host), "out": lambda: np.negative(host, out=x),
        "put": lambda: cnp.put(x, [0, 1], [9, 8]), "place": lambda: cnp.place(x, x > 1, host[:3]),
        "put there": lambda: cnp.put(x, cnp.asarray([3, 2]), there),
        "putmask": lambda: cnp.putmask(x, x > 0, host[1:]), "one": lambda: x.__setitem__(1, 4.0),
    }  # fmt: skip
    found = {}
    for name, write in writes.items():
        write()
        assert x.device == view.device == device, name
        found[name] = np.asarray(x + 0).tolist()
    known = {
        "number": [3, 3, 3, 3], "list": [5, 6, 3, 3], "array": [0, 1, 2, 3], "fill": [2, 2, 2, 2],
        "part": [0, 2, 1, 2], "view": [0, 2, 3, 2], "places": [1, 2, 3, 2], "mask": [1, 2, 0, 1],
        "copyto": [0, 1, 2, 3], "out": [0, -1, -2, -3],
        "put": [9, 8, -2, -3], "place": [0, 1, -2, -3],
        "put there": [0, 1, 8, 7], "putmask": [0, 2, 3, 1], "one": [0, 4, 3, 1],
    }  # fmt: skip
    assert found == known
    here = cnp.asarray(np.zeros(4))
    here[1:3] = there
    np.add(x, 1, out=here[:])
    assert here.device == "cpu" and here.tolist() == [1, 5, 4, 2]
    host[:] = -1  # was read when it was written
    assert x.tolist() == [0, 4, 3, 1]


def test_gradients_go_back_through_what_was_written(device):
    def loss(w, x):
        y = x * 1
        y[1:3] = w
        return cnp.sum(y * y)

    w, x = cnp.asarray(np.array([1.0, 2.0])), cnp.asarray(np.ones(4), device=device)
    to_w, to_x = composit.grad(loss, argnums=(0, 1))(w, x)
    assert (to_w.device, to_x.device) == ("cpu", device)
    assert to_w.tolist() == [2, 4] and to_x.tolist() == [2, 0, 0, 2]
    assert composit.compile(loss)(w, x).device == device


def test_what_depends_on_values_lies_where_they_do(device):
    x = cnp.asarray(np.array([0, 2, 2, 1]), device=device)
    found = {
        "nonzero": np.nonzero(x)[0], "argwhere": cnp.argwhere(x), "bincount": np.bincount(x),
        "flatnonzero": cnp.flatnonzero(x), "unique": np.unique(x), "chosen": x[x > 1],
        "piecewise": cnp.piecewise(x, [x > 1], [5, 6]),
    }  # fmt: skip
    assert {name: value.tolist() for name, value in found.items()} == {
        "nonzero": [1, 2, 3], "argwhere": [[1], [2], [3]], "bincount": [1, 1, 2],
        "flatnonzero": [1, 2, 3], "unique": [0, 1, 2], "chosen": [2, 2], "piecewise": [6, 5, 5, 6],
    }  # fmt: skip
    assert {value.device for value in found.values()} == {device}
    assert same(x[np.nonzero(x)], np.array([2, 2, 1]))


def test_several_devices_in_one_evaluation(device):
    x = cnp.asarray(A, device=device)
    there = cnp.exp(x)
    here = cnp.asarray(A) + 1
    both = composit.evaluate(there, here, there.to("cpu") + here)
    assert same(both[0], composit.evaluate(cnp.exp(cnp.asarray(A)))) and same(both[1], A + 1)
    assert same(both[2], both[0] + both[1])


def test_compiled(device, apart, opencl):
    def f(x, w):
        return cnp.tanh(x @ w), cnp.sum(x)

    expected = composit.compile(f)(A, B)
    compiled = composit.compile(f, device=device)
    for arguments in ((A, B), (cnp.asarray(A, device=device), cnp.asarray(B, device=device))):
        for value, known in zip(compiled(*arguments), expected):
            assert value.device == device and same(value, known)
    by_argument = composit.compile(f)
    assert by_argument(*arguments)[0].device == device and same(by_argument(A, B)[0], expected[0])
    other = opencl if device == apart else apart
    with pytest.raises(RuntimeError, match=rf"f: .* on {device} and .* on {other}"):
        composit.compile(f, device=device)(cnp.asarray(A, device=other), B)


def test_what_a_compiled_function_closes_over_runs_with_it(device):
    w = cnp.asarray(B)

    def f(x):
        return x @ w

    compiled = composit.compile(f, device=device)
    for x in (A, cnp.asarray(A, device=device)):
        assert compiled(x).device == device and same(compiled(x), A @ w)
    with pytest.raises(RuntimeError, match="expected all tensors to be on the same device"):
        composit.compile(f)(cnp.asarray(A, device=device))


def test_faults_of_indices(device):
    x = cnp.asarray(A, device=device)
    places = cnp.asarray(np.array([1, 9]), device=device)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 6"):
        np.asarray(x[places])
    assert same(x[places % 6], A[[1, 3]])


def test_kinds_that_devices_leave_to_the_host(device):
    square = np.eye(5) + RANDOM.standard_normal((5, 5)) / 8
    x = cnp.linalg.inv(cnp.asarray(square, device=device)) * 2
    assert x.device == device and same(x, cnp.linalg.inv(cnp.asarray(square)) * 2)


def test_numpys_protocols(device):
    x = cnp.asarray(A, device=device)
    assert isinstance(np.asarray(x), np.ndarray) and same(np.asarray(x), A)
    assert float(x[0, 0]) == A[0, 0] and x.tolist() == A.tolist()
    assert same(np.from_dlpack(x.to("cpu")), A) and same(memoryview(x), A)
    assert repr(x) == repr(cnp.asarray(A))
    assert cnp.from_dlpack(A, device=device).device == device
    with pytest.raises(
        BufferError, match=rf"dl_device is \(9, 0\), and the tensor lies on {device}"
    ):
        x.__dlpack__(dl_device=(9, 0))
    with pytest.raises(BufferError, match=rf"copy=False, and the tensor lies on {device}"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    x.__dlpack__(dl_device=(1, 0))


def test_threads_on_two_devices(apart, opencl):
    """Who asks for memory does not wait for a run that waits for the interpreter."""
    square, wrong = np.arange(35.0).reshape(7, 5) / 35, []

    def work(name):
        for i in range(6):
            x, y = cnp.asarray(square + i, device=name), cnp.asarray(square + i)
            if not same(cnp.tanh(x @ x.T).to("cpu"), cnp.tanh(y @ y.T)):
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(d,), daemon=True) for d in [apart, opencl] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads) and not wrong


def test_nothing_leaks(device):
    composit.devices.give_back(device)
    before = composit.devices.describe(device)["held_bytes"]
    for i in range(1000):
        x = cnp.asarray(A * i, device=device)
        if i % 100 == 0:
            np.asarray(x + 1)
    del x
    assert composit.devices.describe(device)["held_bytes"] <= before + (1 << 16)
    composit.devices.give_back(device)
    assert composit.devices.describe(device)["kept_bytes"] == 0


def test_memory_that_is_not_there(apart):
    with pytest.raises(
        MemoryError,
        match=re.escape("4294967296 bytes of apart:0 are not available: "),
    ):
        np.asarray(cnp.zeros((1 << 30,), dtype="float32", device=apart) + 1)
    x = cnp.asarray(A, device=apart)
    assert same(x + 1, A + 1)


def test_memory_that_ends_in_the_middle_of_a_run(opencl):
    """Kernels on the device, on the host and on the device again, for which memory is not there:
    what was made on the way is given back, and the program goes on."""

    def f(a, x):
        inverse = cnp.linalg.inv(cnp.exp(a))  # on the host
        large = cnp.reshape(x, (1 << 17, 1)) + cnp.reshape(x, (1, 1 << 17)) * inverse[0, 0]
        return cnp.sort(large, axis=1)[0, 0]

    a = cnp.asarray(RANDOM.standard_normal((5, 5)), device=opencl)
    x = cnp.asarray(RANDOM.standard_normal(1 << 17), device=opencl)
    compiled = composit.compile(f)
    composit.devices.give_back(opencl)
    held = composit.devices.describe(opencl)["held_bytes"]
    for _ in range(3):
        with pytest.raises(MemoryError, match=rf"\d+ bytes of {opencl} are not available"):
            np.asarray(compiled(a, x))
        assert composit.devices.describe(opencl)["held_bytes"] <= held + (1 << 16)
    assert same(cnp.exp(x) + 1, cnp.exp(cnp.asarray(np.asarray(x))) + 1)


def test_devices_that_are_not_here():
    for make in (
        lambda: cnp.zeros(2, device="tpu"), lambda: composit.device("tpu"),
        lambda: cnp.asarray(A).to("tpu"), lambda: composit.compile(abs, device="tpu"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"^device: there is no 'tpu'\. Available: cpu"):
            make()
    with pytest.raises(ValueError, match=r"runs in host memory\. The name of a device is required"):
        cnp.zeros(2, device="interpreter")
