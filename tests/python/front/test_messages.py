"""Arguments of the wrong kind: the function, the value, what is required, and the user's line."""

import re

import numpy as np
import pytest

from composit import nn
from composit import numpy as cnp

W = cnp.ones(3)
STEP = nn.sgd_optimizer(0.1)

REFUSED = [
    (
        ValueError,
        lambda: nn.optimize([W], [], STEP),
        "optimize: 1 parameters and 0 gradients. As many of each are required.",
    ),
    (
        ValueError,
        lambda: nn.optimize([W, W], [W], STEP),
        "optimize: 2 parameters and 1 gradients. As many of each are required.",
    ),
    (
        ValueError,
        lambda: nn.optimize([W], iter([W, W]), STEP),
        "optimize: 1 parameters and 2 gradients. As many of each are required.",
    ),
    (
        ValueError,
        lambda: nn.optimize([W, W], [W, W], STEP, lambda *x: [np.ones(3)]),
        "optimize: evaluate returned 1 values for 2 parameters. As many of each are required.",
    ),
    (
        TypeError,
        lambda: nn.optimize([W], [W], None),
        "optimize: None is not a function, which is required.",
    ),
    (TypeError, lambda: nn.sgd("a"), "sgd: learning_rate is 'a'. A number is required."),
    (
        TypeError,
        lambda: nn.adam(learning_rate="x"),
        "adam: learning_rate is 'x'. A number is required.",
    ),
    (TypeError, lambda: nn.adamw(beta2=None), "adamw: beta2 is None. A number is required."),
]


@pytest.mark.parametrize(
    ("error", "call", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED]
)
def test_messages(error, call, text):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert re.fullmatch(re.escape(text) + r" \[test_messages\.py:\d+\]", message), message
