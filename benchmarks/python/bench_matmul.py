"""Products of square matrices: the share of the peak of fused multiply-adds."""

import numpy as np
from functions import function_case
from group import main


def cases():
    import jax.numpy as jnp

    import composit.numpy as cnp

    for n in (256, 1024, 2048):
        case = function_case(
            f"matmul {n} x {n}", 0.85, 0.95, [(n, n), (n, n)], cnp.matmul, numpy=np.matmul,
            jax=jnp.matmul, flops=2 * n**3,
        )  # fmt: skip
        case.is_share = True
        yield case


if __name__ == "__main__":
    notes = "Shares of the peak; JAX's and NumPy's beside. Results agree to 1e-5 of the largest."
    main("Products", notes, cases)
