"""docs/performance.md: what composit promises and does not reach is bold, and nothing is hidden."""

from dataclasses import asdict

import reasons
from measure import Case, Limits, Row, Sides, measure
from page import is_below, page, table_line


def row(value, must, less_is_better=False):
    return asdict(Row("case", 1, value, "x", must, 2.0, less_is_better))


def test_rows_below_their_must_are_bold():
    assert "**case**" in table_line(row(0.9, 1.0)) and "**0.90 x**" in table_line(row(0.9, 1.0))
    assert "**" not in table_line(row(1.0, 1.0))
    assert "**not built**" in table_line(row(None, 1.0))
    assert is_below(row(1.6, 1.5, less_is_better=True))
    assert not is_below(row(1.4, 1.5, less_is_better=True))
    assert not is_below(row(0.1, None))


def test_a_page_has_each_groups_limits():
    group = {
        "title": "Sums", "notes": "Of things.",
        "limits": [{"threads": 1, "flops": 5e10, "bandwidth": 1e10}], "rows": [row(3.0, 2.0)],
    }  # fmt: skip
    text = page({"CPU": "one"}, {"sums": group}, [])
    assert "Measured on CPU one." in text
    assert "## Sums" in text and "50 GFLOP/s, 10.0 GB/s" in text


def test_a_row_below_its_must_has_a_reason_beside_it(monkeypatch):
    monkeypatch.setattr(reasons, "REASONS", [("NumPy's functions: .*1e2$", "A call takes long.")])
    group = {
        "title": "NumPy's functions", "notes": "Of things.",
        "limits": [{"threads": 1, "flops": 5e10, "bandwidth": 1e10}],
        "rows": [row(3.0, 2.0) | {"case": "sum, 1e6"}, row(1.0, 2.0) | {"case": "sort, 1e2"},
                 row(1.0, 2.0) | {"case": "take, 1e2"}, row(1.0, 2.0) | {"case": "sort, odd"}],
    }  # fmt: skip
    text = page({"CPU": "one"}, {"functions": group}, [])
    assert "- *sort, 1e2; take, 1e2*: A call takes long." in text
    assert "- *sort, odd*: Not known yet." in text and "*sum" not in text
    assert reasons.with_reasons(text) == text


def test_the_ratio_is_the_best_peers():
    work = [range(2000), range(6000), range(200_000)]
    ours, near, far = (lambda numbers=numbers: sum(numbers) for numbers in work)
    case = Case("sum", 1, 2, lambda _: Sides(ours, {"near": near, "far": far}, flops=1e3))
    found = measure(case, 1, Limits(1e9, 1e9))
    assert found.value == found.ratios["near"] < found.ratios["far"]
    assert 0 < found.percent < 100
