"""Peak memory of a training step of BERT-base beside PyTorch's and JAX's, each in a process of its
own; and of the same step within a budget, which computes layers again for their gradients."""

import importlib
import json
import subprocess
import sys
from functools import cache, partial

import numpy as np
from group import main
from measure import Probe

BATCH, DECAY, STEPS = 8, 0.01, 3
BUDGET = 1_900_000_000


def resident(name: str) -> int:
    """Bytes of VmRSS or VmHWM of this process."""
    with open("/proc/self/status") as lines:
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def composit_side(given, weights, threads, budget=None):
    """Weights and state are donated: results may be written over them. With a budget, temporaries
    and results are planned within it."""
    from models import bert, training

    import composit
    from composit import nn

    held = [weights, training.composit_state(weights)]
    options = {"threads": threads, "donate": (2, 3)}
    if budget is None:
        step = training.composit_step(bert.composit_classifier, DECAY)
        compiled = composit.compile(step, **options)
    else:
        again = partial(nn.remat, when_needed=True)
        model = partial(bert.composit_classifier, wrapped=again)
        step = training.composit_step(model, DECAY)
        compiled = nn.compile_within(budget, step, *given, *held, **options)
    del weights

    def run():
        loss, *held[:] = compiled(*given, *held)
        return loss

    return run


def jax_side(given, weights, threads):
    """On as many threads as JAX likes."""
    import jax
    from models import bert, training

    compiled = jax.jit(training.jax_step(bert.jax_classifier, DECAY), donate_argnums=(2, 3))
    held = list(jax.device_put((weights, training.jax_state(weights))))

    def run():
        loss, *held[:] = jax.block_until_ready(compiled(*given, *held))
        return loss

    return run


def torch_side(given, weights, threads):
    import torch
    from models import bert, training

    torch.set_num_threads(threads)
    return training.TorchTraining(bert.torch_classifier(), *given, weights, DECAY).step


SIDES = {
    "composit": composit_side,
    "composit, within a budget": partial(composit_side, budget=BUDGET),
    "JAX": jax_side,
    "torch": torch_side,
}
IMPORTS = {"JAX": "jax", "torch": "torch.nn.functional"}


def measure_here(side: str, threads: int) -> dict:
    """The peak of some steps beyond what the process had before there were weights, and the
    losses. What it took to make weights and state does not count."""
    from models import bert, training  # noqa: F401
    from models.weights import draw

    importlib.import_module(IMPORTS.get(side, "composit.nn"))
    ids, _ = bert.inputs(BATCH)
    given = (ids, np.random.default_rng(BATCH).integers(0, 10, BATCH))
    before = resident("VmRSS")
    run = SIDES[side](given, draw(bert.shapes()), threads)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # VmHWM counts from here
    losses = [float(run()) for _ in range(STEPS)]
    return {"peak": resident("VmHWM") - before, "losses": losses}


@cache
def peak(side: str, threads: int) -> int:
    """Bytes, after the losses were compared with PyTorch's."""
    found = fresh(side, threads)
    np.testing.assert_allclose(found["losses"], fresh("torch", threads)["losses"], 1e-3)
    return found["peak"]


@cache
def fresh(side: str, threads: int) -> dict:
    """What measure_here says in a process of its own."""
    command = [sys.executable, __file__, "--fresh", side, str(threads)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def beside(side: str, peers: tuple[str, ...], threads: int) -> tuple[float, dict[str, float]]:
    ours = peak(side, threads)
    shown = {f"{name}, MB": round(peak(name, threads) / 1e6) for name in peers}
    return ours / peak("torch", threads), {"composit, MB": round(ours / 1e6), **shown}


def cases():
    name = f"BERT-base training step, batch {BATCH}, peak memory over torch"
    yield Probe(name, 0.8, 0.6, "x", partial(beside, "composit", ("torch", "JAX")))
    within = f"{name}, planned within {BUDGET / 1e9:g} GB"
    yield Probe(within, 0.8, 0.6, "x", partial(beside, "composit, within a budget", ("torch",)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fresh"]:
        print(json.dumps(measure_here(sys.argv[2], int(sys.argv[3]))))
        sys.exit()
    notes = (
        "The most resident memory of three steps, the first one and its compilation counted, "
        "beyond what the process had before there were weights. The step is that of training "
        "with AdamW; weights and moments are 1.3 GB. composit and JAX are given them (`donate`). "
        "Within a budget, `nn.compile_within` computes again as few layers as that takes."
    )
    main("Memory of training", notes, cases)
