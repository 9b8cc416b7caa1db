"""The same program of PyTorch's API under both libraries: what it returns, or what it raises."""

import torch as peer

from composit import torch

SIDES = (torch, peer)


def plain(value):
    """Tensors as lists, in what a program returns."""
    if isinstance(value, (torch.Tensor, peer.Tensor)):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def outcome(program, t):
    """What program(t) returns, or its exception's class and the first line of its text, without the
    line of the user's that composit adds to texts."""
    t.manual_seed(0)
    try:
        return plain(program(t))
    except Exception as error:
        text = str(error).splitlines()[0] if str(error) else ""
        return f"{type(error).__name__}: {text.rsplit(' [', 1)[0] if t is torch else text}"


def check_same(program):
    """Both libraries say the same, bit by bit."""
    mine, theirs = (outcome(program, t) for t in SIDES)
    assert mine == theirs
