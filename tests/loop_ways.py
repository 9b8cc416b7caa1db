"""Every way to run a loop, and the loop in Python that it means."""

import numpy as np

import composit
import composit.numpy as cnp
from composit import mosaic
from composit.structure import flatten

# Options of compile.
WAYS = {
    "interpreter": {"backend": "interpreter"},
    "interpreter, two threads": {"backend": "interpreter", "threads": 2},
    "one thread": {"threads": 1},
    "two threads": {"threads": 2},
}
MORE_WAYS = {
    "interpreter, rows fused": {"backend": "interpreter", "bytes_of_part": 64},
    "rows fused": {"bytes_of_part": 64},
    "interpreter, not fused": {"backend": "interpreter", "fuse": False},
    "not fused": {"fuse": False},
    "no memory used again": {"reuse_buffers": False},
}


def unrolled(lower, upper, body, init):
    """The same, each iteration evaluated on its own."""
    state = init
    for i in range(lower, upper):
        leaves, rebuild = flatten(body(cnp.asarray(np.int64(i)), state))
        state = rebuild([cnp.asarray(np.asarray(x)) for x in leaves])
    return state


def arrays(state):
    return [np.asarray(leaf) for leaf in flatten(state)[0]]


def same_bits(found, expected, way):
    for a, b in zip(arrays(found), arrays(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), way
        nan = np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else np.zeros(a.shape, bool)
        assert np.where(nan, 0, a).tobytes() == np.where(nan, 0, b).tobytes(), way


def check_all_ways(function, expected, *arguments, more=False):
    """`function` of nests gives the bits of `expected`, evaluated and compiled; in all ways."""
    tensors = [_mapped(cnp.asarray, argument) for argument in arguments]
    same_bits(function(*tensors), expected, "evaluated")
    for way, options in (WAYS | MORE_WAYS if more else WAYS).items():
        same_bits(composit.compile(function, **options)(*arguments), expected, way)
    if not more:
        return
    places = [
        _mapped(lambda x: composit.placeholder("x", np.shape(x), np.asarray(x).dtype), argument)
        for argument in arguments
    ]
    values = [x for argument in arguments for x in flatten(argument)[0]]
    inputs = [x for argument in places for x in flatten(argument)[0]]
    leaves = flatten(function(*places))[0]
    for target in ("cpp", "interpreter"):
        program = mosaic.compile(*leaves, inputs=inputs, target=target, whole_model=False)
        found = program(*values)
        found = found if isinstance(found, (list, tuple)) else [found]
        same_bits(list(found), flatten(expected)[0], f"mosaic, {target}, kernel by kernel")


def _mapped(function, state):
    leaves, rebuild = flatten(state)
    return rebuild([function(leaf) for leaf in leaves])
