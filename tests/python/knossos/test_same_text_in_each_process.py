"""The loaded text of a derivative is the same in each process: nothing depends on addresses."""

import os
import subprocess
import sys

import numpy as np

from composit import knossos
from composit.knossos import Tensor

# ruff: noqa: F821


@knossos.register
def attracted(x: "Tensor[float, n, 3]", m: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    a = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                east = x[j, 0] - x[i, 0]
                north = x[j, 1] - x[i, 1]
                up = x[j, 2] - x[i, 2]
                factor = m[j] / (east * east + north * north + up * up) ** 1.5
                a[i, 0] += factor * east
                a[i, 1] += factor * north
                a[i, 2] += factor * up
    return a


def call():
    x = np.arange(12.0).reshape(4, 3)
    attracted.vjp(x, np.ones(4), x)


def test_columns_of_sums_are_apart_in_each_process(tmp_path):
    texts = set()
    for number in range(8):
        kept = tmp_path / str(number)
        env = {**os.environ, "COMPOSIT_CACHE": str(kept)}
        subprocess.run([sys.executable, __file__], env=env, check=True)
        (source,) = kept.glob("**/kernel.cpp")
        texts.add(source.read_text())
    assert len(texts) == 1
    assert "dx_column" in texts.pop()


if __name__ == "__main__":
    call()
