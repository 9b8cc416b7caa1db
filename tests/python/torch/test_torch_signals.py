"""Short-time Fourier transforms beside PyTorch's, with all their options, and what they refuse."""

import itertools
import warnings

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

LIBRARIES = (torch, peer)


def draws(*shape, is_complex=False):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(shape)
    return values + 1j * rng.standard_normal(shape) if is_complex else values


def both(function):
    """The results of a function of the library, as arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [function(library).detach().numpy() for library in LIBRARIES]


@pytest.mark.parametrize(("is_complex", "window_is_complex", "center", "onesided", "normalized"), [
    row for row in itertools.product((False, True), repeat=5)
    if not (row[3] and (row[0] or row[1]))
])  # fmt: skip
def test_transforms_and_back(is_complex, window_is_complex, center, onesided, normalized):
    x = draws(2, 70, is_complex=is_complex)
    w = 1 + 0.2 * draws(12, is_complex=window_is_complex)
    returns_complex = is_complex or window_is_complex
    options = {"n_fft": 16, "hop_length": 3, "win_length": 12, "center": center,
               "onesided": onesided, "normalized": normalized}  # fmt: skip
    if not center:
        options["win_length"], w = 16, np.resize(w, 16)
    mine, theirs = both(
        lambda t: t.stft(t.tensor(x), window=t.tensor(w), return_complex=True, **options)
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)
    for length in (None, 40, 70) if center else (None, 40, 100):
        back = {**options, "return_complex": returns_complex, "length": length}
        found = [t.istft(t.tensor(theirs), window=t.tensor(w), **back) for t in LIBRARIES]
        mine, theirs_back = (x.numpy() for x in found)
        assert mine.dtype == theirs_back.dtype
        np.testing.assert_allclose(mine, theirs_back, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("aligned", [None, True, False])
def test_frames_are_aligned_to_windows(aligned):
    x, w = draws(64), np.ones(8)
    mine, theirs = both(lambda t: t.stft(
        t.tensor(x), 16, 4, 8, t.tensor(w), center=False, return_complex=True,
        align_to_window=aligned,
    ))  # fmt: skip
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


REFUSED = {
    "the kind of the result": lambda t, x, s, w: t.stft(x, 16, window=w),
    "the window's length": lambda t, x, s, w: t.stft(x, 16, window=w[:5], return_complex=True),
    "a long window": lambda t, x, s, w: t.stft(x, 16, None, 20, w, return_complex=True),
    "a step back": lambda t, x, s, w: t.stft(x, 16, -1, window=w, return_complex=True),
    "no step": lambda t, x, s, w: t.stft(x, 16, 0, window=w, return_complex=True),
    "long frames": lambda t, x, s, w: t.stft(
        x, 100, window=t.ones(100), return_complex=True, center=False
    ),
    "half of a complex one": lambda t, x, s, w: t.stft(x + 0j, 16, window=w, onesided=True),
    "three dimensions": lambda t, x, s, w: t.stft(x[None], 16, window=w, return_complex=True),
    "integers": lambda t, x, s, w: t.stft(x.long(), 16, window=w, return_complex=True),
    "aligned and centred": lambda t, x, s, w: t.stft(
        x, 16, window=w, return_complex=True, align_to_window=True
    ),
    "back: frequencies": lambda t, x, s, w: t.istft(s, 16, window=w, onesided=False),
    "back: other frequencies": lambda t, x, s, w: t.istft(s, 14, window=w[:14]),
    "back: half to complex": lambda t, x, s, w: t.istft(s, 16, window=w, return_complex=True),
    "back: a long step": lambda t, x, s, w: t.istft(s, 16, 17, window=w),
    "back: the window": lambda t, x, s, w: t.istft(s, 16, window=w[:5]),
    "back: a long window": lambda t, x, s, w: t.istft(s, 16, 4, 18, window=w),
    "back: real numbers": lambda t, x, s, w: t.istft(s.real, 16, window=w),
    "back: four dimensions": lambda t, x, s, w: t.istft(s[None], 16, window=w),
    "back: nothing": lambda t, x, s, w: t.istft(s[..., :0], 16, window=w),
    "back: a complex window": lambda t, x, s, w: t.istft(s, 16, window=w + 0j),
    "back: a gap": lambda t, x, s, w: t.istft(s, 16, window=t.hann_window(16), center=False),
    "back: no length": lambda t, x, s, w: t.istft(s, 16, window=w, length=0),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind):
    for t in LIBRARIES:
        x, w = t.tensor(draws(2, 64)), t.ones(16, dtype=t.float64)
        s = t.stft(x, 16, window=w, return_complex=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(RuntimeError):
                REFUSED[kind](t, x, s, w)


def test_texts_of_refusals():
    x = torch.ones(2, 64)
    s = torch.stft(x, 16, window=torch.ones(16), return_complex=True)
    with pytest.raises(RuntimeError, match="istft: expected the frequency dimension .* to match "
                       r"n_fft when onesided=False, but got 9"):  # fmt: skip
        torch.istft(s, 16, window=torch.ones(16), onesided=False)
    with pytest.raises(RuntimeError, match="istft: window overlap add min: 0"):
        torch.istft(s, 16, window=torch.hann_window(16), center=False)
    with pytest.raises(RuntimeError, match="size equal to win_length=16, but got window with size"):
        torch.stft(x, 16, window=torch.ones(5), return_complex=True)


COMPLEX = {
    "logaddexp": lambda t, a, b: t.logaddexp(a, b),
    "logcumsumexp": lambda t, a, b: t.logcumsumexp(a, 1),
    "rms_norm": lambda t, a, b: t.nn.functional.rms_norm(a, (7,), b[0]),
    "logsumexp": lambda t, a, b: t.logsumexp(a, 1),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name):
    a, b = 3 * draws(4, 7, is_complex=True), draws(4, 7, is_complex=True)[::-1].copy()
    results = []
    for t in LIBRARIES:
        one, two = (t.tensor(x, requires_grad=True) for x in (a, b))
        result = COMPLEX[name](t, one, two)
        (result.abs() ** 2).sum().backward()
        results.append([x.detach().resolve_conj().numpy() for x in (result, one.grad)])
    for mine, theirs in zip(*results):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11)


def test_sums_of_exponentials_of_nothing():
    for t in LIBRARIES:
        x = t.tensor([complex(-np.inf, 0), complex(-np.inf, 0), 1 + 1j])
        assert t.logaddexp(x[0], x[1]).real.item() == -np.inf
        np.testing.assert_allclose(t.logcumsumexp(x, 0)[2].numpy(), 1 + 1j)
