"""Lists of floats and masks of bytes as indices, beside PyTorch's."""

import pytest
import torch as peer

import composit.torch as torch

READ = [
    "x[[1.0]]", "x[[1.9, -1.2]]", "x[:, [1.0, 2]]", "x[[[1], [0.0]]]", "x[[[1.0, 0], [0, 1]]]",
    "x[([1.0], [2])]", "x[[True, 1.0]]", "x[[True, False]]", "x[[]]", "x[u8(1)]", "x[u8(0)]",
    "x[u8(1), 0]", "x[u8([1, 0]), 1]", "x[:, u8([1, 0, 2])]", "x[u8([1, 0]), u8([1, 0, 1])]",
    "x[u8([[1, 0, 1], [0, 0, 1]])]",
]  # fmt: skip
WRITTEN = [
    "x[[1.0]] = 3.0", "x[u8([1, 0])] = t.tensor([3.0, 4.0, 5.0])", "x[u8(1)] = 3.0",
    "x[u8([[1, 0, 1], [0, 0, 1]])] = t.tensor([3.0, 4.0, 5.0])", "x[u8([1, 0])] += 3.0",
    "x[u8([1, 0]), u8([1, 0, 1])] = 3.0", "x[u8([1, 0]), t.tensor([0])] = 3.0",
    "x.index_put_((u8([1, 0]),), t.tensor(3.0), accumulate=True)",
]  # fmt: skip
REFUSED = [
    "x[[1.5, 2j]]", "x[[float('nan')]]", "x[[1e30]]", "x[['a']]", "x[u8([1, 0])] = 3.0",
    "x[u8([1, 0])] = t.tensor([3.0])", "x[0, u8([1, 0, 1])] = 3.0", "x[..., u8([1, 0, 1])] = 3.0",
    "x.index_put_((u8([1, 0]),), t.tensor([3.0]))",
]  # fmt: skip


def names(t):
    return {
        "t": t,
        "x": t.arange(6.0).reshape(2, 3),
        "u8": lambda values: t.tensor(values, dtype=t.uint8),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", READ)
def test_what_is_read(text):
    assert eval(text, names(torch)).tolist() == eval(text, names(peer)).tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written(text):
    def run(t):
        found = names(t)
        exec(text, found)
        return found["x"].tolist()

    assert run(torch) == run(peer)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    with pytest.raises((TypeError, RuntimeError)) as expected:
        exec(text, names(peer))
    with pytest.raises(expected.type) as found:
        exec(text, names(torch))
    assert str(found.value).startswith(str(expected.value).split("\n")[0])
