"""torch.distributions beside PyTorch's: densities, moments, divergences, transforms, draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import composit.torch as ours
import composit.torch.distributions  # noqa: F401 (so that it is there for eval)

torch = pytest.importorskip("torch")

_MATRIX = "[[2.0, 0.3], [0.3, 1.5]]"
_LOWER = "[[1.2, 0.0], [0.4, 0.9]]"

# The distribution, values to ask for its density.
CASES = {
    "Bernoulli(T([0.1, 0.5, 0.8]))": "[0.0, 1.0, 1.0]",
    "Bernoulli(logits=T([-1.0, 2.0]))": "[1.0, 0.0]",
    "Beta(T([0.5, 2.0]), T([1.5, 3.0]))": "[0.2, 0.7]",
    "Binomial(5, T([0.3, 0.6]))": "[2.0, 5.0]",
    "Binomial(4, logits=T([0.3, -2.0]))": "[0.0, 3.0]",
    "Categorical(T([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]]))": "[0, 2]",
    "Categorical(logits=T([[0.2, 0.3, -0.5]]))": "[1]",
    "Cauchy(T([0.5, -1.0]), T([1.0, 2.0]))": "[0.2, -3.0]",
    "Chi2(T([1.5, 4.0]))": "[0.4, 3.0]",
    "ContinuousBernoulli(T([0.2, 0.5, 0.4995]))": "[0.1, 0.6, 0.9]",
    "ContinuousBernoulli(logits=T([-1.0, 0.7]))": "[0.3, 0.8]",
    "Dirichlet(T([[0.5, 1.5, 2.0], [3.0, 2.0, 4.0]]))": "[[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]]",
    "Exponential(T([0.5, 2.0]))": "[0.1, 3.0]",
    "FisherSnedecor(T([3.0, 5.0]), T([6.0, 9.0]))": "[0.4, 2.0]",
    "Gamma(T([0.5, 3.0]), T([1.0, 2.0]))": "[0.3, 2.0]",
    "GeneralizedPareto(T([0.5, 1.0]), T([1.0, 2.0]), T([0.2, -0.3]))": "[1.5, 2.0]",
    "Geometric(T([0.2, 0.7]))": "[0.0, 3.0]",
    "Geometric(logits=T([0.2, -0.7]))": "[1.0, 4.0]",
    "Gumbel(T([0.5, -1.0]), T([1.0, 2.0]))": "[0.2, 3.0]",
    "HalfCauchy(T([0.5, 2.0]))": "[0.4, 3.0]",
    "HalfNormal(T([0.5, 2.0]))": "[0.4, 3.0]",
    "Independent(Normal(T([[0.5, 1.0], [2.0, 3.0]]), T(1.5)), 1)": "[[0.1, 0.2], [2.0, 1.0]]",
    "InverseGamma(T([1.5, 3.0]), T([1.0, 2.0]))": "[0.4, 2.0]",
    "Kumaraswamy(T([0.5, 2.0]), T([1.5, 3.0]))": "[0.2, 0.7]",
    "LKJCholesky(3, T([0.5, 2.0]))": "[[[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]]] * 2",
    "Laplace(T([0.5, -1.0]), T([1.0, 2.0]))": "[0.2, -3.0]",
    "LogNormal(T([0.5, -1.0]), T([1.0, 0.5]))": "[0.2, 3.0]",
    "LogisticNormal(T([0.5, -1.0]), T([1.0, 0.5]))": "[0.2, 0.3, 0.5]",
    "LowRankMultivariateNormal(T([0.5, -1.0]), T([[1.0], [0.5]]), T([0.7, 0.9]))": "[0.3, 0.4]",
    "MixtureSameFamily(Categorical(T([0.3, 0.7])), Normal(T([0.0, 2.0]), T([1.0, 0.5])))": "0.7",
    "Multinomial(4, T([[0.2, 0.3, 0.5]]))": "[[1.0, 1.0, 2.0]]",
    f"MultivariateNormal(T([0.5, -1.0]), T({_MATRIX}))": "[0.3, 0.4]",
    f"MultivariateNormal(T([0.5, -1.0]), precision_matrix=T({_MATRIX}))": "[0.3, 0.4]",
    f"MultivariateNormal(T([[0.5, -1.0]] * 3), scale_tril=T({_LOWER}))": "[[0.3, 0.4]] * 3",
    "NegativeBinomial(T([3.0, 2.0]), T([0.2, 0.6]))": "[0.0, 4.0]",
    "Normal(T([0.5, -1.0]), T([1.0, 2.0]))": "[0.2, -3.0]",
    "Normal(0.0, 1.0)": "0.3",
    "OneHotCategorical(T([[0.2, 0.3, 0.5]]))": "[[0.0, 1.0, 0.0]]",
    "OneHotCategoricalStraightThrough(logits=T([0.2, 0.3, 0.5]))": "[0.0, 0.0, 1.0]",
    "Pareto(T([0.5, 1.0]), T([2.5, 1.5]))": "[0.7, 3.0]",
    "Poisson(T([0.5, 4.0]))": "[0.0, 3.0]",
    "RelaxedBernoulli(T(0.7), T([0.2, 0.6]))": "[0.3, 0.9]",
    "RelaxedOneHotCategorical(T(0.7), T([0.2, 0.3, 0.5]))": "[0.1, 0.3, 0.6]",
    "StudentT(T([3.0, 5.0]), T([0.5, 1.0]), T([1.0, 2.0]))": "[0.2, 3.0]",
    "TransformedDistribution(Normal(T([0.5, 1.0]), 1.0), [TanhTransform()])": "[0.2, -0.6]",
    "Uniform(T([0.5, -1.0]), T([1.0, 2.0]))": "[0.7, 1.0]",
    "VonMises(T([0.5, -1.0]), T([1.0, 2.0]))": "[0.7, 1.0]",
    "Weibull(T([0.5, 1.0]), T([1.2, 2.0]))": "[0.7, 1.0]",
    f"Wishart(T(4.0), T({_MATRIX}))": _MATRIX,
}


def _made(library: Any, text: str) -> tuple[Any, list[Any]]:
    """The distribution of a text, and the tensors of its parameters, in float64."""
    leaves: list[Any] = []

    def leaf(values: Any) -> Any:
        made = library.tensor(values, dtype=library.float64, requires_grad=True)
        leaves.append(made)
        return made

    return eval(text, {"T": leaf, **vars(library.distributions)}), leaves


def _values(x: Any) -> Any:
    return np.asarray(x.detach().tolist())


def _agree(mine: Any, theirs: Any, what: str, tolerance: float = 1e-9) -> None:
    assert tuple(mine.shape) == tuple(theirs.shape), what
    np.testing.assert_allclose(_values(mine), _values(theirs), tolerance, 1e-12, err_msg=what)


def _asked(library: Any, distribution: Any, question: Any) -> Any:
    try:
        return question(library, distribution)
    except NotImplementedError:
        return None
    except RuntimeError:  # PyTorch's GeneralizedPareto has masks of float32
        assert library is torch
        return None


@pytest.mark.parametrize("text", CASES)
def test_densities_and_moments_are_pytorchs(text: str) -> None:
    mine, my_leaves = _made(ours, text)
    theirs, their_leaves = _made(torch, text)
    assert tuple(mine.batch_shape) == tuple(theirs.batch_shape)
    assert tuple(mine.event_shape) == tuple(theirs.event_shape)
    assert mine.has_rsample == theirs.has_rsample
    assert mine.has_enumerate_support == theirs.has_enumerate_support
    values = eval(CASES[text])

    def at(library: Any) -> Any:
        whole = "Categorical(" in text and text.startswith("Cat")
        return library.tensor(values, dtype=library.int64 if whole else library.float64)

    questions: dict[str, Any] = {
        **{name: (lambda t, d, name=name: getattr(d, name))
           for name in ("mean", "mode", "variance", "stddev")},
        "entropy": lambda t, d: d.entropy(), "perplexity": lambda t, d: d.perplexity(),
        "log_prob": lambda t, d: d.log_prob(at(t)), "cdf": lambda t, d: d.cdf(at(t)),
        "icdf": lambda t, d: d.icdf(t.full(d.batch_shape, 0.3, dtype=t.float64)),
        "enumerate_support": lambda t, d: d.enumerate_support(),
        "expanded": lambda t, d: d.expand((4, *d.batch_shape)).log_prob(at(t)),
    }  # fmt: skip
    for name, question in questions.items():
        found, wanted = _asked(ours, mine, question), _asked(torch, theirs, question)
        if wanted is None:
            continue
        assert found is not None, name
        if text.startswith("Kumaraswamy") and name == "mode":  # PyTorch's is NaN always
            continue
        # PyTorch's Bessel functions have 8 digits, and it counts draws in float32.
        _agree(found, wanted, name, 1e-7 if text.startswith(("VonMises", "Multinom")) else 1e-9)
        if name in ("log_prob", "entropy", "mean") and wanted.requires_grad:
            gradients = ours.autograd.grad(
                found.sum(), my_leaves, retain_graph=True, allow_unused=True
            )
            expected = torch.autograd.grad(
                wanted.sum(), their_leaves, retain_graph=True, allow_unused=True
            )
            for g, e in zip(gradients, expected):
                assert (g is None) <= (e is None or not e.any()), name
                if g is not None and e is not None:
                    # PyTorch's trigamma has 8 digits, its Bessel functions have 7.
                    digits = 3e-7 if text.startswith("VonMises") else 2e-8
                    _agree(g, e, f"the gradient of {name}", digits)


_SHOWN = ("Bernoulli", "Normal", "Uniform", "Categorical", "Gamma", "MixtureSameFamily",
          "Independent", "Binomial", "MultivariateNormal", "Pareto")  # fmt: skip


@pytest.mark.parametrize("text", [text for text in CASES if text.split("(")[0] in _SHOWN])
def test_texts_and_supports_are_pytorchs(text: str) -> None:
    mine, theirs = _made(ours, text)[0], _made(torch, text)[0]
    if "logits" not in text:
        assert repr(mine).replace(", requires_grad=True", "") == repr(theirs).replace(
            ", requires_grad=True", ""
        )
    assert repr(mine.support).split("(")[0] == repr(theirs.support).split("(")[0]


_DISCRETE_VARIANCES = ("Categorical", "Cauchy", "HalfCauchy", "LKJ", "LogisticNormal", "Relaxed",
                       "Transformed")  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_draws_have_the_mean_and_lie_in_the_support(text: str) -> None:
    ours.manual_seed(3)
    distribution = _made(ours, text)[0]
    drawn = distribution.sample((1500,))
    assert tuple(drawn.shape) == (1500, *distribution.batch_shape, *distribution.event_shape)
    assert not drawn.requires_grad
    if not text.startswith(("Mixture", "Independent")):
        assert bool(distribution.support.check(drawn).all())
    if text.startswith(_DISCRETE_VARIANCES) or text.startswith("VonMises"):
        return
    mean, deviation = _values(distribution.mean), np.sqrt(_values(distribution.variance))
    if np.isfinite(deviation).all():
        assert (abs(_values(drawn.mean(0)) - mean) < 5 * deviation / math.sqrt(1500) + 1e-9).all()
    if distribution.has_rsample and "T(" in text:
        leaves = _made(ours, text)
        leaves[0].rsample().sum().backward()
        assert any(x.grad is not None for x in leaves[1])


def test_draws_of_gamma_move_as_pytorchs() -> None:
    concentration = np.array([0.05, 0.7, 1.0, 3.0, 9.0, 200.0])
    a = ours.tensor(concentration, dtype=ours.float64, requires_grad=True)
    drawn = ours.distributions.Gamma(a, 1.0).rsample()
    drawn.sum().backward()
    expected = torch._standard_gamma_grad if hasattr(torch, "_standard_gamma_grad") else None
    if expected is None:
        expected = torch.ops.aten._standard_gamma_grad
    slopes = expected(torch.tensor(concentration), torch.tensor(drawn.tolist()).double())
    np.testing.assert_allclose(a.grad.tolist(), slopes.tolist(), 2e-3)


@pytest.mark.parametrize("name", ["Normal", "Beta", "Gamma"])
def test_gradients_of_draws_are_those_of_the_mean(name: str) -> None:
    ours.manual_seed(0)
    a = ours.tensor(2.5, requires_grad=True)
    distribution = getattr(ours.distributions, name)(a, 1.5)
    distribution.rsample((20000,)).mean().backward()
    sampled = a.grad.item()
    a.grad = None
    distribution = getattr(ours.distributions, name)(a, 1.5)
    distribution.mean.backward()
    assert abs(sampled - a.grad.item()) < 0.02


_WITHOUT = (
    "LKJ", "Wishart", "Mixture", "Relaxed", "VonMises", "StudentT", "Kumaraswamy", "Weibull",
    "Multinomial", "FisherSnedecor", "GeneralizedPareto", "NegativeBinomial",
)  # fmt: skip
_KL = [
    text
    for text in CASES
    if not text.startswith(_WITHOUT) and "logits" not in text and "(0.0" not in text
]  # PyTorch computes with numbers in float32


def test_divergences_are_pytorchs() -> None:
    made = {text: (_made(ours, text)[0], _made(torch, text)[0]) for text in _KL}
    compared = 0
    for p, (my_p, their_p) in made.items():
        for q, (my_q, their_q) in made.items():
            try:
                wanted = torch.distributions.kl_divergence(their_p, their_q)
            except (NotImplementedError, ValueError, RuntimeError) as error:
                with pytest.raises(type(error)):
                    ours.distributions.kl_divergence(my_p, my_q)
                continue
            found = ours.distributions.kl_divergence(my_p, my_q)
            np.testing.assert_allclose(
                *np.broadcast_arrays(_values(found), _values(wanted)), 2e-8, 1e-11,
                err_msg=f"KL({p} || {q})",
            )  # fmt: skip
            compared += 1
    assert compared > 100


_TRANSFORMS = {
    "AbsTransform()": "[-0.3, 0.5]", "AffineTransform(T(0.5), T([2.0, -1.0]))": "[0.3, 0.5]",
    "AffineTransform(1.0, 2.0, event_dim=1)": "[0.3, 0.5]",
    "CatTransform([ExpTransform(), TanhTransform()], 0, [1, 1])": "[0.3, 0.5]",
    "ComposeTransform([ExpTransform(), AffineTransform(0.0, 3.0), PowerTransform(T(2.0))])":
        "[0.3, 0.5]",
    "CorrCholeskyTransform()": "[0.3, 0.5, -0.2]",
    "CumulativeDistributionTransform(Normal(0.0, 1.0))": "[0.3, 0.5]",
    "ExpTransform()": "[0.3, 0.5]", "IndependentTransform(ExpTransform(), 1)": "[0.3, 0.5]",
    "LowerCholeskyTransform()": "[[0.3, 0.5], [0.2, 0.1]]",
    "PositiveDefiniteTransform()": "[[0.3, 0.5], [0.2, 0.1]]",
    "PowerTransform(T(1.7))": "[0.3, 0.5]",
    "ReshapeTransform((2, 2), (4,))": "[[0.3, 0.5], [0.2, 0.1]]",
    "SigmoidTransform()": "[0.3, -0.5]", "SoftmaxTransform()": "[0.3, 0.5, 0.1]",
    "SoftplusTransform()": "[0.3, -0.5]", "StickBreakingTransform()": "[0.3, 0.5, -1.0]",
    "StackTransform([ExpTransform(), TanhTransform()], 0)": "[[0.3, 0.5], [0.2, 0.1]]",
    "TanhTransform()": "[0.3, -0.5]",
}  # fmt: skip


@pytest.mark.parametrize("text", _TRANSFORMS)
def test_transforms_are_pytorchs(text: str) -> None:
    results = []
    for library in (ours, torch):
        transform = _made(library, text)[0]
        x = library.tensor(eval(_TRANSFORMS[text]), dtype=library.float64)
        y = transform(x)
        back = _asked(library, transform, lambda t, f, y=y: f.inv(y))
        slope = _asked(library, transform, lambda t, f, x=x, y=y: f.log_abs_det_jacobian(x, y))
        shapes = (tuple(transform.forward_shape(x.shape)), tuple(transform.inverse_shape(y.shape)))
        dims = (transform.domain.event_dim, transform.codomain.event_dim, transform.bijective)
        results.append((y, back, slope, shapes, dims))
    for mine, theirs in zip(*results):
        assert (mine is None) == (theirs is None)
        if hasattr(theirs, "detach"):
            _agree(mine, theirs, text)
        else:
            assert mine == theirs


def test_caches_keep_the_value() -> None:
    transform = ours.distributions.TanhTransform(cache_size=1)
    x = ours.tensor([0.3, 20.0])
    y = transform(x)
    assert transform.inv(y) is x
    assert transform == ours.distributions.TanhTransform()


@pytest.mark.parametrize("name", [
    "real", "positive", "nonnegative", "unit_interval", "simplex", "lower_cholesky",
    "corr_cholesky", "positive_definite", "real_vector", "boolean", "greater_than(1.0)",
    "less_than(1.0)", "interval(-1.0, 2.0)", "independent(positive, 1)",
])  # fmt: skip
def test_registries_of_transforms_are_pytorchs(name: str) -> None:
    for registry in ("biject_to", "transform_to"):
        shown = []
        for library in (ours, torch):
            constraint = eval(name, vars(library.distributions.constraints))
            try:
                shown.append(repr(getattr(library.distributions, registry)(constraint)))
            except NotImplementedError as error:
                shown.append(str(error).split(" [")[0])
        assert shown[0] == shown[1]


def test_what_is_not_valid_is_pytorchs_error(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = []
    for library in (ours, torch):
        d = library.distributions
        # torch.compile and torch.export turn PyTorch's checks off for the rest of a process.
        monkeypatch.setattr(d.Distribution, "_validate_args", True)
        normal = d.Normal(library.zeros(2), library.ones(2))
        for call in (
            lambda: d.Normal(library.zeros(2), library.tensor([1.0, -1.0])),  # noqa: B023
            lambda: d.Bernoulli(),  # noqa: B023
            lambda: normal.log_prob(library.zeros(3)),  # noqa: B023
            lambda: normal.log_prob(1.0),  # noqa: B023
            lambda: d.Gamma(1.0, 1.0).log_prob(library.tensor(-1.0)),  # noqa: B023
            lambda: d.Categorical(library.tensor(1.0)),  # noqa: B023
            lambda: d.kl_divergence(normal, d.Poisson(1.0)),  # noqa: B023
            lambda: d.Independent(normal, 2),  # noqa: B023
        ):
            with pytest.raises((ValueError, NotImplementedError)) as caught:
                call()
            messages.append((type(caught.value), str(caught.value).split(" [test_")[0][:60]))
    half = len(messages) // 2
    assert messages[:half] == messages[half:]


def test_a_policy_learns_which_arm_is_better() -> None:
    ours.manual_seed(0)
    logits = ours.zeros(3, requires_grad=True)
    optimizer = ours.optim.Adam([logits], lr=0.1)
    reward = ours.tensor([0.0, 1.0, 0.2])
    for _ in range(60):
        policy = ours.distributions.Categorical(logits=logits)
        action = policy.sample((16,))
        loss = -(policy.log_prob(action) * reward[action]).mean() - 0.01 * policy.entropy()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert policy.probs.argmax().item() == 1 and policy.probs.max().item() > 0.8


def test_relations_of_classes_are_pytorchs() -> None:
    theirs, mine = torch.distributions, ours.distributions
    names = [n for n in theirs.__all__ if isinstance(getattr(theirs, n), type)]
    pairs = [(a, b) for a in names for b in names]
    expected = {(a, b) for a, b in pairs if issubclass(getattr(theirs, a), getattr(theirs, b))}
    found = {(a, b) for a, b in pairs if issubclass(getattr(mine, a), getattr(mine, b))}
    assert found == expected
    families = mine.ExponentialFamily
    for distribution in (mine.Gamma(ours.tensor(1.5), 2.0), mine.Chi2(ours.tensor(3.0))):
        assert isinstance(distribution, families) and isinstance(distribution, mine.Gamma)
        by_family = families.entropy(distribution)  # type: ignore[arg-type]
        assert abs(by_family.item() - distribution.entropy().item()) < 1e-5


def test_paths_are_pytorchs() -> None:
    from composit.torch.distributions.normal import Normal
    from composit.torch.distributions.transformed_distribution import TransformedDistribution

    from composit.torch.distributions.kl import register_kl

    assert Normal is ours.distributions.Normal
    assert TransformedDistribution is ours.distributions.TransformedDistribution

    class Own(Normal):
        pass

    @register_kl(Own, Own)
    def _own(p: Any, q: Any) -> Any:
        return p.loc * 0 + 7

    assert ours.distributions.kl_divergence(Own(0.0, 1.0), Own(1.0, 1.0)).item() == 7


def test_many_draws_with_replacement_are_one_search() -> None:
    ours.manual_seed(0)
    weights = ours.tensor([[0.2, 0.0, 0.8], [5.0, 5.0, 0.0]])
    drawn = ours.multinomial(weights, 4000, replacement=True)
    assert tuple(drawn.shape) == (2, 4000) and len(drawn.graph) < 40
    shares = ours.stack([(drawn == i).double().mean(1) for i in range(3)], 1)
    np.testing.assert_allclose(shares.tolist(), [[0.2, 0, 0.8], [0.5, 0.5, 0]], atol=0.04)
    one_row = ours.multinomial(ours.tensor([1.0, 3.0]), 2000, True)
    assert abs(one_row.double().mean().item() - 0.75) < 0.05
