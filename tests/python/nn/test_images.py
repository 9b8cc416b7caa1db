"""Convolution, its transpose, pooling and padding against PyTorch; bits of all ways; errors."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_agreement import Case, check_against_torch, check_bits

import composit
from composit import nn

rng = np.random.RandomState(11)


def normal(*shape):
    return rng.standard_normal(shape)


def last(x):
    return np.moveaxis(x, 1, -1)


def few(*shape):
    """Few values, so that windows have several maxima: the first one takes the gradient."""
    return rng.randint(-2, 3, shape).astype(float)


CASES = {}


def add(name, ours, theirs, *arrays):
    """The case with channels first, and with channels last."""
    CASES[name] = Case(lambda *x: ours(*x, channels_last=False), theirs, *arrays)
    is_image = [a.ndim >= 3 for a in arrays]

    def theirs_last(*x):
        moved = [v.movedim(-1, 1) if image else v for v, image in zip(x, is_image, strict=True)]
        return theirs(*moved).movedim(1, -1)

    CASES[f"{name} channels last"] = Case(
        lambda *x: ours(*x, channels_last=True),
        theirs_last,
        *[last(a) if image else a for a, image in zip(arrays, is_image, strict=True)],
    )


# x, filters, options: bias, "same" and modes of padding
for x, w, options in [
    ((2, 3, 9), (4, 3, 3), {}),
    ((2, 3, 9), (4, 3, 4), {"padding": "same", "dilation": 2}),
    ((2, 4, 7, 6), (6, 2, 3, 2), {"padding": "same", "groups": 2}),
    ((2, 3, 7, 6), (4, 3, 3, 2), {"padding": "valid", "strides": 2}),
    ((2, 3, 7, 6), (4, 3, 3, 3), {"padding": (2, 1), "padding_mode": "reflect"}),
    ((2, 3, 7, 6), (4, 3, 3, 3), {"padding": 2, "padding_mode": "replicate", "strides": 2}),
    ((2, 6, 5, 6), (6, 1, 3, 3), {"padding": (5, 6), "padding_mode": "circular", "groups": 6}),
    ((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), {"padding": 1, "padding_mode": "replicate"}),
]:
    convolve = (F.conv1d, F.conv2d, F.conv3d)[len(x) - 3]

    def theirs(x, w, b, f=convolve, o=options):
        o = dict(o)
        mode, padding = o.pop("padding_mode", "zeros"), o.get("padding", 0)
        if mode != "zeros":
            each = padding if isinstance(padding, tuple) else (padding,) * (x.ndim - 2)
            x = F.pad(x, [n for p in reversed(each) for n in (p, p)], mode)
            o.pop("padding")
        return f(x, w, b, **{"stride" if k == "strides" else k: v for k, v in o.items()})

    add(
        f"convolution {x} {w} {options}",
        lambda x, w, b, channels_last, o=options: nn.convolution(
            x, w, bias=b, channels_last=channels_last, **o
        ),
        theirs,
        normal(*x),
        normal(*w),
        normal(w[0]),
    )

for x, w, options in [
    ((2, 3, 5), (3, 4, 3), {}),
    ((2, 4, 5), (4, 3, 4), {"strides": 2, "padding": 1, "groups": 2}),
    ((2, 3, 4, 5), (3, 4, 3, 2), {"strides": (2, 3), "padding": (1, 0), "output_padding": (1, 2)}),
    ((2, 6, 4, 4), (6, 1, 3, 3), {"groups": 6, "strides": 2, "padding": 1, "output_padding": 1}),
    ((2, 3, 4, 5), (3, 2, 3, 3), {"dilation": (2, 3), "output_padding": (1, 2)}),
    ((1, 3, 6, 5), (3, 2, 1, 2), {"padding": (2, 3), "strides": 3}),
    ((1, 4, 2, 3, 2), (4, 1, 2, 3, 2), {"strides": 2, "groups": 2, "dilation": (1, 2, 1)}),
]:
    convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[len(x) - 3]
    named = {"stride" if k == "strides" else k: v for k, v in options.items()}
    for bias in (True, False):
        add(
            f"transposed_convolution {x} {w} {options} {bias}",
            lambda x, w, *b, channels_last, o=options: nn.transposed_convolution(
                x, w, bias=b[0] if b else None, channels_last=channels_last, **o
            ),
            lambda x, w, *b, f=convolve, o=named: f(x, w, *b, **o),
            normal(*x),
            normal(*w),
            *([normal(w[1] * options.get("groups", 1))] if bias else []),
        )

for x, options in [
    ((2, 3, 9), {"kernel_size": 3, "strides": 2}),
    ((2, 3, 9), {"kernel_size": 3, "strides": 2, "dilation": 2, "padding": 1}),
    ((2, 3, 7, 8), {"kernel_size": (3, 2), "strides": 2, "ceil_mode": True}),
    ((2, 3, 7, 8), {"kernel_size": 3, "strides": 3, "padding": 1, "ceil_mode": True}),
    ((2, 3, 5, 5), {"kernel_size": 2, "strides": 4, "padding": 1, "ceil_mode": True}),
    ((2, 3, 9, 8), {"kernel_size": 2, "strides": (3, 1), "dilation": (4, 3), "ceil_mode": True}),
    ((1, 2, 5, 6, 4), {"kernel_size": 2, "strides": 3, "padding": 1, "ceil_mode": True}),
    ((1, 2, 6, 6), {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
    ((1, 2, 7, 6), {"kernel_size": 3, "strides": 2, "padding": 1, "ceil_mode": True,
                    "count_include_pad": False}),
    ((1, 2, 5, 6, 4), {"kernel_size": 3, "strides": 2, "padding": 1, "count_include_pad": False}),
]:  # fmt: skip
    theirs = {"stride": 1, **{"stride" if k == "strides" else k: v for k, v in options.items()}}
    for name, kinds in (
        ("max_pool", (F.max_pool1d, F.max_pool2d, F.max_pool3d)),
        ("average_pool", (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)),
    ):
        ours, pool = getattr(nn, name), kinds[len(x) - 3]
        other = "count_include_pad" if name == "max_pool" else "dilation"
        if other in options:
            continue
        add(
            f"{name} {x} {options}",
            lambda x, channels_last, f=ours, o=options: f(x, channels_last=channels_last, **o),
            lambda x, f=pool, o=theirs: f(x, **o),
            few(*x) if name == "max_pool" else normal(*x),
        )

for x, options, size in [
    ((2, 3, 9), {"kernel_size": 3, "strides": 3}, None),
    ((2, 3, 9), {"kernel_size": 3, "strides": 2}, 9),  # windows that share their maxima
    ((2, 3, 7, 8), {"kernel_size": (3, 2), "strides": 2, "padding": 1}, (8, 9)),
    ((2, 3, 7, 8), {"kernel_size": (2, 3)}, None),
    ((1, 2, 5, 6, 4), {"kernel_size": 2, "strides": (2, 3, 2)}, (5, 6, 4)),
]:
    count = len(x) - 2
    theirs = {"kernel_size": options["kernel_size"], "stride": options.get("strides", 1),
              "padding": options.get("padding", 0)}  # fmt: skip
    if count > 1 and "padding" in options:
        theirs["padding"] = (1,) * count
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[count - 1]
    unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[count - 1]
    values, places = pool(torch.tensor(few(*x)), return_indices=True, **theirs)
    whole = None if size is None else ((size,) if isinstance(size, int) else size)

    def unpooled(v, channels_last, i=places, o=options, s=size):
        i = last(i.numpy()) if channels_last else i.numpy()
        return nn.max_unpool(v, i, channels_last=channels_last, output_size=s, **o)

    add(
        f"max_unpool {x} {options}",
        unpooled,
        lambda v, f=unpool, i=places, o=theirs, s=whole: f(v, i, output_size=s, **o),
        values.numpy(),
    )

for x, norm, options in [
    ((2, 3, 9), 2, {"kernel_size": 3, "strides": 2}),
    ((2, 3, 9), 3.0, {"kernel_size": 4, "strides": 3, "ceil_mode": True}),
    ((2, 3, 7, 8), 1.5, {"kernel_size": (3, 2), "strides": (2, 3), "ceil_mode": True}),
    ((2, 3, 7, 8), 2, {"kernel_size": 2, "strides": 2}),
    ((1, 2, 5, 6, 4), 4, {"kernel_size": 2, "strides": 2}),
]:  # fmt: skip
    theirs = {"stride" if k == "strides" else k: v for k, v in options.items()}
    pool = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[len(x) - 3]
    add(
        f"lp_pool {x} {norm} {options}",
        lambda x, channels_last, n=norm, o=options: nn.lp_pool(
            x, n, channels_last=channels_last, **o
        ),
        lambda x, f=pool, n=norm, o=theirs: f(x, n, **o),
        np.maximum(normal(*x), 0),  # whole windows of zeros, too
    )

for x, size in [
    ((2, 3, 9), 3), ((2, 3, 9), 4), ((2, 3, 5), 7), ((2, 3, 7, 8), (3, 4)), ((2, 3, 7, 8), 1),
    ((2, 2, 6, 8), (3, 2)), ((2, 2, 5, 7), (8, 2)), ((1, 2, 5, 6, 4), (2, 3, 3)),
]:  # fmt: skip
    for name, kinds in (
        (
            "adaptive_max_pool",
            (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d),
        ),
        (
            "adaptive_average_pool",
            (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d),
        ),
    ):
        ours, pool = getattr(nn, name), kinds[len(x) - 3]
        add(
            f"{name} {x} {size}",
            lambda x, channels_last, f=ours, s=size: f(x, s, channels_last=channels_last),
            lambda x, f=pool, s=size: f(x, s),
            few(*x) if "max" in name else normal(*x),
        )
for x in [(2, 3, 5), (2, 3, 4, 5)]:
    add(
        f"global_average_pool {x}",
        nn.global_average_pool,
        lambda x: x.mean(tuple(range(2, x.ndim)), keepdim=True),
        normal(*x),
    )
    kind = (F.adaptive_max_pool1d, F.adaptive_max_pool2d)[len(x) - 3]
    add(f"global_max_pool {x}", nn.global_max_pool, lambda x, f=kind: f(x, 1), few(*x))

for x, padding, mode in [
    ((2, 3), (1, 2), "constant"), ((2, 3), (1, 2, 0, 3), "constant"), ((2, 5), (-1, 2), "constant"),
    ((2, 5, 4), (-1, -2, 3, -1), "constant"), ((2, 3, 4), (3, 2), "reflect"),
    ((2, 3, 4, 5), (4, 0, 1, 3), "reflect"), ((1, 2, 3, 4, 5), (1, 2, 3, 0, 2, 1), "reflect"),
    ((2, 3, 4), (7, 2), "replicate"), ((2, 3, 4, 5), (4, 0, 1, 9), "replicate"),
    ((2, 3, 4), (4, 2), "circular"), ((2, 3, 4, 5), (5, 0, 1, 4), "circular"),
    ((2, 3, 4), (0, 0), "circular"), ((2, 3, 6), (-2, 3), "circular"),
]:  # fmt: skip
    CASES[f"pad {x} {padding} {mode}"] = Case(
        lambda x, p=padding, m=mode: nn.pad(x, p, m, 0.5 if m == "constant" else 0),
        lambda x, p=padding, m=mode: F.pad(x, p, m, 0.5 if m == "constant" else None),
        normal(*x),
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    check_against_torch(CASES[name], dtype)


def test_every_operation_of_images_is_compared():
    assert {name.split()[0] for name in CASES} == set(nn.images.__all__)


@pytest.mark.long_tail
@pytest.mark.parametrize("kind", nn.images.__all__)
def test_all_ways_give_the_same_bits(kind):
    check_bits(case for name, case in CASES.items() if name.split()[0] == kind)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((2, 3, 9), {"kernel_size": 3, "strides": 2, "padding": 1}),
        ((2, 3, 7, 8), {"kernel_size": (3, 2), "strides": 2, "dilation": (1, 2)}),
        ((2, 3, 5, 6, 4), {"kernel_size": 2, "strides": 2, "ceil_mode": True}),
    ],
)
@pytest.mark.parametrize("channels_last", [False, True])
def test_indices_of_maxima(shape, options, channels_last):
    x = few(*shape)
    theirs = {"stride" if k == "strides" else k: v for k, v in options.items()}
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[len(shape) - 3]
    values, indices = pool(torch.tensor(x), return_indices=True, **theirs)
    found = nn.max_pool(
        last(x) if channels_last else x, channels_last=channels_last, return_indices=True, **options
    )
    for ours, expected in zip(found, (values, indices), strict=True):
        expected = last(expected.numpy()) if channels_last else expected.numpy()
        assert ours.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(ours), expected)


def test_integers_are_pooled():
    x = rng.randint(-100, 100, (1, 2, 5, 5)).astype("int8")
    ours = np.asarray(nn.max_pool(x, kernel_size=3, channels_last=False, padding=1))
    expected = F.max_pool2d(torch.tensor(x.astype("f")), 3, 1, 1).numpy()
    assert ours.dtype == np.int8
    np.testing.assert_array_equal(ours, expected)


X, W = np.ones((1, 4, 5, 5)), np.ones((6, 2, 3, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: nn.convolution(X, W, channels_last=False, groups=2, bias=np.ones(5)),
            r"convolution: bias has shape \(5,\)\. \(6,\), one number for each "
            r"channel, is required",
        ),
        (
            lambda: nn.convolution(X, W, channels_last=False, groups=2, padding="same", strides=2),
            r"convolution: strides are \(2, 2\)\. Padding 'same' requires strides of 1\.",
        ),
        (
            lambda: nn.convolution(
                X, W, channels_last=False, groups=2, padding=1, padding_mode="mirror"
            ),
            r"convolution: mode is 'mirror'\. Available: constant, reflect, replicate, circular\.",
        ),
        (
            lambda: nn.transposed_convolution(X, W, channels_last=False),
            r"transposed_convolution: channels do not fit: x has shape \(1, 4, 5, "
            r"5\), filters have "
            r"shape \(6, 2, 3, 3\), groups is 1\. x\.shape\[1\] must equal filters\.shape\[0\]",
        ),
        (
            lambda: nn.transposed_convolution(
                X, W[:4], channels_last=False, strides=2, output_padding=2
            ),
            r"transposed_convolution: output_padding is \(2, 2\), strides are \(2, "
            r"2\), dilation is "
            r"\(1, 1\)\. Less than the stride or the dilation is required\.",
        ),
        (
            lambda: nn.transposed_convolution(X, W[:4], channels_last=False, padding=9),
            r"transposed_convolution: axis 2 of the result would have -11 elements",
        ),
        (
            lambda: nn.adaptive_average_pool(X[:, :, :0], 2),
            r"adaptive_average_pool: x has shape \(1, 4, 0, 5\)\. Spatial axes that are not empty",
        ),
        (
            lambda: nn.global_max_pool(np.ones((3, 4))),
            r"global_max_pool: x has shape \(3, 4\)\. 3, 4 or 5 dimensions",
        ),
        (
            lambda: nn.max_pool(X, kernel_size=3, channels_last=False, dilation=3),
            r"max_pool: the window is larger than the padded input along spatial "
            r"axis 0: x has shape",
        ),
        (
            lambda: nn.pad(X, (1, 2, 3)),
            r"pad: padding is \(1, 2, 3\), x has shape \(1, 4, 5, 5\)\.",
        ),
        (
            lambda: nn.pad(X, (5, 0), "reflect"),
            r"pad: 5 elements of mode 'reflect' along axis 3 of shape \(1, 4, 5, "
            r"5\)\. At most 4 are",
        ),
        (
            lambda: nn.pad(X, (-3, -3)),
            r"pad: -3 and -3 elements around axis 3 of shape \(1, 4, 5, 5\) leave no length\.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        composit.evaluate(call())


def test_norms_of_windows_that_cannot_be():
    x = np.ones((1, 1, 4, 4))
    for norm in (0, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"lp_pool: norm_type is .*other than 0 is required"):
            nn.lp_pool(x, norm, kernel_size=2, channels_last=False)
    with pytest.raises(ValueError, match="lp_pool: "):
        nn.lp_pool(x, 2, kernel_size=5, channels_last=False)


def test_what_max_unpool_refuses():
    x, places = np.ones((1, 1, 2, 2), "float32"), np.arange(4).reshape(1, 1, 2, 2)
    windows = {"kernel_size": 2, "strides": 2, "channels_last": False}
    with pytest.raises(IndexError, match="out of bounds"):
        np.asarray(nn.max_unpool(x, places + 13, **windows))
    for wrong, message in [
        ({"indices": places[:, :, 1:]}, "indices have shape (1, 1, 1, 2). They must be equal."),
        ({"output_size": (4, 6)}, "between 2 and 6 is required"),
        ({"padding": 3}, "would have -2 elements along spatial axis 0"),
    ]:
        arguments = {"indices": places, **windows, **wrong}
        with pytest.raises(ValueError) as raised:
            nn.max_unpool(x, arguments.pop("indices"), **arguments)
        assert message in str(raised.value)
    with pytest.raises(TypeError, match="indices are float32"):
        nn.max_unpool(x, x, **windows)
    batched = composit.vmap(lambda x, i: nn.max_unpool(x, i, **windows))(x[None], places[None])
    assert np.array_equal(batched, np.asarray(nn.max_unpool(x, places, **windows))[None])
