"""composit.torch's functions and modules beside PyTorch's: every example call gives the same values
and gradients, and docs/torch-conformance.md says what there is."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from torch_conformance import names, page  # noqa: E402
from torch_conformance.calls import DEVIATIONS  # noqa: E402
from torch_conformance.compare import examples, strided, tried  # noqa: E402

# What tells of a tensor's memory, which is in order here.
OF_MEMORY = {"as_strided", "as_strided_scatter", "Tensor.as_strided", "Tensor.as_strided_scatter",
             "Tensor.is_contiguous", "Tensor.stride"}  # fmt: skip

_built = [example for example in examples() if names.has(example.space, example.name)]
_by_path: dict[str, list] = {}
for _example in _built:
    _by_path.setdefault(_example.path, []).append(_example)
_found: dict[str, list] = {}
_ran: set[str] = set()  # in this process: another may have run the others


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", _by_path)
def test_values_and_gradients_are_pytorchs(path):
    _ran.add(path)
    for example in _by_path[path]:
        outcome = tried(example)
        if outcome.refusal:
            assert example.space == "Tensor", f"{example.text}: {outcome.refusal}"
            continue
        _found.setdefault(path, []).append((example, outcome))
        assert not outcome.values, f"{example.text}: {outcome.values}"
        is_other = path in DEVIATIONS
        assert bool(outcome.gradients) == is_other, f"{example.text}: {outcome.gradients}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", [path for path in _by_path if path not in OF_MEMORY])
def test_tensors_that_are_not_contiguous(path):
    for example in _by_path[path]:
        outcome = tried(example, make=strided)
        if outcome.refusal:
            continue  # PyTorch cannot view it so
        assert not outcome.values, f"{example.text}: {outcome.values}"
        assert bool(outcome.gradients) == (path in DEVIATIONS), f"{example.text}: {outcome}"


@pytest.mark.filterwarnings("ignore")
def test_the_page_is_true():
    found = _found if len(_ran) == len(_by_path) else page.outcomes()
    written = (ROOT / "docs/torch-conformance.md").read_text()
    assert page.page(found) == written, "tools/torch_names.py --write makes the page anew"
