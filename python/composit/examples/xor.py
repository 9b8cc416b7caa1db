"""Learning XOR with composit.torch: python -m composit.examples.xor"""

from __future__ import annotations

from typing import Any


def train(torch: Any, steps: int = 5000) -> tuple[Any, Any, Any]:
    """Targets, predictions and probabilities of a model that `torch` trained: composit.torch, or
    PyTorch, which takes the same lines."""
    device = "cpu"
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
        softmax = logits.softmax(-1).numpy()
        return y.numpy(), softmax.argmax(-1), softmax


def main() -> None:
    """Trains, and prints what was learnt."""
    import composit.torch as torch

    targets, prediction, softmax = train(torch)
    print(f"targets: {targets}")
    print(f"prediction: {prediction}")
    print("softmax:")
    print(softmax)


if __name__ == "__main__":
    main()
