"""Parameters as one vector, and back."""

from __future__ import annotations

from typing import Any

from composit.torch.calling import functions
from composit.torch.tape import no_grad


def parameters_to_vector(parameters: Any) -> Any:
    """All elements in one dimension."""
    return functions["cat"]([x.reshape(-1) for x in parameters])


@no_grad()
def vector_to_parameters(vec: Any, parameters: Any) -> None:
    """Gives parameters the elements of one vector."""
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.copy_(vec[start : start + count].reshape(parameter.shape))
        start += count
