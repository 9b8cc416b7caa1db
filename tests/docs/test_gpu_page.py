"""docs/performance-gpu.md has the rows that benchmarks/python/gpu.py measures."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def rows_and_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks/python"))
    import gpu_page

    return list(gpu_page.all_rows()), gpu_page


def test_all_rows_are_on_the_page(monkeypatch):
    rows, maker = rows_and_page(monkeypatch)
    text = maker.PAGE.read_text()
    for row in rows:
        assert f"\n| {row.name} | " in text
    if "Nothing was measured yet" in text:
        assert text == maker.page(None)


def test_a_measured_page(monkeypatch, tmp_path):
    rows, maker = rows_and_page(monkeypatch)
    about = {
        "date": "2026-01-02", "commit": "0123456789abcdef", "torch": "2.13.0",
        "cupy": "not here: no", "device": {"description": "a GPU, driver 1"},
    }  # fmt: skip
    peer = {"seconds": 2e-3, "agrees": True}
    found = {
        "name": rows[1].name, "seconds": 4e-3, "peers": {"torch": peer}, "ratio": 0.5,
        "differing": 0,
    }  # fmt: skip
    failed = {"name": rows[2].name, "failed": "took more than 90 seconds"}
    (tmp_path / "gpu.json").write_text(json.dumps({"about": about, "rows": [found, failed]}))
    monkeypatch.setattr(maker, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(sys, "argv", ["gpu_page.py", str(tmp_path / "gpu.json")])
    maker.main()
    text = (tmp_path / "page.md").read_text()
    assert "with commit 0123456789ab on a GPU, driver 1; beside it torch 2.13.0." in text
    assert f"| {rows[1].name} | 4.000 | torch 2.000 | equal | **0.50** | 1.5 |  |\n" in text
    assert f"| {rows[2].name} | failed: took more than 90 seconds |" in text
    assert f"| {rows[3].name} | not measured |" in text
