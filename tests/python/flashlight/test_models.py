"""Models of many families give, traced, what torch gives."""

import pytest

import composit
import flashlight_models as models
from composit import flashlight


@pytest.mark.parametrize("name", models.CASES)
def test_a_model_is_equal_or_refused(name):
    try:
        difference, nodes = models.difference(models.CASES[name])
    except NotImplementedError as refusal:
        assert name in REFUSED, refusal
        assert REFUSED[name] in str(refusal)
        return
    assert name not in REFUSED
    assert difference < 1e-4
    assert nodes > 10


REFUSED = {
    "Mixtral": "histc",
}


@pytest.mark.parametrize("name", ["BERT", "ConvNet", "GPT-2"])
def test_two_traces_have_one_structure(name):
    case = models.CASES[name]
    model = case.model()
    hashes = set()
    for _ in range(2):
        with flashlight.tracer.trace():
            outputs = list(models.tensors(case.call(model)))
        hashes.add(composit.graph.structural_hash(outputs[0].lazy_tensor))
    assert len(hashes) == 1


def test_the_page_has_the_table():
    with open(models.PAGE, encoding="utf-8") as page:
        rows = [line for line in page if line.startswith("| ")]
    for name in models.CASES:
        assert sum(line.startswith(f"| {name} |") for line in rows) == 1
    for name in ("BERT", "ConvNet", "Mixtral", "CLIP"):
        row = models.row(name).rpartition("| ")[0] if name != "Mixtral" else models.row(name)
        assert any(line.startswith(row) for line in rows), row
