"""XOR: what a step costs where there is hardly any work."""

import time

from group import main
from measure import Case, Probe, Sides, check
from models import xor

STEPS, LOOP = 100, 5000


def prepare(threads):
    import jax

    import composit

    start, batch = xor.weights(), (xor.INPUTS, xor.TARGETS)
    step = composit.compile(xor.composit_step, threads=threads)
    peer, held = jax.jit(xor.jax_step), jax.device_put((start, *batch))

    def ours():
        weights = start
        for _ in range(STEPS):
            loss, weights = step(weights, *batch)
        return loss, weights

    def theirs():
        weights, *rest = held
        for _ in range(STEPS):
            loss, weights = peer(weights, *rest)
        return jax.block_until_ready((loss, weights))

    (loss, weights), (expected, others) = ours(), theirs()
    check("XOR: loss", loss, expected, 1e-4)
    for one, other in zip(weights, others):
        check("XOR: weights", one, other, 1e-4)
    return Sides(ours, {"JAX": theirs})


def loop(threads):
    """JAX's; composit has no compiled loop over tensors yet."""
    import jax

    held = jax.device_put((xor.weights(), xor.INPUTS, xor.TARGETS))

    @jax.jit
    def train(weights, inputs, targets):
        def body(_, weights):
            return xor.jax_step(weights, inputs, targets)[1]

        return jax.lax.fori_loop(0, LOOP, body, weights)

    jax.block_until_ready(train(*held))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        jax.block_until_ready(train(*held))
        times.append(time.perf_counter() - start)
    return None, {"JAX, ms": 1e3 * sorted(times)[2]}


def cases():
    yield Case("XOR training step", 1.5, 4, prepare, per_call=STEPS)
    yield Probe(f"XOR, {LOOP} steps in one compiled loop", 2, 5, "x", loop, less_is_better=False)


if __name__ == "__main__":
    notes = (
        f"A network of 2, 8 and 1 neurons, four samples, SGD; a step is one compiled call from "
        f"Python, timed as one of {STEPS}, each from the weights of the one before. Losses and "
        f"weights agree to 1e-4 after them. The loop is JAX's `fori_loop` in one jit."
    )
    main("XOR", notes, cases)
