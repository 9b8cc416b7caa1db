"""Arguments that PyTorch refuses are refused, in its classes of errors."""

import pytest
import torch as theirs

from composit import torch as ours

CASES = {
    "a negative length": lambda t: t.ones(-1),
    "a negative length of draws": lambda t: t.randn(2, -3),
    "a negative number of steps": lambda t: t.linspace(0, 1, -1),
    "a negative identity": lambda t: t.eye(-1),
    "no parts": lambda t: t.ones(3).chunk(0),
    "a shift without a dimension": lambda t: t.roll(t.ones(3), (1, 2), (0,)),
    "a triangle of a row": lambda t: t.ones(3).tril(),
    "the other triangle": lambda t: t.ones(3).triu(),
    "a grid of matrices": lambda t: t.meshgrid(t.ones(2, 2), t.ones(2), indexing="ij"),
    "an outer product of matrices": lambda t: t.outer(t.ones(2, 2), t.ones(2)),
    "a cross product in a plane": lambda t: t.linalg.cross(t.ones(2), t.ones(2)),
    "no dimension of three": lambda t: t.cross(t.ones(2), t.ones(2)),
    "complex numbers of triples": lambda t: t.view_as_complex(t.ones(3)),
    "an index of other rank": lambda t: t.gather(t.ones(2, 2), 0, t.zeros(1, dtype=t.int64)),
    "scattered, other rank": lambda t: t.zeros(2).scatter(0, t.tensor([[0]]), 1.0),
    "added, other rank": lambda t: t.zeros(2).scatter_add(0, t.tensor([[0]]), t.ones(1, 1)),
    "an empty range": lambda t: t.randint(3, 1, (2,)),
    "a negative deviation": lambda t: t.normal(0.0, -1.0, (2,)),
    "a chance above 1": lambda t: t.bernoulli(t.tensor([2.0])),
    "weights of zero": lambda t: t.multinomial(t.zeros(3), 1),
    "negative weights": lambda t: t.multinomial(t.tensor([-1.0, 2.0]), 1),
    "more draws than weights": lambda t: t.multinomial(t.ones(3), 5),
    "targets of another batch": lambda t: t.nn.functional.cross_entropy(
        t.ones(2, 3), t.zeros(3, dtype=t.int64)
    ),
    "probabilities of another shape": lambda t: t.nn.functional.binary_cross_entropy(
        t.tensor([0.5, 0.5]), t.ones(3)
    ),
    "logits of another shape": lambda t: t.nn.functional.binary_cross_entropy_with_logits(
        t.ones(2), t.ones(3)
    ),
    "heads that do not divide": lambda t: t.nn.MultiheadAttention(5, 2),
    "the place among nothing": lambda t: t.ones(0).argmax(),
    "the place along nothing": lambda t: t.ones(2, 0).argmin(1),
    "the largest along nothing": lambda t: t.ones(2, 0).max(1),
    "a matrix without an inverse": lambda t: t.linalg.inv(t.zeros(2, 2)).tolist(),
    "a matrix that is not positive": lambda t: t.linalg.cholesky(-t.eye(2)).tolist(),
    "rows by floats": lambda t: t.nn.functional.embedding(t.tensor([0.0]), t.ones(3, 2)),
    "rows by truths": lambda t: t.nn.functional.embedding(t.tensor([True]), t.ones(3, 2)),
    "no new size": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 4)),
    "two new sizes": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 4), 2, 2.0),
    "the middle along nothing": lambda t: t.median(t.ones(2, 0), 1),
    "the most frequent of nothing": lambda t: t.mode(t.ones(0)),
    "more times than there are": lambda t: t.nn.functional.ctc_loss(
        t.zeros(5, 1, 4), t.tensor([[1, 2]]), t.tensor([6]), t.tensor([2])
    ),
    "longer targets than there are": lambda t: t.nn.functional.ctc_loss(
        t.zeros(5, 1, 4), t.tensor([[1, 2]]), t.tensor([5]), t.tensor([3])
    ),
    "no groups": lambda t: t.nn.Conv2d(2, 2, 3, groups=0),
    "a length of 2.0": lambda t: t.ones(2.0),
    "lengths of 2.5": lambda t: t.zeros((2.5, 3)),
    "a new shape of 2.0": lambda t: t.ones(4).reshape([2.0, 2]),
    "a view of 2.0": lambda t: t.ones(4).view(2.0, 2),
    "repeated 2.0 times": lambda t: t.ones(4).repeat(2.0),
    "draws of 2.0": lambda t: t.randn(2.0),
    "2.0 features": lambda t: t.nn.Linear(2.0, 3),
    "an odd number of widths": lambda t: t.nn.functional.pad(t.ones(3), (1,)),
    "nothing one after the other": lambda t: t.cat([]),
}
# Where values are known when a call is made.
OF_VALUES = ("a chance above 1", "weights of zero", "negative weights",
             "more times than there are", "longer targets than there are")  # fmt: skip
