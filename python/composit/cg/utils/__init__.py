"""Small functions of the module framework."""

from __future__ import annotations

from typing import Any

from composit.cg.naming import fullname, unique_id

__all__ = ["backpropdot", "fullname", "unique_id"]


def backpropdot(g: Any, jacobian: Any, rank: int) -> Any:
    """g, of shape … + v.shape, by the Jacobian of v, of shape v.shape + u.shape: … + u.shape.
    `rank` is v's number of dimensions."""
    import numpy as np

    return np.tensordot(np.asarray(g), np.asarray(jacobian), rank)
