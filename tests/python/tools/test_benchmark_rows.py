"""Rows of benchmarks: runs that go on, the history, and rows that fell."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ABOUT = {"CPU": "AMD EPYC, 2 logical cores (avx2, fma)", "composit": "abc, Release"}


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """The modules of benchmarks/python, whose files are in a folder of the test."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks/python"))
    import measured
    import run

    monkeypatch.setattr(measured, "HISTORY", tmp_path / "history")
    monkeypatch.setattr(measured, "FOLDER", tmp_path)
    monkeypatch.setattr(measured, "tree", lambda: "1234567890ab")
    monkeypatch.setattr(run, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "machine", lambda: ABOUT)
    monkeypatch.setattr(run, "PROGRAMS", [Path("bench_small.py"), Path("bench_hand.py")])
    return run, measured


def row(case, value, threads=1, unit="x", less_is_better=False):
    return {
        "case": case, "threads": threads, "value": value, "unit": unit, "must": 1, "aim": None,
        "less_is_better": less_is_better, "percent": None, "composit_us": 12.34567, "load": 1.0,
        "peers_us": {"NumPy": 12.3}, "ratios": {"NumPy": value}, "beside": {}, "rounds": 5,
    }  # fmt: skip


LIMITS = {"threads": 1, "flops": 1e9, "bandwidth": 1e9}


def child(found, asked):
    """In place of a group's processes: gives what is not done yet, and dies at a row `None`."""

    def run(program, word, done=(), only_short=False):
        group = program.stem.removeprefix("bench_")
        asked.append((group, sorted(done), only_short))
        yield {"title": group, "notes": "Notes.", "limits": LIMITS}
        for each in found.get(group, []):
            if each is None:
                raise KeyboardInterrupt
            if "failed" in each or f"{group}: {each['case']}, {each['threads']}" not in done:
                yield each

    return run


def test_an_interrupted_run_goes_on(bench, monkeypatch, capsys):
    run, measured = bench
    asked = []
    found = {"small": [row("a", 2.0)], "hand": [row("b", 1.0), None]}
    monkeypatch.setattr(run, "run", child(found, asked))
    with pytest.raises(KeyboardInterrupt):
        run.measure_all(is_short=False)
    assert not run.PAGE.exists()
    with measured.Rows.of_this_tree(ABOUT).file.open("a") as file:
        file.write('["hand", {"case": "ha')  # killed while it wrote
    found = {"small": [row("a", 5.0)], "hand": [row("b", 5.0), row("c", 0.5)]}
    monkeypatch.setattr(run, "run", child(found, asked))
    assert run.measure_all(is_short=False)
    assert "2 rows of this tree were measured before." in capsys.readouterr().out
    assert asked[2] == ("small", ["hand: b, 1", "small: a, 1"], False)
    text = run.PAGE.read_text()
    assert "| a | 1 | 12.3 us | NumPy 12.3 us | 2.00 x |" in text
    assert "| **c** | 1 | 12.3 us | NumPy 12.3 us | **0.50 x** |" in text
    (file,) = (measured.HISTORY / "amd-epyc-2-logical-cores-avx2-fma").iterdir()
    assert json.loads(file.read_text())["rows"]["hand: c, 1"] == {
        "value": 0.5, "unit": "x", "less_is_better": False, "us": 12.35,
    }  # fmt: skip
    for picture in ("ratios", "history"):
        assert (run.ROOT / f"docs/images/performance_{picture}.svg").stat().st_size > 1000
    assert not measured.Rows.of_this_tree(ABOUT).found  # the next run measures anew


def test_what_failed_is_measured_again(bench, monkeypatch):
    run, measured = bench
    asked = []
    found = {"small": [row("a", 2.0), {"failed": "bench_small.py, exit 1"}]}
    monkeypatch.setattr(run, "run", child(found, asked))
    assert not run.measure_all(is_short=True)
    assert "**Failed: bench_small.py, exit 1.**" in (run.FOLDER / "performance.md").read_text()
    assert not run.PAGE.exists()  # of all rows alone
    assert measured.Rows.of_this_tree(ABOUT).keys() == {"small: a, 1"}


def test_rows_that_fell_are_named(bench, monkeypatch, capsys):
    run, measured = bench
    older = {"small: a, 1": 2.0, "small: b, 1": 3.0, "small: s, 1": 1.0, "small: gone, 1": 9.0}
    newer = {"small: a, 1": 1.0}
    folder = measured.HISTORY / measured.machine_name(ABOUT)
    folder.mkdir(parents=True)
    for commit, date, rows in (("old", "2026-01-01", older), ("new", "2026-02-01", newer)):
        kept = {
            key: {"value": value, "unit": "s" if ": s" in key else "x", "us": 1,
                  "less_is_better": ": s" in key}
            for key, value in rows.items()
        }  # fmt: skip
        content = {"commit": commit, "date": date, "machine": ABOUT, "rows": kept}
        (folder / f"{commit}.json").write_text(json.dumps(content))
    found = {"small": [row("a", 0.95), row("b", 2.0), row("s", 1.2, 1, "s", True), row("d", 0.1)]}
    monkeypatch.setattr(run, "run", child(found, []))
    assert run.measure_all(is_short=False)
    printed = capsys.readouterr().out
    assert "!!! 2 ROWS FELL BY MORE THAN 10 %:" in printed
    assert "!!! small: b, 1: 3.00 at old, 2.00 now" in printed
    assert "!!! small: s, 1: 1.00 at old, 1.20 now" in printed
    assert "- small: b, 1: 3.00 at old, 2.00 now\n" in run.PAGE.read_text()


def test_what_a_short_run_measures(bench):
    from selection import is_short

    assert is_short("functions", "sort, 1e3")
    assert is_short("bert", "BERT-base, 128 tokens, batch 1")
    assert not is_short("bert", "BERT-base exported, source")
    assert not is_short("torch", "Linear 32x64 to 128, forward")
