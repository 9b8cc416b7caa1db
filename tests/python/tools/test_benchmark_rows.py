"""Rows of benchmarks: runs that go on, the history, and rows that fell."""

import json
import subprocess
import sys
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
    monkeypatch.setattr(measured, "commit_date", lambda: "2026-03-01T00:00:00+00:00")
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
        if not word or any(word in each.get("case", "") for each in found.get(group, [])):
            yield {"title": group, "notes": "Notes.", "limits": LIMITS}
        for each in found.get(group, []):
            if each is None:
                raise KeyboardInterrupt
            if word and word not in each.get("case", ""):
                continue
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
    with measured.Rows.of_this_tree(ABOUT, False).file.open("a") as file:
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
    assert not measured.Rows.of_this_tree(ABOUT, False).found  # the next run measures anew


@pytest.mark.parametrize("is_short", [True, False])
def test_what_failed_is_measured_again(bench, monkeypatch, capsys, is_short):
    run, measured = bench
    asked = []
    found = {"small": [row("a", 2.0), {"failed": "b: ValueError"}], "hand": [row("c", 1.0)]}
    monkeypatch.setattr(run, "run", child(found, asked))
    assert not run.measure_all(is_short)
    assert "!!! 1 FAILED" in (printed := capsys.readouterr().out)
    assert printed.endswith("!!! b: ValueError\n")
    (written,) = (file for file in run.ROOT.rglob("*") if file.is_file())
    assert written == measured.Rows.of_this_tree(ABOUT, is_short).file  # and no page, no history
    found["small"][1] = row("b", 2.0)
    assert run.measure_all(is_short)
    assert asked[2][1] == ["hand: c, 1", "small: a, 1"]
    assert run.PAGE.exists() != is_short
    (file,) = measured.HISTORY.rglob("*.json")
    assert set(json.loads(file.read_text())["rows"]) == {"small: a, 1", "small: b, 1", "hand: c, 1"}


def test_a_short_run_leaves_the_rows_of_a_whole_one(bench, monkeypatch):
    run, measured = bench
    monkeypatch.setattr(run, "run", child({"small": [row("a", 2.0), None]}, []))
    with pytest.raises(KeyboardInterrupt):
        run.measure_all(is_short=False)
    monkeypatch.setattr(run, "run", child({"small": [row("a", 3.0)]}, []))
    assert run.measure_all(is_short=True)
    assert not measured.Rows.of_this_tree(ABOUT, True).found
    assert measured.Rows.of_this_tree(ABOUT, False).keys() == {"small: a, 1"}


@pytest.mark.parametrize("torn", ['["hand", {"case": "ha', json.dumps(["hand", row("b", 1.0)])])
def test_a_row_behind_a_torn_line_is_kept(bench, torn):
    _, measured = bench
    file = measured.FOLDER / "rows.jsonl"
    file.write_text(json.dumps(["hand", row("a", 1.0)]) + "\n" + torn)
    measured.Rows(file).add("hand", row("c", 1.0))
    rows = measured.Rows(file)
    rows.add("hand", row("d", 1.0))
    expected = {f"hand: {case}, 1" for case in ("abcd" if torn.endswith("]") else "acd")}
    assert rows.keys() == measured.Rows(file).keys() == expected
    assert "\n\n" not in file.read_text()


def test_what_a_run_writes_does_not_change_its_name(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks/python"))
    import measured

    monkeypatch.setattr(measured, "ROOT", tmp_path)
    files = [tmp_path / name for name in ("a.py", "docs/page.md", "benchmarks/history/m/c.json")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("before\n")
    identity = ("-c", "user.name=composit", "-c", "user.email=composit@example.org")
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "Files"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    commit = measured.tree()
    for file in files[1:]:
        file.write_text("after\n")
    assert measured.tree() == commit
    files[0].write_text("after\n")
    assert measured.tree().startswith(f"{commit}-")


def test_a_word_in_no_name_is_said(bench, monkeypatch, capsys):
    run, _ = bench
    monkeypatch.setattr(run, "run", child({"small": [row("sum", 2.0)]}, []))
    assert run.measure_part("sum")
    assert "No row" not in capsys.readouterr().out
    assert not run.measure_part("smu")
    assert "No row has 'smu' in its name" in capsys.readouterr().out
    program = ROOT / "benchmarks/python/bench_xor.py"
    alone = subprocess.run([sys.executable, program, "smu"], capture_output=True, text=True)
    assert (alone.returncode, alone.stdout[:18]) == (1, "No row has 'smu' i")


def test_rows_that_fell_are_named(bench, monkeypatch, capsys):
    run, measured = bench
    older = {"small: a, 1": 1.0, "small: b, 1": 3.0, "small: s, 1": 1.0, "small: gone, 1": 9.0,
             "small: unbuilt, 1": 2.0, "small: never, 1": None}  # fmt: skip
    newer = {"small: a, 1": 1.0, "small: unbuilt, 1": None}
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
    found["small"] += [row("unbuilt", None), row("never", None)]
    monkeypatch.setattr(run, "run", child(found, []))
    assert run.measure_all(is_short=False)
    printed = capsys.readouterr().out
    assert "!!! 3 ROWS FELL BY MORE THAN 10 %:" in printed
    assert "!!! small: b, 1: 3.00 at old, 2.00 now" in printed
    assert "!!! small: s, 1: 1.00 at old, 1.20 now" in printed
    assert "!!! small: unbuilt, 1: 2.00 at old, not built now" in printed
    assert "- small: b, 1: 3.00 at old, 2.00 now\n" in run.PAGE.read_text()


def test_commits_that_a_row_is_compared_with(bench):
    _, measured = bench

    def commit(day, value, less_is_better=False, name=None):
        kept = {"value": value, "unit": "x", "less_is_better": less_is_better, "us": 1}
        return measured.Commit(name or f"day{day}", f"2026-03-{day:02}", {"a": kept})

    def fallen(before, now):
        return [str(fall) for fall in measured.falls(before, now)]

    # Not with later ones, when an older checkout is measured.
    assert not fallen([commit(5, 2.0)], commit(4, 1.0))
    assert not fallen([commit(5, 2.0)], commit(5, 1.0, name="day5"))
    assert not fallen([commit(5, 2.0, name="day5-12345678")], commit(5, 1.0))
    assert fallen([commit(5, 2.0)], commit(5, 1.0, name="day5-12345678"))
    # Eight losses of 8 %, none of which is a tenth.
    for ratio, less_is_better in ((0.92, False), (1 / 0.92, True)):
        days = [commit(day, ratio**day, less_is_better) for day in range(1, 9)]
        named = [bool(fallen(days[:i], days[i])) for i in range(8)]
        assert named == [False, False, *6 * [True]]
    # With the best of ten commits that have the row.
    days = [commit(1, 2.0), *(commit(day, 1.0) for day in range(2, 12))]
    assert fallen(days[:10], commit(20, 1.0)) == ["a: 2.00 at day1, 1.00 now"]
    assert not fallen(days, commit(20, 1.0))
    others = [measured.Commit(f"other{day}", f"2026-03-{day}", {}) for day in range(12, 20)]
    assert fallen(days[:10] + others, commit(20, 1.0))


def test_what_a_short_run_measures(bench):
    from selection import is_short

    assert is_short("functions", "sort, 1e3")
    assert is_short("bert", "BERT-base, 128 tokens, batch 1")
    assert not is_short("bert", "BERT-base exported, source")
    assert not is_short("torch", "Linear 32x64 to 128, forward")
