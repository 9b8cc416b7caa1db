"""Copies and pickles of modules and parameters: values survive, and are the copy's own."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from seed_modules import CompositeModel_WeightSharing_DifferentInputs, Multiply, SimpleModel

from composit import cg, nn
from composit.cg import models, op

WAYS = {"deepcopy": copy.deepcopy, "pickle": lambda one: pickle.loads(pickle.dumps(one))}
MODELS = {
    "feed-forward": (lambda: models.FeedForward((4, 5, 3), seed=1), (2, 4)),
    "convolutional": (lambda: models.Convolutional(seed=1), (2, 1, 8, 8)),
    "recurrent": (lambda: models.Recurrent(inputs=4, width=5, classes=3, seed=1), (2, 6, 4)),
    "transformer": (lambda: models.Transformer(seed=1), None),
}


@pytest.fixture(params=WAYS)
def copied(request):
    return WAYS[request.param]


def test_a_copy_has_its_own_parameters(copied):
    m = CompositeModel_WeightSharing_DifferentInputs()
    twin = copied(m)
    assert type(twin) is type(m) and twin.name != m.name
    assert twin.functional_name == m.functional_name
    (w,), (own,) = m.parameters(), twin.parameters()
    assert own is not w and own.fun is twin._m1 and w.fun is m._m1
    assert own.name == f"{twin._m1.name}.w"
    assert twin(3, 4).value == m(3, 4).value
    w.assign(100)
    assert own.value == 2 and twin(3, 4).value == 5 * 9 + 6 * 16
    result = twin(3, 4)
    result.back()
    assert result.grad(own) == 25 and result.grad(twin.input("x1")) == 39
    with pytest.raises(ValueError, match="is no input of this call"):
        result.grad(w)
    assert all(one.fun is twin for one in twin.inputs)


@pytest.mark.parametrize("name", [*MODELS])
def test_models(name, copied):
    build, shape = MODELS[name]
    m = build()
    twin = copied(m)
    assert len(twin.parameters()) == len(m.parameters()) > 0
    for one, own in zip(m.parameters(), twin.parameters()):
        assert own is not one and np.array_equal(own.value, one.value)
        assert own.value is not one.value and own.value.dtype == one.value.dtype
    if shape is not None:
        x = np.random.RandomState(0).standard_normal(shape).astype(np.float32)
        assert np.array_equal(twin(x).value, m(x).value)


def test_trained_values_survive(copied):
    x = np.random.RandomState(0).standard_normal((8, 4)).astype(np.float32)
    y = np.arange(8) % 3
    m = models.FeedForward((4, 5, 3), seed=1)
    training = cg.Training(m, nn.cross_entropy, nn.sgd(0.1))
    for _ in range(5):
        training.step(x, y)
    twin = copied(m)
    before = m(x).value
    assert np.array_equal(twin(x).value, before)
    training.step(x, y)
    assert np.array_equal(twin(x).value, before) and not np.array_equal(m(x).value, before)
    again = cg.Training(twin, nn.cross_entropy, nn.sgd(0.1))
    again.step(x, y)
    assert np.array_equal(twin(x).value, m(x).value)


def test_another_process_reads_it(tmp_path):
    m = models.FeedForward((4, 5, 3), seed=1)
    x = np.ones((2, 4), np.float32)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(m))
    code = (
        "import pickle, numpy; m = pickle.load(open('model.pkl', 'rb'));"
        "print(m(numpy.ones((2, 4), 'float32')).value.tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(m(x).value.tolist())


def test_parameters_alone_belong_to_no_function(copied):
    m = SimpleModel(np.array([1.0, 2.0]))
    own = copied(m.param("w"))
    assert own == m.param("w") and own.fun is None and own.name == "w"
    own.assign(np.array([5.0, 2.0]))
    assert m.param("w").value[0] == 1
    other = cg.Module.build("f", lambda self, x: op.mult(x, self.param("w")), cg.Variable("x"), own)
    assert own.fun is other
    waiting = copied(cg.Parameter("w"))
    assert waiting.value is None
    waiting.assign(3)
    assert waiting.value == 3


def test_a_shallow_copy_shares_them():
    m = SimpleModel(2)
    twin = copy.copy(m)
    assert twin.param("w") is m.param("w") and m.param("w").fun is m
    m.param("w").assign(4)
    assert twin(3).value == 7 * 9 and twin.name != m.name


def test_derived_modules_are_copied_with_what_they_are_made_of(copied):
    m = SimpleModel(1.0)
    for derived in (m.gradfn("x"), m.gradfn("w"), m.gradfn("x").gradfn("x"), cg.logspace(m)):
        twin = copied(derived)
        before = derived(3.0).value
        assert twin(3.0).value == before
        (own,) = twin.parameters()
        assert own is not m.param("w") and twin.param("w") is own
        own.assign(7.0)
        assert derived(3.0).value == before
        assert derived is not twin and twin.functional_name == derived.functional_name
    both = copied([m, m.gradfn("x")])
    both[0].param("w").assign(2.0)
    assert both[1](3.0).value == 27 + 12
    slope = copied(Multiply().gradfn("a"))
    assert slope(3.0, 4.0).value == 4


def test_operators_are_copied(copied):
    for operator in (Multiply(), op.Multiply()):
        twin = copied(operator)
        assert twin(3, 4).value == 12 and twin.name != operator.name
    twin = copied(op.Sum(axis=0))
    assert np.array_equal(twin(np.ones((2, 3))).value, [2, 2, 2])


def test_a_built_module_is_copied_and_pickled_as_its_function_is():
    m = cg.Module.build("f", lambda self, x: op.mult(x, self.param("w")), cg.Variable("x"),
                        cg.Parameter("w", 2.0))  # fmt: skip
    twin = copy.deepcopy(m)
    m.param("w").assign(5.0)
    assert twin(3.0).value == 6
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(m)


def test_the_shapes_of_the_latest_call_are_kept(copied, tmp_path):
    m = SimpleModel(1.0)
    m(np.array([1.0, 2.0]))
    assert copied(m).export(tmp_path)