NAMES = [pytest.param(n, marks=pytest.mark.on_cpu) if n in OF_VALUES else n for n in CASES]
KINDS = (IndexError, ValueError, AssertionError, RuntimeError, TypeError)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_what_pytorch_refuses(name):
    with pytest.raises(KINDS) as wanted:
        CASES[name](theirs)
    kind = next(kind for kind in KINDS if isinstance(wanted.value, kind))
    with pytest.raises(kind) as found:
        CASES[name](ours)
    assert type(found.value) in (kind, ours.linalg.LinAlgError)


def test_what_is_left_alone():
    assert ours.ones(0).tolist() == [] and ours.linspace(0, 1, 0).shape == (0,)
    assert ours.ones(2, 0).max(0)[1].shape == (0,) and ours.ones(3, 0).argmax(0).shape == (0,)
    assert ours.gather(ours.tensor(2.0), 0, ours.tensor([0])).tolist() == [2.0]
    assert ours.multinomial(ours.tensor([0.0, 1.0]), 1).tolist() == [1]
    assert ours.roll(ours.arange(3), 1, 0).tolist() == [2, 0, 1]
    assert ours.tril(ours.ones(2, 2, 2), diagonal=-1)[0].tolist() == [[0, 0], [1, 0]]


def test_errors_of_matrices_are_numpys_and_pytorchs():
    import numpy as np

    with pytest.raises(ours.linalg.LinAlgError) as caught:
        ours.linalg.inv(ours.zeros(2, 2)).tolist()
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, np.linalg.LinAlgError)


def test_starting_weights_of_no_elements_are_left():
    for torch in (theirs, ours):
        empty = torch.empty(0, 3)
        with pytest.warns(UserWarning, match="^Initializing zero-element tensors is a no-op"):
            torch.nn.init.kaiming_uniform_(empty)
        with pytest.warns(UserWarning, match="^Initializing zero-element tensors is a no-op"):
            torch.nn.init.kaiming_normal_(empty)


def test_the_implementation_of_attention_can_be_chosen():
    values = []
    for torch in (theirs, ours):
        from_module = torch.nn.attention
        q = torch.arange(12.0).reshape(1, 3, 4)
        with from_module.sdpa_kernel([from_module.SDPBackend.MATH]):
            assert not torch.backends.cuda.flash_sdp_enabled()
            assert torch.backends.cuda.math_sdp_enabled()
            values.append(torch.nn.functional.scaled_dot_product_attention(q, q, q).tolist())
        assert torch.backends.cuda.flash_sdp_enabled()
        with pytest.raises(AssertionError, match=r"^Backend must be an instance of SDPBackend or"):
            from_module.sdpa_kernel("math").__enter__()
    for mine, wanted in zip(values[1][0], values[0][0]):
        assert mine == pytest.approx(wanted)


def test_the_middle_of_nothing():
    for t in (theirs, ours):
        assert t.isnan(t.median(t.ones(0)))
