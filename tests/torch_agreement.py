"""composit.nn beside PyTorch: values and gradients of the same arrays, and the bits of all ways to
compute them."""

import numpy as np
import torch

import composit

# Values, then gradients of a weighted sum.
TOLERANCE = {"float64": 1e-11, "float32": 2e-4}


class Case:
    """What both compute of the same float64 arrays; integers and bool are passed through. `bounds`
    replace TOLERANCE's; `constant` are the positions of floating arrays without a gradient."""

    def __init__(self, ours, theirs, *arrays, bounds=None, constant=()):
        self.ours, self.theirs, self.arrays = ours, theirs, arrays
        self.bounds, self.constant = {**TOLERANCE, **(bounds or {})}, constant

    def converted(self, dtype):
        return [a.astype(dtype) if a.dtype.kind == "f" else a for a in self.arrays]

    def smooth(self):
        return [
            i for i, a in enumerate(self.arrays) if a.dtype.kind == "f" and i not in self.constant
        ]


def weights_of(shape, dtype):
    """What a result is multiplied with before its gradients are taken."""
    return np.random.RandomState(0).standard_normal(tuple(shape)).astype(dtype)


def check_against_torch(case, dtype):
    """The value and every gradient, of equal dtypes and shapes, within the tolerance."""
    arrays, smooth, bound = case.converted(dtype), case.smooth(), case.bounds[dtype]
    theirs = [torch.tensor(np.ascontiguousarray(a)) for a in arrays]
    for i in smooth:
        theirs[i].requires_grad_()
    expected = case.theirs(*theirs)
    weights = weights_of(expected.shape, dtype)
    expected.backward(torch.tensor(weights))
    value, pull_back = composit.vjp(case.ours, *arrays)
    gradients = pull_back(weights)
    found = composit.evaluate(value, *[gradients[i] for i in smooth])
    found = found if isinstance(found, (list, tuple)) else [found]
    zeros = [np.zeros(arrays[i].shape, dtype) for i in smooth]
    reference = [expected.detach().numpy()]
    for i, zero in zip(smooth, zeros, strict=True):
        reference.append(zero if theirs[i].grad is None else theirs[i].grad.numpy())
    for ours_one, theirs_one in zip(found, reference, strict=True):
        assert ours_one.dtype == theirs_one.dtype and ours_one.shape == theirs_one.shape
        scale = max(1, np.abs(theirs_one[np.isfinite(theirs_one)]).max(initial=0))
        np.testing.assert_allclose(ours_one, theirs_one, rtol=bound, atol=bound * scale)


def check_bits(cases, dtype="float32"):
    """Interpreter and compiled program, of one thread and of two, give the same bits of values and
    gradients; one program has all cases."""
    cases = list(cases)
    arrays = [case.converted(dtype) for case in cases]

    def everything(*flat):
        results, at = [], 0
        for case in cases:
            mine = flat[at : at + len(case.arrays)]
            at += len(case.arrays)
            value, pull_back = composit.vjp(case.ours, *mine)
            gradients = pull_back(weights_of(value.shape, dtype))
            results += [value, *[gradients[i] for i in case.smooth()]]
        return tuple(results)

    flat = [a for each in arrays for a in each]
    expected = composit.compile(everything, backend="interpreter")(*flat)
    for threads in (1, 2):
        found = composit.compile(everything, threads=threads)(*flat)
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            a, b = np.asarray(a), np.asarray(b)
            assert a.dtype == b.dtype and a.shape == b.shape, i
            nan = np.isnan(a) & np.isnan(b)
            assert np.where(nan, 0, a).tobytes() == np.where(nan, 0, b).tobytes(), i
