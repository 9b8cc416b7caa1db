"""XOR: what a step costs where there is hardly any work."""

from group import main
from measure import Case, Sides, check
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


def prepare_loop(threads):
    import jax

    import composit

    arguments = xor.weights(), xor.INPUTS, xor.TARGETS
    held = jax.device_put(arguments)

    def train(weights, inputs, targets):
        return composit.fori_loop(
            0, LOOP, lambda i, w: xor.composit_step(w, inputs, targets)[1], weights
        )

    @jax.jit
    def train_in_jax(weights, inputs, targets):
        return jax.lax.fori_loop(0, LOOP, lambda i, w: xor.jax_step(w, inputs, targets)[1], weights)

    compiled = composit.compile(train, threads=threads)
    for one, other in zip(compiled(*arguments), train_in_jax(*held)):
        check(f"XOR: weights after {LOOP} steps", one, other, 1e-4)
    return Sides(
        lambda: compiled(*arguments),
        {"JAX": lambda: jax.block_until_ready(train_in_jax(*held))},
    )


def cases():
    yield Case("XOR training step", 1.5, 4, prepare, per_call=STEPS)
    yield Case(f"XOR, {LOOP} steps in one compiled loop", 2, 5, prepare_loop)


if __name__ == "__main__":
    notes = (
        f"A network of 2, 8 and 1 neurons, four samples, SGD; a step is one compiled call from "
        f"Python, timed as one of {STEPS}, each from the weights of the one before. Losses and "
        f"weights agree to 1e-4 after them. The loop is `fori_loop` in one compiled function, and "
        f"in one jit."
    )
    main("XOR", notes, cases)
