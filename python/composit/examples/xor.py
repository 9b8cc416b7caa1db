"""Learning XOR with composit.torch: python -m composit.examples.xor [--device opencl]"""

from __future__ import annotations

import argparse
from typing import Any


def train(torch: Any, steps: int = 5000, device: str = "cpu") -> tuple[Any, Any, Any]:
    """Targets, predictions and probabilities of a model that `torch` trained: composit.torch, or
    PyTorch, which takes the same lines. All tensors lie on `device`."""
    inputs = [[0, 0], [0, 1], [1, 0], [1, 1]]
    x = torch.tensor(inputs, requires_grad=False).float().to(device)
    y = torch.tensor([1, 0, 0, 1], requires_grad=False).long().to(device)

    model = torch.nn.Sequential(
        torch.nn.Linear(2, 8),
        torch.nn.ReLU(),
        torch.nn.Linear(8, 2),
    )
    model.to(device)
    model.train()
    optim = torch.optim.SGD(model.parameters(), lr=0.5)
    loss_fn = torch.nn.CrossEntropyLoss()

    for _ in range(steps):
        optim.zero_grad()
        outputs = model(x)
        loss = loss_fn(outputs, y)
        loss.backward()
        optim.step()

    model.eval()
    with torch.no_grad():
        logits = model(x)
        softmax = logits.softmax(-1).cpu().numpy()
        return y.cpu().numpy(), softmax.argmax(-1), softmax


def main(words: list[str] | None = None) -> None:
    """Trains, and prints what was learnt."""
    import composit.torch as torch

    parser = argparse.ArgumentParser(prog="python -m composit.examples.xor", description=__doc__)
    parser.add_argument("--device", default="cpu", help="device to train on (cpu)")
    parser.add_argument("--steps", type=int, default=5000, help="steps of gradient descent (5000)")
    options = parser.parse_args(words)
    targets, prediction, softmax = train(torch, options.steps, options.device)
    print(f"targets: {targets}")
    print(f"prediction: {prediction}")
    print("softmax:")
    print(softmax)


if __name__ == "__main__":
    main()
