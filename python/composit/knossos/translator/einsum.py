"""np.einsum of literal subscripts (composit/knossos/einsum.h)."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import ArrayFunctions
from composit.knossos.translator.expressions import Expressions
from composit.knossos.values import Mismatch


@dataclasses.dataclass(eq=False)
class Einsum:
    """Sums of products of elements, whose axes have letters."""

    arrays: ArrayFunctions
    expressions: Expressions

    def of_call(self, node: ast.Call) -> Any:
        """The sum of products that the subscripts mean: a number, or an array."""
        subscripts = node.args[0] if node.args else None
        if not isinstance(subscripts, ast.Constant) or not isinstance(subscripts.value, str):
            raise Mismatch("einsum whose first argument is no text", "Subscripts that are literal "
                           'are required, as "ij,jk->ik", and an array for each.')  # fmt: skip
        if node.keywords:
            raise Mismatch(f"the argument {node.keywords[0].arg} of einsum", "Leave it out.")
        arrays = [self.expressions.value(each) for each in node.args[1:]]
        return self.arrays.einsum(subscripts.value, arrays)
