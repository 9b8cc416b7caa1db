"""Products of square matrices: the share of the peak of fused multiply-adds."""

import numpy as np
from functions import function_case
from group import main
from limits import multiply_adds
from measure import Case, Sides

LEAST_OPERATIONS = 2e9  # of the peak, so that its threads' start does not count


def cases():
    import jax.numpy as jnp

    import composit.numpy as cnp

    for n in (256, 1024, 2048):
        case = function_case(
            f"matmul {n} x {n}", 0.85, 0.95, [(n, n), (n, n)], cnp.matmul, numpy=np.matmul,
            jax=jnp.matmul, flops=2 * n**3,
        )  # fmt: skip
        yield as_share(case)


def as_share(case: Case) -> Case:
    prepare = case.prepare

    def with_peak(threads: int) -> Sides:
        sides = prepare(threads)
        operations = max(LEAST_OPERATIONS, sides.flops)
        sides.least = lambda: multiply_adds(threads, operations)
        sides.least_work = operations / sides.flops
        return sides

    case.prepare, case.is_share = with_peak, True
    return case


if __name__ == "__main__":
    notes = (
        "Shares of the peak of all threads, measured in turns with the products; JAX's and NumPy's "
        "beside. Two threads must be 1.7 times as fast as one. Results agree to 1e-5 of the "
        "largest."
    )
    main("Products", notes, cases)
