"""A device registered from outside: fixed-point numbers, as small processors have them.

Arrays are NumPy's int32, counting 2^-16; sums, products and relu are the device's own, everything
else runs on the CPU, which is said once. XOR is learnt there.
"""

import numpy as np

import composit.tensorgrad as tensorgrad
from composit.tensorgrad.const import DTYPE, OP
from composit.tensorgrad.ops import BinaryOp, OpDispatch, UnaryOp
from composit.tensorgrad.storage import Storage, StorageDispatch

ONE = 1 << 16


class Fixed:
    """Numbers that count 2^-16; `dtype` is what a tensor says that it holds."""

    def __init__(self, counts: np.ndarray, dtype: DTYPE = DTYPE.FLOAT32) -> None:
        self.counts, self.dtype = counts.astype(np.int32), dtype


@StorageDispatch.register
class FixedStorage(Storage):
    DEVICE = "fixed"

    @classmethod
    def tensor(cls, data, dtype):
        numbers = cls.numpy(data) if isinstance(data, Fixed) else np.asarray(data, np.float64)
        return Fixed(np.rint(numbers * ONE).clip(-(2**31), 2**31 - 1), DTYPE(dtype))

    @classmethod
    def numpy(cls, data):
        return (data.counts / ONE).astype(data.dtype.value)

    @classmethod
    def get_dtype(cls, data):
        return data.dtype


def summed(counts, like):
    """The gradient of an operand that was broadcast."""
    while counts.ndim > like.ndim:
        counts = counts.sum(0)
    axes = tuple(i for i, n in enumerate(like.shape) if n == 1)
    return Fixed(counts.sum(axes, keepdims=True))


@OpDispatch.register(OP.ADD, "fixed")
class Add(BinaryOp):
    def forward(self, a, b):
        self.operands = a.counts, b.counts
        return Fixed(a.counts + b.counts, a.dtype)

    def backward(self, upstream):
        return tuple(summed(upstream.counts, like) for like in self.operands)


@OpDispatch.register(OP.MATMUL, "fixed")
class Matmul(BinaryOp):
    def forward(self, a, b):
        self.operands = a.counts.astype(np.int64), b.counts.astype(np.int64)
        return Fixed(self.operands[0] @ self.operands[1] >> 16)

    def backward(self, upstream):
        a, b = self.operands
        u = upstream.counts.astype(np.int64)
        return Fixed(u @ b.T >> 16), Fixed(a.T @ u >> 16)


@OpDispatch.register(OP.RELU, "fixed")
class Relu(UnaryOp):
    def forward(self, x):
        self.mask = x.counts > 0
        return Fixed(x.counts * self.mask)

    def backward(self, upstream):
        return Fixed(upstream.counts * self.mask)


def main() -> None:
    np.random.seed(0)
    nn = tensorgrad.nn
    x = tensorgrad.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], device="fixed", requires_grad=False)
    y = tensorgrad.tensor([1, 0, 0, 1], "int64", "fixed", requires_grad=False)
    model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
    model.to("fixed")
    optimizer = tensorgrad.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, predictions {model(x).numpy().argmax(1)}")


if __name__ == "__main__":
    main()
