"""The error of matrices that are singular, or not positive definite, at all front doors."""

from __future__ import annotations

import numpy.linalg


class LinAlgError(numpy.linalg.LinAlgError, RuntimeError):
    """numpy.linalg.LinAlgError, which is a ValueError, and PyTorch's, which is a RuntimeError."""


LinAlgError.__module__ = "numpy.linalg"
