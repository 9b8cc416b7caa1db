"""One program on several devices: the bits of one, whoever decides where kernels run."""

import json
import pickle
import re
import xml.etree.ElementTree

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic

RANDOM = np.random.RandomState(11)
X, Y = (RANDOM.standard_normal((8, 16)).astype("float32") for _ in range(2))
WEIGHTS = [
    cnp.asarray(RANDOM.standard_normal((16, 16)).astype("float32") / 4, name=f"layers.{i}.weight")
    for i in range(3)
]


def same(x, y):
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def network(x):
    for w in WEIGHTS:
        x = cnp.tanh(x @ w) + x
    return cnp.sum(x, axis=1), x


def where(compiled):
    return [(kernel, backend) for kernel, backend, _ in compiled.placements]


@pytest.fixture(scope="module")
def expected():
    return composit.compile(network)(X)


def test_parts_of_a_model_go_to_devices_and_what_is_between_follows(apart, opencl, expected):
    compiled = composit.compile(network, X, place={"layers.0": apart, "layers.1": opencl})
    assert where(compiled) == [
        ("contract_2", apart), ("tanh_add", apart), ("contract_4", opencl),
        ("tanh_add_2", opencl), ("contract_6", opencl), ("tanh_add_3", opencl), ("sum_2", opencl),
    ]  # fmt: skip
    for value, known in zip(compiled(X), expected):
        assert isinstance(value, np.ndarray) and same(value, known)


@pytest.mark.parametrize(
    "place",
    [
        {"layers": "opencl"}, {"tanh*": "interpreter"}, {"sum*": "apart", "layers.2": "opencl"},
        {"layers.0.weight": "apart", "layers.1.weight": "interpreter"}, {"x": "opencl:0"}, {},
        {"layers": "apart", "layers.1": "cpu"}, {WEIGHTS[1]: "opencl"},
    ],
    ids=str,
)  # fmt: skip
def test_rules_change_no_bit(apart, opencl, expected, place):
    compiled = composit.compile(network, X, place=place)
    for value, known in zip(compiled(X), expected):
        assert same(value, known)
    named = {device.partition(":")[0] for device in place.values()} - {"cpu"}
    assert named <= {backend.partition(":")[0] for _, backend in where(compiled)}


def test_rules_name_kernels_tensors_and_lines(apart):
    def f(x):
        hidden = cnp.exp(x @ WEIGHTS[0])
        return cnp.sum(hidden), x * 2

    line = f"test_placement.py:{f.__code__.co_firstlineno + 2}"
    for name in (line, "multiply", "multi*"):
        compiled = composit.compile(f, X, place={name: apart})
        assert ("multiply_2", apart) in where(compiled)
        assert ("contract_2", "cpp") in where(compiled)
    # A kernel of that name alone; the last rule that fits decides.
    place = {"*": apart, "multiply": "cpu"}
    compiled = composit.compile(f, X, place=place)
    assert {backend for kernel, backend in where(compiled) if kernel != "multiply_2"} == {apart}
    assert ("multiply_2", "cpp") in where(compiled)


def test_bad_input(apart):
    for place, error, message in [
        ({"head": "cpu"}, ValueError,
         "network: the placement names 'head', which is no kernel, constant, tensor or line. There "
         "are layers_0_weight, layers_1_weight, layers_2_weight, contract_2, tanh_add, "),
        ({"layers.0": "gpu:3"}, KeyError, "there is no back end named 'gpu:3'"),
        ({"layers.0": ""}, ValueError, "Placement: name 'layers.0', device ''. Both are required."),
        ({"a: b": "cpu"}, ValueError, "Placement: 'a: b' at 'cpu': names without line ends and"),
        ({3: "cpu"}, TypeError, "Placement: 3 is neither a name nor a tensor. One is required."),
        ({"x": 3}, TypeError, "Placement: 3 is no device's name, which is required."),
        ([("x", "cpu")], TypeError, "Devices by name or tensor, in a mapping, are required."),
        ({cnp.exp(WEIGHTS[0]): "cpu"}, TypeError, None),
    ]:  # fmt: skip
        if message is None:
            with pytest.raises(ValueError, match=r"a tensor without a name\. Name it, as by"):
                composit.compile(network, X, place=place)
            continue
        with pytest.raises(error, match=re.escape(message)):
            composit.compile(network, X, place=place)


