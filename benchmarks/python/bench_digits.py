"""The digits example's training step, compiled, against the same step in PyTorch."""

import numpy as np
from group import main
from measure import Case, Sides, check

BATCHES, RATE = (32, 256), 0.1


class Peer:
    """The network in PyTorch, eager, with torch.optim.SGD."""

    def __init__(self, images, labels, weights):
        import torch

        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels)
        shapes = [(-1,) if w.ndim == 3 else w.shape for w in weights]
        self.weights = [
            torch.from_numpy(w.reshape(shape).copy()).requires_grad_()
            for w, shape in zip(weights, shapes)
        ]
        self.optimizer = torch.optim.SGD(self.weights, lr=RATE)

    def step(self):
        import torch
        from torch.nn import functional as F

        filters_1, bias_1, filters_2, bias_2, weight, bias = self.weights
        hidden = F.relu(F.conv2d(self.images, filters_1, bias_1, padding=1))
        hidden = F.max_pool2d(F.relu(F.conv2d(hidden, filters_2, bias_2, padding=1)), 2)
        logits = torch.addmm(bias, hidden.flatten(1), weight)
        loss = F.cross_entropy(logits, self.labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss, logits


class Training:
    """composit's step, from the weights of the one before."""

    def __init__(self, compiled, images, labels, weights):
        self.compiled, self.batch, self.weights = compiled, (images, labels), weights

    def step(self):
        loss, logits, *self.weights = self.compiled(*self.batch, *self.weights)
        return loss, logits


def step_of(batch: int) -> Case:
    def prepare(threads):
        import composit
        from composit.examples.digits import network

        draw = np.random.RandomState(0)
        images = draw.random_sample((batch, 1, 8, 8)).astype(np.float32)
        labels = draw.randint(0, 10, batch)
        weights = network.initial_weights(8, 8, seed=0)

        def step(images, labels, *weights):
            return network.training_step(images, labels, *weights, learning_rate=RATE)

        ours = composit.compile(step, images, labels, *weights, threads=threads, name="step")
        peer = Peer(images, labels, weights)
        loss, logits = peer.step()
        expected = [loss, logits, *peer.weights]
        results = ours(images, labels, *weights)
        for name, a, b in zip(("loss", "logits", *network.NAMES), results, expected):
            check(f"digits: {name}", np.ravel(a), b.detach().numpy().ravel(), 2e-5)
        return Sides(Training(ours, images, labels, weights).step, {"torch": peer.step})

    return Case(f"digits training step, batch {batch}", None, None, prepare)


if __name__ == "__main__":
    notes = (
        "Two convolutions of 16 and 32 channels with pooling, a dense layer, cross entropy, all "
        "gradients and the update of the weights (`composit.examples.digits.network`), on 8 x 8 "
        "images; the peer uses `torch.optim.SGD`. Results agree to 2e-5 of the largest."
    )
    main("Training on handwritten digits", notes, lambda: map(step_of, BATCHES))
