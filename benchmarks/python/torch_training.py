"""Steps of training as users of PyTorch write them, through the same lines for composit.torch and
PyTorch, and the same work as a jitted step of JAX: XOR, MNIST's ConvNet and ViT."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from measure import Case, Sides, check
from models import as_modules, convnet, training, vit
from models.weights import Weights, draw

XOR_STEPS, XOR_RATE = 100, 0.5
BATCH = 32


def wait_for_compilers() -> None:
    """Until what runs often is compiled, which happens on threads of its own."""
    for thread in threading.enumerate():
        if thread.name.startswith("composit.torch"):
            thread.join()


def both(make: Any, state: Weights, batch: Any, optimizer: Any, threads: int) -> list[Any]:
    """composit.torch's and PyTorch's training from the same weights."""
    import torch as peer

    import composit
    import composit.torch as torch

    peer.set_num_threads(threads)
    composit.set_threads(threads)
    return [as_modules.Training(t, make(t), state, batch, optimizer) for t in (torch, peer)]


def compiled(ours: Any, count: int) -> None:
    """Runs steps until their program is compiled."""
    from composit.torch import steps

    before = steps.compile_after[0]
    steps.compile_after[0] = count // 2
    ours.steps(count)
    wait_for_compilers()
    steps.compile_after[0] = before


def xor_in_jax(weights: Weights, batch: Any) -> Any:
    """A call is XOR_STEPS steps, each from the weights of the one before; gives the loss."""
    import jax
    import jax.numpy as jnp

    def loss_of(w: Any, x: Any, y: Any) -> Any:
        hidden = jax.nn.relu(x @ w["0.weight"].T + w["0.bias"])
        logits = hidden @ w["2.weight"].T + w["2.bias"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    @jax.jit
    def step(w: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(w, x, y)
        return loss, {name: w[name] - XOR_RATE * gradients[name] for name in w}

    held = jax.device_put((weights, *batch))

    def steps(count: int = XOR_STEPS) -> Any:
        w, x, y = held
        for _ in range(count):
            loss, w = step(w, x, y)
        return jax.block_until_ready((loss, w))[0]

    return steps


def prepare_xor(peer: str) -> Any:
    """XOR's step with the lines of composit.examples.xor, beside `peer`."""

    def prepare(threads: int) -> Sides:
        state, batch = as_modules.xor_state(), (as_modules.XOR_INPUTS, as_modules.XOR_LABELS)
        ours, theirs = both(as_modules.xor_network, state, batch,
                            lambda t, p: t.optim.SGD(p, lr=XOR_RATE), threads)  # fmt: skip
        in_jax = xor_in_jax(state, batch)
        for count in (1, 2):  # JAX's steps begin anew with each call
            loss = ours.steps(count).item()
            check("XOR: PyTorch's loss", loss, theirs.steps(count).item(), 1e-4)
        check("XOR: JAX's loss", loss, in_jax(3), 1e-4)
        compiled(ours, 1000)
        peers = {"PyTorch": lambda: theirs.steps(XOR_STEPS), "JAX": in_jax}
        return Sides(lambda: ours.steps(XOR_STEPS), {peer: peers[peer]})

    return prepare


def prepare_step(name: str, model: Any, make: Any, state_of: Any, beside: tuple[str, ...]) -> Any:
    """A step with Adam, beside those peers, after losses and gradients were compared with both."""

    def prepare(threads: int) -> Sides:
        import jax

        weights, batch = draw(model.shapes()), training.batch_of(BATCH)
        ours, theirs = both(make, state_of(weights), batch,
                            lambda t, p: t.optim.Adam(p, training.RATE, fused=True),
                            threads)  # fmt: skip
        stepped = jax.jit(training.jax_step(model.jax_model), donate_argnums=(2, 3))
        held = jax.device_put((weights, training.jax_state(weights)))
        held = list(jax.tree.map(lambda array: array.copy(), held))
        given = jax.device_put(batch)

        def in_jax() -> Any:
            loss, *held[:] = jax.block_until_ready(stepped(*given, *held))
            return loss

        for number in range(2):
            loss = ours.steps(1).item()
            check(f"{name}: PyTorch's loss", loss, theirs.steps(1).item(), 1e-5)
            check(f"{name}: JAX's loss", loss, in_jax(), 1e-5)
            if number == 0:
                compare_gradients(name, model, state_of, ours.gradients(), theirs.gradients(), held)
        compiled(ours, 40)
        peers = {"PyTorch": lambda: theirs.steps(1), "JAX": in_jax}
        moved = 8 * sum(value.nbytes for value in weights.values())
        return Sides(lambda: ours.steps(1), {name: peers[name] for name in beside},
                     model.flops(BATCH), moved)  # fmt: skip

    return prepare


def compare_gradients(
    name: str, model: Any, state_of: Any, found: Any, theirs: Any, held: Any
) -> None:
    """With PyTorch's, and with JAX's first moments, which are its gradients, scaled."""
    moments = {k: np.asarray(v) / (1 - training.BETA1) for k, v in held[1][1].items()}
    in_jax = state_of(moments)
    vanishing = state_of({k: np.full_like(v, k in model.VANISHING) for k, v in moments.items()})
    largest = max(float(np.abs(value).max()) for value in theirs.values())
    for key, value in found.items():
        floor = largest * (1e-4 if vanishing[key].any() else 1e-6)
        check(f"{name}: PyTorch's gradient of {key}", value, theirs[key], 1e-3, floor)
        check(f"{name}: JAX's gradient of {key}", value, in_jax[key], 1e-3, floor)


def cases() -> Any:
    """XOR and the ConvNet have a row for each peer, as what they must be is PyTorch's time."""
    yield Case("XOR training step", 85 / 25, 85 / 12, prepare_xor("PyTorch"), per_call=XOR_STEPS)
    yield Case("XOR training step, beside JAX", None, 1, prepare_xor("JAX"), per_call=XOR_STEPS)
    of_convnet = (convnet, as_modules.conv_network, as_modules.convnet_state)
    of_vit = (vit, as_modules.transformer, as_modules.vit_state)
    name = f"MNIST ConvNet training step, batch {BATCH}"
    yield Case(name, 2, 4, prepare_step(name, *of_convnet, ("PyTorch",)))
    yield Case(f"{name}, beside JAX", None, 1, prepare_step(name, *of_convnet, ("JAX",)))
    name = f"MNIST ViT training step, batch {BATCH}"
    yield Case(name, 1.3, 2, prepare_step(name, *of_vit, ("PyTorch", "JAX")))
