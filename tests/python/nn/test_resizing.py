"""Resizing, shuffling and windows as columns against PyTorch; bits of all ways; errors."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_agreement import Case, check_against_torch, check_bits

import composit
from composit import nn

rng = np.random.RandomState(12)


def normal(*shape):
    return rng.standard_normal(shape)


CASES = {}


def add_interpolate(shape, **options):
    """The case with channels first, and with channels last."""
    x = normal(*shape)
    name = f"interpolate {shape} {options}"
    theirs = dict(options)
    if theirs["mode"] in ("bilinear", "linear", "trilinear", "bicubic"):
        theirs["mode"] = {3: "linear", 4: "bilinear", 5: "trilinear"}[len(shape)]
        if options["mode"] == "bicubic":
            theirs["mode"] = "bicubic"
    CASES[name] = Case(
        lambda x: nn.interpolate(x, **options), lambda x: F.interpolate(x, **theirs), x
    )
    CASES[f"{name} channels last"] = Case(
        lambda x: nn.interpolate(x, **options, channels_last=True),
        lambda x: F.interpolate(x.movedim(-1, 1), **theirs).movedim(1, -1),
        np.moveaxis(x, 1, -1),
    )


for size in (4, 6, 10, 11, 2, 1, 5):  # of 5
    for mode in ("nearest", "nearest-exact", "linear", "area"):
        add_interpolate((2, 3, 5), size=size, mode=mode)
for mode in ("nearest", "nearest-exact", "linear"):
    # PyTorch's gradient of "nearest" at 1.1 is not that of its values.
    for factor in (2, 1.7, 0.6, 3) + ((1.1,) if mode != "nearest" else ()):
        add_interpolate((2, 3, 5), scale_factor=factor, mode=mode)
for align in (False, True):
    for mode in ("bilinear", "bicubic"):
        for options in (
            {"size": (7, 9)}, {"size": (3, 2)}, {"size": 1}, {"scale_factor": (2.0, 2.0)},
            {"scale_factor": (1.3, 0.7)}, {"size": (4, 6)},
        ):  # fmt: skip
            add_interpolate((2, 2, 4, 6), mode=mode, align_corners=align, **options)
    add_interpolate((2, 2, 5), size=8, mode="linear", align_corners=align)
    add_interpolate((1, 2, 3, 4, 2), size=(5, 3, 4), mode="trilinear", align_corners=align)
    add_interpolate((1, 2, 3, 4, 2), size=6, mode="linear", align_corners=align)
for mode in ("bilinear", "bicubic"):
    for options in ({"size": (3, 9)}, {"size": (13, 2)}, {"scale_factor": 0.4}, {"size": (5, 3)}):
        add_interpolate((2, 2, 9, 7), mode=mode, antialias=True, **options)
for mode in ("nearest", "nearest-exact", "area"):
    add_interpolate((2, 2, 4, 6), size=(9, 4), mode=mode)
    add_interpolate((1, 2, 3, 4, 2), scale_factor=2, mode=mode)

# Lengths with common divisors: results by groups.
for length, size in ((12, 24), (12, 36), (24, 12), (24, 8), (12, 18), (18, 12), (30, 6), (12, 96)):
    for mode in ("nearest", "nearest-exact", "linear"):
        add_interpolate((2, 2, length), size=size, mode=mode)
    add_interpolate((2, 2, length), size=size, mode="linear", align_corners=True)
    for mode in ("bilinear", "bicubic"):
        add_interpolate((1, 2, length, 5), size=(size, 5), mode=mode)
        add_interpolate((1, 2, 4, length), size=(8, size), mode=mode, antialias=True)

for shape, factor in [((2, 12, 3, 4), 2), ((18, 2, 3), 3), ((2, 3, 4, 1, 2), 2), ((1, 4, 3, 2), 1)]:
    wide = (*shape[:-3], shape[-3] // factor**2, shape[-2] * factor, shape[-1] * factor)
    for name, sizes in (("pixel_shuffle", shape), ("pixel_unshuffle", wide)):
        ours, peer, x = getattr(nn, name), getattr(F, name), normal(*sizes)
        CASES[f"{name} {sizes} {factor}"] = Case(
            lambda x, f=ours, r=factor: f(x, r), lambda x, f=peer, r=factor: f(x, r), x
        )
        CASES[f"{name} {sizes} {factor} channels last"] = Case(
            lambda x, f=ours, r=factor: f(x, r, channels_last=True),
            lambda x, f=peer, r=factor: f(x.movedim(-1, -3), r).movedim(-3, -1),
            np.moveaxis(x, -3, -1),
        )
for shape, groups in [((2, 6, 3, 4), 3), ((2, 6, 5), 2), ((1, 4, 2, 3, 2), 4)]:
    CASES[f"channel_shuffle {shape} {groups}"] = Case(
        lambda x, g=groups: nn.channel_shuffle(x, g),
        lambda x, g=groups: F.channel_shuffle(x, g),
        normal(*shape),
    )
    CASES[f"channel_shuffle {shape} {groups} channels last"] = Case(
        lambda x, g=groups: nn.channel_shuffle(x, g, channels_last=True),
        lambda x, g=groups: F.channel_shuffle(x.movedim(-1, 1), g).movedim(1, -1),
        np.moveaxis(normal(*shape), 1, -1),
    )
for options in (
    {"kernel_size": (2, 3)}, {"kernel_size": 3, "padding": 1}, {"kernel_size": 2, "strides": 2},
    {"kernel_size": (3, 2), "strides": (2, 1), "padding": (2, 1), "dilation": (1, 2)},
):  # fmt: skip
    theirs = {"stride" if k == "strides" else k: v for k, v in options.items()}
    CASES[f"unfold {options}"] = Case(
        lambda x, o=options: nn.unfold(x, **o),
        lambda x, o=theirs: F.unfold(x, **o),
        normal(2, 3, 6, 7),
    )
    columns = F.unfold(torch.ones(2, 3, 6, 7), **theirs).shape
    CASES[f"fold {options}"] = Case(
        lambda x, o=options: nn.fold(x, (6, 7), **o),
        lambda x, o=theirs: F.fold(x, (6, 7), **o),
        normal(*columns),
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    check_against_torch(CASES[name], dtype)


def test_every_function_is_compared():
    assert {name.split()[0] for name in CASES} == set(nn.resizing.__all__)


@pytest.mark.long_tail
@pytest.mark.parametrize("kind", nn.resizing.__all__)
def test_all_ways_give_the_same_bits(kind):
    check_bits(case for name, case in CASES.items() if name.split()[0] == kind)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool", "complex64", "float16"])
def test_nearest_elements_of_any_dtype(mode, dtype):
    x = (rng.randint(0, 100, (1, 2, 5, 3)) % (2 if dtype == "bool" else 100)).astype(dtype)
    result = np.asarray(nn.interpolate(x, (7, 4), mode=mode))
    peer = F.interpolate(torch.tensor(x.real.astype("f")), (7, 4), mode=mode).numpy()
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result, peer.astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_computed_in_float32(dtype):
    import ml_dtypes

    numpy_dtype = np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    x = normal(2, 3, 9, 8).astype(numpy_dtype)
    ours = np.asarray(nn.interpolate(x, (14, 5), mode="bicubic"))
    assert ours.dtype == numpy_dtype
    wide = F.interpolate(torch.tensor(x.astype("f")), (14, 5), mode="bicubic").numpy()
    step = 2.0**-10 if dtype == "float16" else 2.0**-7
    np.testing.assert_allclose(ours.astype("f"), wide, rtol=step, atol=1e-6)


def test_integers_become_float64_where_elements_are_weighted():
    x = np.arange(12).reshape(1, 1, 3, 4)
    ours = np.asarray(nn.interpolate(x, 5, mode="bilinear"))
    assert ours.dtype == np.float64
    peer = F.interpolate(torch.tensor(x.astype("d")), 5, mode="bilinear").numpy()
    np.testing.assert_allclose(ours, peer, rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_random_sizes(seed):
    """Lengths, factors and modes drawn at random; float32 as PyTorch rounds its positions."""
    draw = np.random.RandomState(seed)
    shape = (1, 2, *draw.randint(1, 40, 2))
    x = draw.standard_normal(shape).astype("f")
    for _ in range(8):
        mode = draw.choice(["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
        options = {"mode": mode}
        if mode in ("bilinear", "bicubic"):
            options["align_corners"] = bool(draw.randint(2))
            options["antialias"] = bool(draw.randint(2))
        if draw.randint(2):
            options["size"] = tuple(int(n) for n in draw.randint(1, 60, 2))
        else:
            options["scale_factor"] = tuple(draw.uniform(1 / np.array(shape[2:]), 3))
        ours = np.asarray(nn.interpolate(x, **options))
        theirs = F.interpolate(torch.tensor(x), **options).numpy()
        exact = mode.startswith("nearest")
        np.testing.assert_allclose(ours, theirs, 0 if exact else 1e-4, 0 if exact else 3e-5)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "bicubic", "aligned"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_factors_that_keep_a_length_or_double_it(axes, mode):
    options = {"mode": mode}
    if mode in ("bicubic", "aligned"):
        options = {"mode": "bicubic", "align_corners": mode == "aligned"}
        axes = 2
    theirs = dict(options)
    if mode == "linear":
        theirs["mode"] = ("linear", "bilinear", "trilinear")[axes - 1]
    for length in (4, 5):
        x = normal(1, 2, *[length] * axes).astype("f")
        for factor in (1.1, 2.2, 1.02):
            ours = np.asarray(nn.interpolate(x, scale_factor=factor, **options))
            peer = F.interpolate(torch.tensor(x), scale_factor=factor, **theirs).numpy()
            np.testing.assert_allclose(ours, peer, rtol=1e-4, atol=1e-5)


def test_columns_of_one_and_three_axes():
    x = normal(2, 3, 7)
    np.testing.assert_array_equal(
        np.asarray(nn.unfold(x, 3, strides=2)),
        np.lib.stride_tricks.sliding_window_view(x, 3, -1)[:, :, ::2].transpose(0, 1, 3, 2).reshape(
            2, 9, 3
        ),
    )  # fmt: skip
    cube = normal(1, 2, 3, 4, 5)
    columns = nn.unfold(cube, 2)
    counts = np.asarray(nn.fold(nn.unfold(np.ones_like(cube), 2), (3, 4, 5), 2))
    np.testing.assert_allclose(np.asarray(nn.fold(columns, (3, 4, 5), 2)) / counts, cube)


X = np.ones((1, 4, 5, 5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.interpolate(X), r"neither size nor scale_factor is given\. One of them"),
        (lambda: nn.interpolate(X, 3, mode="cubic"), r"mode is 'cubic'\. Available: nearest, "),
        (
            lambda: nn.interpolate(X, 3, mode="trilinear"),
            r"mode is 'trilinear', x has shape \(1, 4, 5, 5\)\. 3 spatial axes are required\.",
        ),
        (
            lambda: nn.interpolate(X, 3, align_corners=True),
            r"align_corners is of mode 'nearest'\. Linear and cubic modes have it\.",
        ),
        (
            lambda: nn.interpolate(X[0], 3, mode="linear", antialias=True),
            r"antialias is of mode 'linear' with 1 spatial axes",
        ),
        (lambda: nn.interpolate(X, (3, 0)), r"interpolate: size is \(3, 0\)\."),
        (lambda: nn.interpolate(X, (3, 2, 1)), r"interpolate: size"),
        (lambda: nn.interpolate(X, scale_factor=[1, 2, 3]), r"scale_factor has 3 numbers"),
        (lambda: nn.interpolate(X, scale_factor=-1), r"scale_factor is -1\. A positive number"),
        (
            lambda: nn.interpolate(X, scale_factor=[2, "b"]),
            r"scale_factor is \[2, 'b'\]\. A number",
        ),
        (lambda: nn.interpolate(X, scale_factor=float("nan")), r"scale_factor is nan\."),
        (lambda: nn.interpolate(X, scale_factor=0.1), r"spatial axis 0 of shape \(1, 4, 5, 5\)"),
        (lambda: nn.interpolate(X, scale_factor=1e30), r"At least 1, less than 2\^31 is required"),
        (lambda: nn.interpolate(X[:, :, :0], 3), r"Spatial axes that are not empty are required"),
        (lambda: nn.interpolate(X + 1j, 3, mode="area"), r"interpolate: x is complex128"),
        (lambda: nn.pixel_shuffle(X, 3), r"pixel_shuffle: .* 4 channels\. A multiple of factor²"),
        (lambda: nn.pixel_unshuffle(X, 2), r"multiples of factor = 2 are required"),
        (lambda: nn.pixel_shuffle(X, 0), r"pixel_shuffle: factor is 0\. At least 1 is required"),
        (lambda: nn.channel_shuffle(X, 3), r"groups is 3, x has shape \(1, 4, 5, 5\)\. A divisor"),
        (lambda: nn.unfold(X, 6), r"unfold: the window is larger than the padded image along"),
        (
            lambda: nn.fold(np.ones((1, 9, 4)), (5, 5), 3),
            r"fold: columns have shape \(1, 9, 4\)\. \(batch, a multiple of 9, 9\) is required "
            r"for images of \(5, 5\)\.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        composit.evaluate(call())
