"""Memory stays flat while composit.torch trains. 3,000 steps here; COMPOSIT_TEST_STEPS=100000 asks
for more of them."""

import gc
import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import composit.torch as torch
from composit.torch import steps

STEPS = int(os.environ.get("COMPOSIT_TEST_STEPS", "3000"))
ALLOWED = 256 << 10  # bytes, what pages that were freed in parts may take


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def training(name, options, kind):
    """A function that does one step."""
    torch.manual_seed(0)
    x, y = torch.rand(16, 1, 6, 6), torch.randint(0, 3, (16,))
    if kind == "dense":
        layers = [torch.nn.Flatten(), torch.nn.Linear(36, 8), torch.nn.ReLU()]
    else:
        layers = [torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Dropout(0.1),
                  torch.nn.AvgPool2d(2), torch.nn.Flatten()]  # fmt: skip
    model = torch.nn.Sequential(*layers, torch.nn.Linear(8, 3))
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=1e-3, **options)
    loss_fn = torch.nn.CrossEntropyLoss()

    def step(is_asked):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item() if is_asked else loss

    return step


def wait_for_compilers():
    for thread in threading.enumerate():
        if thread.name.startswith("composit.torch"):
            thread.join()


def growth(name, options, kind, is_compiled):
    """Bytes that the process is larger after so many steps."""
    steps.compile_after[0] = 40 if is_compiled else 0
    step = training(name, options, kind)
    for number in range(60):
        step(number % 10 == 0)
    wait_for_compilers()
    for number in range(20):
        step(number % 10 == 0)
    gc.collect()
    before = resident()
    for number in range(STEPS):
        step(number % 100 == 0)
    gc.collect()
    return resident() - before


@pytest.mark.parametrize("is_compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [("Adam", {}, "dense"), ("Adam", {}, "convolutions"), ("SGD", {"momentum": 0.9}, "dense")],
)
def test_training(name, options, kind, is_compiled):
    """Numbers that change with each step (Adam's bias corrections) do not stay, nor does a step's
    graph, whether its loss is asked for or not. In a process of its own: what other tests freed in
    parts would count."""
    asked = json.dumps([name, options, kind, is_compiled])
    command = [sys.executable, __file__, asked]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) < ALLOWED


if __name__ == "__main__":
    print(growth(*json.loads(sys.argv[1])))
