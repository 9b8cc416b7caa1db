"""composit.pipeline: passes from Python, in compiled functions and their caches."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import pipeline


def softmax(x):
    exps = cnp.exp(x - cnp.max(x, axis=1, keepdims=True))
    return exps / cnp.sum(exps, axis=1, keepdims=True)


X = np.linspace(-3, 3, 64 * 32, dtype="float32").reshape(64, 32)


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
def test_any_pass_may_be_left_out(backend):
    expected = composit.compile(softmax, X, backend=backend)(X)
    for name in pipeline.standard().names:
        if name in ("lower", "plan_buffers"):
            continue
        made = pipeline.standard().without(name)
        compiled = composit.compile(softmax, X, backend=backend, bytes_of_part=1024, pipeline=made)
        assert name not in [step.name for step in compiled.passes]
        assert compiled(X).tobytes() == expected.tobytes()


def test_stages_are_called_once_for_each_program():
    calls = []

    def graph(tensors):
        calls.append(("graph", len(tensors)))
        return tensors

    def whole(program, leaves):
        calls.append(("program", len(program.inputs), len(leaves)))
        return program

    def schedule(program, target):
        calls.append(("schedule", target.part_bytes))
        return program

    mine = pipeline.standard().with_pass("graph", graph, stage="graph", before="inline_calls")
    mine = mine.with_pass("whole", whole, stage="program")
    mine = mine.with_pass("schedule", schedule, stage="schedule")
    compiled = composit.compile(softmax, backend="interpreter", bytes_of_part=1024, pipeline=mine)
    for _ in range(3):
        compiled(X)
    assert calls == [("graph", 1), ("program", 1, 1), ("schedule", 1024)]


def test_a_pass_that_raises():
    def wrong(tensors):
        raise LookupError("of mine")

    mine = pipeline.standard().with_pass("wrong", wrong, stage="graph")
    with pytest.raises(LookupError, match="of mine"):
        composit.compile(softmax, X, pipeline=mine)


def test_errors():
    p = pipeline.standard()
    all_names = ", ".join(p.names)
    assert repr(p) == f"Pipeline({all_names})"
    with pytest.raises(KeyError, match=r"pipeline: 'fuse' is no pass\. The passes are: inline_c"):
        p.without("fuse")
    with pytest.raises(ValueError, match=r"pipeline: 'lower' cannot be left out: nothing runs w"):
        p.without("lower")
    with pytest.raises(ValueError, match=r"pipeline: the stage of 'a' is 'b'\. graph, program or"):
        p.with_pass("a", len, stage="b")
    for made in (None, [1], 3):
        mine = p.with_pass("mine", lambda program, target, made=made: made, stage="schedule")
        with pytest.raises(
            TypeError, match=r"pipeline: pass 'mine' made .*\. A program is required"
        ):
            composit.compile(softmax, X, pipeline=mine)
    with pytest.raises(TypeError, match=r"pipeline: 'fast'\. A composit\.pipeline\.Pipeline is"):
        composit.compile(softmax, X, pipeline="fast")


def test_targets():
    target = pipeline.target_of("cpp")
    assert (target.part_bytes, target.near_bytes) == (65536, 1 << 20)
    smaller = target.with_part_bytes(1024)
    assert (smaller.part_bytes, smaller.near_bytes) == (1024, 16384)
    with pytest.raises(KeyError, match="no_such"):
        pipeline.target_of("no_such")