def test_a_placement_is_a_value(tmp_path):
    placement = composit.Placement({"layers.0": "opencl:0", "sum*": "cpu"})
    assert str(placement) == "layers.0: opencl:0\nsum*: cpu\n"
    assert placement.rules == [("layers.0", "opencl:0"), ("sum*", "cpu")]
    placement.save(tmp_path / "placement.txt")
    for other in (
        composit.Placement.parse(str(placement)), composit.Placement(placement),
        composit.Placement.load(tmp_path / "placement.txt"),
        pickle.loads(pickle.dumps(placement)),
    ):  # fmt: skip
        assert other == placement and not placement.diff(other)
    other.put("layers.0", "apart:0")
    assert other != placement
    assert placement.diff(other) == (
        "- layers.0: opencl:0\n+ layers.0: opencl:0\n+ layers.0: apart:0\n"
    )
    assert placement and not composit.Placement() and placement != "layers.0: opencl:0"
    with pytest.raises(ValueError, match=r"Placement\.parse: line 2: 'sum'\. A name and a device"):
        composit.Placement.parse("x: cpu\nsum\n")
    (tmp_path / "bad.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"bad\.txt: byte 0 begins no character of UTF-8"):
        composit.Placement.load(tmp_path / "bad.txt")
    with pytest.raises(OSError, match=r"nothing\.txt"):
        composit.Placement.load(tmp_path / "nothing.txt")


def test_the_timeline_says_what_ran_where(apart, opencl):
    compiled = composit.compile(network, X, place={"layers.0": apart, "layers.1": opencl})
    timeline = compiled.timeline(X)
    steps = [(step.device, step.what) for step in timeline.steps if not step.bytes]
    assert steps == [(apart, "contract_2 to tanh_add"), (opencl, "contract_4 to sum_2")]
    copies = [(step.device, step.what, step.bytes) for step in timeline.steps if step.bytes]
    assert (apart, "copy x", X.nbytes) in copies and len(copies) == 4
    assert all(0 <= step.begin <= step.end <= timeline.seconds for step in timeline.steps)
    assert 0 < timeline.busy_seconds(opencl) <= timeline.seconds
    assert sorted(timeline.devices) == [apart, "cpu", opencl]
    events = json.loads(timeline.trace)["traceEvents"]
    assert len(events) == len(timeline.steps) + len(timeline.devices)
    assert "contract_2 to tanh_add" in str(timeline)
    assert re.search(f"{opencl} +busy for", str(timeline))
    rows = xml.etree.ElementTree.fromstring(timeline.picture)
    assert len([each for each in rows if each.tag.endswith("rect")]) == len(timeline.steps)
    assert composit.compile(network, X).timeline(X).steps == []


def test_a_stream_of_calls(apart, opencl):
    compiled = composit.compile(network, place={"layers.0": apart, "layers.1": opencl})
    arguments = [X * i for i in range(7)]
    for in_flight in (0, 1, 3):
        for given, results in zip(arguments, compiled.stream(arguments, in_flight), strict=True):
            for value, known in zip(results, composit.compile(network)(given)):
                assert same(value, known)
    assert compiled.stream([]) == []
    with pytest.raises(ValueError, match=r"argument 'x' has shape \(4, 16\)"):
        compiled.stream([X, X[:4]])
    picked = composit.compile(lambda x, i: x[i] @ WEIGHTS[0], place={"layers": opencl})
    good, bad = np.array([1, 2]), np.array([1, 9])
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 8"):
        picked.stream([(X, good), (X, bad), (X, good)])
    assert same(picked.stream([(X, good)])[0], X[good] @ np.asarray(WEIGHTS[0]))


def test_arguments_of_two_devices(apart, opencl):
    def f(x, w):
        return cnp.tanh(cnp.tanh(x @ x.T).to(opencl) @ w), cnp.sum(x), w * 2

    x, w = cnp.asarray(X, device=apart), cnp.asarray(Y, device=opencl)
    compiled = composit.compile(f)
    results = compiled(x, w)
    assert [result.device for result in results] == [opencl, apart, opencl]
    on_one = f(cnp.asarray(X, device=opencl), w)
    for value, known, plain in zip(results, f(x, w), on_one):
        assert same(value, known) and same(value, plain)
    assert {backend for _, backend in where(compiled)} == {apart, opencl}

    def gradients(x, w):
        return composit.grad(lambda x, w: cnp.sum(f(x, w)[0]), argnums=(0, 1))(x, w)

    both = composit.compile(gradients)(x, w)
    assert [gradient.device for gradient in both] == [apart, opencl]
    for value, known in zip(both, gradients(x, w)):
        assert same(value, known)
    # Another specialisation for other places, of the same shapes.
    with pytest.raises(RuntimeError, match="expected all tensors to be on the same device"):
        compiled(w, x)


def test_to_within_a_compiled_function_of_host_arrays(apart, opencl):
    def f(x):
        there = cnp.exp(x.to(apart))
        return cnp.sum(there.to(opencl) * 2, axis=0).to("cpu") + cnp.sum(x, axis=0)

    compiled = composit.compile(f)
    known = cnp.sum(cnp.exp(X) * 2, axis=0) + cnp.sum(X, axis=0)
    assert same(compiled(X), known)
    assert {backend for _, backend in where(compiled)} == {apart, opencl, "cpp"}


def test_donated_arguments_and_places(opencl, expected):
    compiled = composit.compile(lambda x: (x + 1) @ WEIGHTS[0], donate=0, place={"layers": opencl})
    assert same(compiled(X.copy()), composit.compile(lambda x: (x + 1) @ WEIGHTS[0])(X))


def test_a_cost_model_places(apart, opencl, expected):
    alone = composit.compile(network, X)
    # Copies cost more than these kernels.
    few = mosaic.choose_placement(alone, ["cpu", opencl, apart])
    assert {device for _, device in few.rules} == {"cpp"}
    names = [kernel.name for kernel in alone.core.unscheduled.kernels]
    assert sorted(name for name, _ in few.rules) == sorted(names)
    assert {device for _, device in mosaic.choose_placement(alone, [opencl]).rules} == {opencl}
    x = composit.placeholder("x", X.shape, X.dtype)
    program = mosaic.compile(*network(x), schema={}, devices=[opencl])
    assert program.placement.rules
    for value, known in zip(program(X), expected):
        assert same(value, known)
    placed = mosaic.compile(*network(x), schema={}, place={"layers.1": opencl}, target="cpp")
    for value, known in zip(placed(X), expected):
        assert same(value, known)
    assert {step.device for step in placed.timeline(X).steps} >= {opencl}
    with pytest.raises(ValueError, match=r"choose_placement: no devices\. At least one is"):
        mosaic.choose_placement(alone, [])
