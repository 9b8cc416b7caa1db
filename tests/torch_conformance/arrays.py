"""The arrays that the example calls name: small, of every kind that functions ask for."""

from __future__ import annotations

import numpy as np

_random = np.random.default_rng(7)


def _floats(*shape: int) -> np.ndarray:
    return _random.normal(size=shape).astype(np.float32)


_square = _floats(3, 3)

ARRAYS: dict[str, np.ndarray] = {
    "A": _floats(3, 4), "B": _floats(3, 4), "C": _floats(4), "P": np.abs(_floats(3, 4)) + 0.5,
    "R": np.abs(_floats(3, 4)) + 1.5, "U": np.clip(_floats(3, 4), -0.9, 0.9),
    "O": np.clip(np.abs(_floats(3, 4)), 0.1, 0.9), "Q": _floats(2, 3, 4), "S": _square,
    "D": (_square @ _square.T + 2 * np.eye(3)).astype(np.float32), "T": _floats(3, 2),
    "E": _floats(2, 3, 3), "L": np.tril(_square) + 2 * np.eye(3, dtype=np.float32),
    "W": np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-30, 1e30], np.float32),
    "I": np.arange(12).reshape(3, 4) - 4, "J": np.arange(12).reshape(3, 4) % 5 + 1,
    "G": np.array([[0, 2, 1, 0], [2, 1, 0, 1]]), "H": np.array([0, 2, 2]),
    "K": np.arange(12).reshape(3, 4) % 3 == 0, "V": _floats(2, 3, 8), "N": _floats(2, 3, 6, 6),
    "M": _floats(2, 2, 4, 4, 4), "F": _floats(5, 3), "Y": np.array([1, 0, 3]),
    "X": np.array([1, -1, 1]).astype(np.float32), "Z": (_floats(3, 4) + 1j * _floats(3, 4)),
    "KV": _floats(2, 3, 3), "KN": _floats(2, 3, 3, 3), "KM": _floats(2, 2, 2, 2, 2),
    "TV": _floats(3, 2, 3), "TN": _floats(3, 2, 3, 3), "TM": _floats(2, 2, 2, 2, 2),
    "BI": _floats(2, 4, 4), "V3": np.abs(_floats(3)) + 0.5, "W3": _floats(3), "GR": np.clip(
    _floats(2, 4, 4, 2), -1.2, 1.2), "TH": _floats(2, 2, 3), "SG": _floats(64),
    "CT": _floats(6, 2, 5), "CL": np.array([[1, 2, 2], [3, 1, 4]]), "SR": np.sort(_floats(4)),
    "Y3": np.array([[1, 0, -1, 2], [0, 3, -1, 1], [2, 1, 0, -1]]), "K2": _floats(4, 4),
    "SEQ": _floats(5, 2, 4), "ROW": _floats(2, 4), "HID": _floats(2, 3), "C2": _floats(2, 3),
    "ZS": (_floats(3, 3) + 1j * _floats(3, 3)), "SM": _floats(6, 6), "LN": np.array([6, 5]),
    "LT": np.array([3, 2]), "IX": np.array([[0, 1, 2], [3, 4, 0]]), "OF": np.array([0, 2]),
    "HU": np.array([2, 0, 1]), "I1": np.array([4, 0, 1, 3, 2]),
}  # fmt: skip
