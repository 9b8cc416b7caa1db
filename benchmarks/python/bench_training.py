"""Training steps: MNIST's ConvNet and ViT with Adam, BERT-base with AdamW."""

import numpy as np
from group import main
from measure import Case, Sides, check
from models import bert, convnet, training, vit
from models.weights import draw

BATCH = 32


class Ours:
    """composit's step, from the weights and state of the one before."""

    def __init__(self, model, batch, weights, threads, decay=0.0):
        import composit

        step = training.composit_step(model, decay)
        self.compiled = composit.compile(step, threads=threads)
        self.batch, self.weights = batch, weights
        self.state = training.composit_state(weights)

    def step(self):
        loss, self.weights, self.state = self.compiled(*self.batch, self.weights, self.state)
        return loss


class InJax:
    """JAX's; weights and state are donated to the next step."""

    def __init__(self, model, batch, weights, decay=0.0):
        import jax

        self.compiled = jax.jit(training.jax_step(model, decay), donate_argnums=(2, 3))
        self.batch = jax.device_put(batch)
        held = jax.device_put((weights, training.jax_state(weights)))
        self.weights, self.state = jax.tree.map(lambda array: array.copy(), held)

    def step(self):
        import jax

        found = self.compiled(*self.batch, self.weights, self.state)
        loss, self.weights, self.state = jax.block_until_ready(found)
        return loss


def step_of(name: str, model, must: float, aim: float) -> Case:
    def prepare(threads):
        weights, batch = draw(model.shapes()), training.batch_of(BATCH)
        ours = Ours(model.composit_model, batch, weights, threads)
        jax = InJax(model.jax_model, batch, weights)
        torch = training.TorchTraining(model.torch_model, *batch, weights)
        losses = [float(side.step()) for side in (ours, jax, torch)]
        # Adam's first moments are the gradients, scaled; updated weights would compare their signs.
        moments = dict(zip(weights, training.first_moments(ours.state, len(weights))))
        largest = max(float(np.abs(moment).max()) for moment in moments.values())
        for key, moment in moments.items():
            floor = largest * (1e-4 if key in model.VANISHING else 1e-6)
            gradient = (1 - training.BETA1) * torch.weights[key].grad.numpy()
            check(f"{name}: JAX's {key}", moment, jax.state[1][key], 1e-3, floor)
            check(f"{name}: torch's {key}", moment, gradient, 1e-3, floor)
        again = [float(side.step()) for side in (ours, jax, torch)]
        for one, two, three in (losses, again):
            check(f"{name}: JAX's loss", one, two, 1e-5)
            check(f"{name}: torch's loss", one, three, 1e-5)
        # The weights and two moments are read and written, the gradients written and read.
        moved = 8 * sum(value.nbytes for value in weights.values())
        peers = {"JAX": jax.step, "torch": torch.step}
        return Sides(ours.step, peers, model.flops(BATCH), moved)

    return Case(f"{name} training step, batch {BATCH}", must, aim, prepare)


def bert_step(batch: int, decay: float = 0.01) -> Case:
    def prepare(threads):
        weights = draw(bert.shapes())
        ids, _ = bert.inputs(batch)
        labels = np.random.default_rng(batch).integers(0, 10, batch)
        given = (ids, labels)
        ours = Ours(bert.composit_classifier, given, weights, threads, decay)
        jax = InJax(bert.jax_classifier, given, weights, decay)
        torch = training.TorchTraining(bert.torch_classifier(), *given, weights, decay)
        for tolerance in (1e-5, 1e-3):  # the second loss is that of updated weights
            one, two, three = (float(side.step()) for side in (ours, jax, torch))
            check("BERT's training: JAX's loss", one, two, tolerance)
            check("BERT's training: torch's loss", one, three, tolerance)
        moved = 8 * sum(value.nbytes for value in weights.values())
        peers = {"JAX": jax.step, "torch": torch.step}
        return Sides(ours.step, peers, 3 * bert.flops(batch), moved)

    name = f"BERT-base training step, batch {batch}, 128 tokens, AdamW"
    return Case(name, 1.1, 1.3, prepare, rounds=(3, 3))


def cases():
    yield bert_step(8)
    yield step_of("MNIST ConvNet", convnet, 2, 4)
    yield step_of("MNIST ViT", vit, 1.3, 2)


if __name__ == "__main__":
    notes = (
        "Forward, backward and AdamW (`torch.optim.AdamW(fused=True)`, for MNIST without decay), "
        "each from the weights of the step before. MNIST's models are tensorgrad's: three "
        "convolutions of 8, 16 and 32 channels "
        "with batch normalisation and average pooling; one transformer layer of width 128 over 49 "
        "patches; no dropout. Losses agree to 1e-5, gradients to 1e-3 of each weight's largest, or "
        "1e-6 of the largest of all, but 1e-4 where they are zero but for rounding: for biases "
        "that a normalisation takes away again. BERT tells ten classes by its first token; its "
        "losses agree to 1e-5, and to 1e-3 after a step."
    )
    main("Training with Adam", notes, cases)
