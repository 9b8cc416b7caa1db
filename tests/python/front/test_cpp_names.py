"""Every public C++ function is among those whose errors must name it (error_names_test.cpp)."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
HEADERS = [
    "numpy/binning.h", "numpy/bits.h", "numpy/covariance.h", "numpy/histograms.h",
    "numpy/interpolation.h", "numpy/polynomials.h", "numpy/quantiles.h", "numpy/sets.h",
    "numpy/comparisons.h", "numpy/complex_parts.h", "numpy/correlation.h", "numpy/creation.h",
    "numpy/differences.h", "numpy/linear.h", "numpy/manipulation.h", "numpy/nan_reductions.h",
    "numpy/reductions.h", "numpy/special.h", "numpy/random/generator.h",
    "numpy/random/random_state.h", "numpy/windows.h", "numpy/variants.h",
    "nn/operations.h", "nn/layers.h", "nn/training.h", "nn/initializers.h",
    "nn/differentiation.h", "random/distributions.h", "nn/activations.h", "nn/pooling.h",
    "nn/padding.h", "nn/attention.h", "nn/normalization.h", "nn/transformers.h",
]  # fmt: skip
# Nothing can be wrong with their arguments, or they only keep a value.
HARMLESS = {
    "asarray", "scalar", "state", "iscomplexobj", "isrealobj", "lacks_freedom", "has_gauss",
    "gauss", "promote_types",
}  # fmt: skip
TESTS = ("error_names_test.cpp", "error_names_nn.cpp")


def test_every_function_is_called():
    folder = ROOT / "tests/cpp/functional"
    called = set(re.findall(r"CALL\((\w+),", "".join((folder / t).read_text() for t in TESTS)))
    for header in HEADERS:
        text = (ROOT / "composit" / header).read_text()
        names = set(
            re.findall(r"\[\[nodiscard\]\] (?:inline )?[\w:<>]+(?:&| const&)? (\w+)\(", text)
        )
        assert len(names) > 0, header
        assert names - called - HARMLESS == set(), header
