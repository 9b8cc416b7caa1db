"""Random kernels with arrays at kinks, poles and the ends of domains: forward and reverse
derivatives are the same, interpreted and compiled.

COMPOSIT_KNOSSOS_FUZZ=100000 tries that many in place of 200; COMPOSIT_KNOSSOS_SEED gives others.
"""

import os

import array_kink_grammar
import numpy as np
import pytest
from array_grammar import HEADER
from kink_grammar import AT
from test_array_fuzz import module_of
from test_fuzz import outcome

from composit import _core, knossos

COUNT = int(os.environ.get("COMPOSIT_KNOSSOS_FUZZ", "200"))
SEED = int(os.environ.get("COMPOSIT_KNOSSOS_SEED", "0"))
PARTS = 4
TOGETHER = 50  # kernels of a module, and of what is compiled at once
CALLS = 4


def kernels_of(random, count, path):
    names = [f"kernel_{i}" for i in range(count)]
    texts = [array_kink_grammar.written(random, name) for name in names]
    module = module_of(path, HEADER + "\n\n".join(texts))
    for name, text in zip(names, texts, strict=True):
        kernel = knossos.register(getattr(module, name))
        members = [kernel, kernel.vjp, kernel.jvp]
        for each in members:
            each._use(_core.procedure.interpreted(each.procedure()))
        yield text, members


def at_special_places(random):
    n = int(random.integers(1, 4))
    x, y = (np.array([AT[k] for k in random.integers(7, size=n)]) for _ in range(2))
    return x, y, AT[random.integers(7)]


def flat(made):
    return np.concatenate([np.ravel(each) for each in made])


def along(members, call, direction):
    n = len(call[0])
    return flat(members[2](*call, direction[:n], direction[n : 2 * n], float(direction[-1])))


def is_finite_on_the_way(kernel, call):
    with np.errstate(all="raise", under="ignore"):
        return outcome(kernel.__wrapped__, call) is not None


def jacobians(members, call):
    """By forward and by reverse mode: a row for each result."""
    n = len(call[0])
    forward = np.array([along(members, call, each) for each in np.eye(2 * n + 1)]).T
    reverse = [flat(members[1](*call, each[:n], float(each[n]))) for each in np.eye(n + 1)]
    return forward, np.array(reverse)


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_modes(part, tmp_path):
    random = np.random.default_rng([SEED, 500 + part])
    tried = known = 0
    for batch in range(0, COUNT // PARTS, TOGETHER):
        for text, members in kernels_of(random, TOGETHER, tmp_path / f"kinks_{batch}.py"):
            for _ in range(CALLS):
                call = at_special_places(random)
                if not is_finite_on_the_way(members[0], call):
                    continue
                forward, reverse = jacobians(members, call)
                # Infinite slopes that cancel are not known: in either mode.
                same = ~np.isnan(forward) & ~np.isnan(reverse)
                at = (text, call, forward, reverse)
                assert np.allclose(forward[same], reverse[same], rtol=1e-9, atol=1e-12), at
                assert not np.any(flat(members[1](*call, 0 * call[0], 0.0))), at
                tried, known = tried + same.size, known + same.sum()
    assert tried > 0 and known > 0.95 * tried


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_compiled(tmp_path):
    random = np.random.default_rng([SEED, 600])
    for batch in range(0, max(TOGETHER, COUNT // 100), TOGETHER):
        made = list(kernels_of(random, TOGETHER, tmp_path / f"compiled_{batch}.py"))
        family = [each.procedure() for _, members in made for each in members]
        codes = iter(_core.procedure.load_arrays("array_kinks", [family], ""))
        calls = [at_special_places(random) for _ in range(CALLS)]
        for text, members in made:
            for k, each in enumerate(members):
                code = next(codes)
                for call in calls:
                    n = len(call[0])
                    more = [(), (np.ones(n), 1.0), (np.ones(n), np.ones(n), 1.0)][k]
                    slow = flat(each(*call, *more))
                    each._use(code)
                    np.testing.assert_array_equal(flat(each(*call, *more)), slow, text)
                    each._use(_core.procedure.interpreted(each.procedure()))
