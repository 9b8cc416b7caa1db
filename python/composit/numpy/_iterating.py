"""nditer: NumPy's iterator over the values of tensors. What is written through it reaches them."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import LazyTensor
from composit.numpy._by_numpy import values_of


class nditer:
    """numpy.nditer of arrays and tensors; elements are NumPy's arrays.

    What is written into a tensor is there when the loop over it is over, when the iterator is
    closed, and where it is left (also by `with`).
    """

    def __init__(self, op: Any, *args: Any, **options: Any) -> None:
        operands = list(op) if isinstance(op, (list, tuple)) else [op]
        given = values_of("nditer", operands)
        is_several = isinstance(op, (list, tuple))
        self._iterator = np.nditer(given if is_several else given[0], *args, **options)
        pairs = zip(operands, given, self._written(options, len(operands)))
        self._tensors = [
            [tensor, array, array.copy()]
            for tensor, array, is_written in pairs
            if is_written and isinstance(tensor, LazyTensor)
        ]
        for tensor, *_ in self._tensors:
            tensor.check_writeable()

    @staticmethod
    def _written(options: Any, count: int) -> list[bool]:
        flags = options.get("op_flags") or []
        each = flags if flags and not isinstance(flags[0], str) else [flags] * count
        return [bool({"readwrite", "writeonly"} & set(some)) for some in each]

    def _write(self) -> None:
        """What was written since the last time."""
        for held in self._tensors:
            tensor, array, before = held
            if array.tobytes() != before.tobytes():
                tensor[...] = array
                held[2] = array.copy()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._iterator)
        except StopIteration:
            self._write()
            raise

    def iternext(self) -> bool:
        """Goes on; whether there is a next element. What was written so far is written."""
        more = self._iterator.iternext()
        self._write()
        return more

    def close(self) -> None:
        """Ends: what was written is there."""
        self._iterator.close()
        self._write()

    def __enter__(self) -> Any:
        self._iterator.__enter__()
        return self

    def __exit__(self, *reason: Any) -> None:
        self._iterator.__exit__(*reason)
        self._write()

    def __del__(self) -> None:
        if hasattr(self, "_tensors"):
            self._write()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._iterator, name)

    def __getitem__(self, index: Any) -> Any:
        return self._iterator[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._iterator[index] = values_of("nditer", value)
        self._write()

    def __len__(self) -> int:
        return len(self._iterator)
