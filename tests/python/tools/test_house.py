"""tools/house.py: what it counts."""

import ast

import house


def test_circles_are_sets_of_modules_that_reach_one_another():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"d"}, "f": {"a"}}
    assert house.circles(edges) == [3, 2]


def test_comments_and_docstrings_are_no_code():
    python = '"""What\nit is."""\n\n# Why.\nx = 1  # one\n'
    assert house.comment_lines("a.py", python) == {1, 2, 4}
    cpp = "// what\nint x;  // one\n/* two\n   lines */\n"
    assert house.comment_lines("a.cpp", cpp) == {1, 3, 4}
    assert house.count_lines({"a.py": python}, (".py",)) == "1 files, 1 code, 3 comments, 1 blank"


def test_bases_are_found_through_imports():
    below = ast.parse("class Below: pass\nclass Middle(Below): pass")
    above = ast.parse("from .below import Middle as M\nclass Below(M): pass")
    names = dict(house.imported_names("p", above))
    assert names == {"M": "p.below.Middle"}
    bases = house.bases_of("p.below", below, {}) | house.bases_of("p.above", above, names)
    assert house.longest_chain(bases, "p.above.Below") == 3


def test_imports_within_functions_count():
    tree = ast.parse("import a.b\ndef f():\n    from ..c import d")
    assert sorted(house.imported_names("p.q", tree)) == [("a.b", "a.b.*"), ("d", "p.c.d")]
