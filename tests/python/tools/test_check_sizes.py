"""tools/check_sizes.py: limits, exceptions, and exceptions that only shrink."""

import pytest

import check_sizes
from check_sizes import check_file, read_exceptions, shrink

EXCEPTIONS = read_exceptions(
    "table a/table*.cpp\nlong a/long.cpp 700  # until split\nwide a/wide.h"
)


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("a/b.cpp", "x\n" * 500, None),
        ("a/b.cpp", "x\n" * 501, "a/b.cpp: 501 lines; at most 500. Split it."),
        ("a/table_of_all.cpp", "x\n" * 1000, None),
        ("a/table.cpp", "x\n" * 1001, "a/table.cpp: 1001 lines; at most 1000. Split it."),
        ("a/long.cpp", "x\n" * 700, None),
        ("a/long.cpp", "x\n" * 701, "a/long.cpp: 701 lines; at most 700. Split it."),
        (
            "a/long.cpp",
            "x\n",
            "a/long.cpp: within the limit now; remove it from size_exceptions.txt",
        ),
        ("a/b.h", "é" * 100, None),
        ("a/b.h", "\n" + "x" * 101, "a/b.h:2: 101 columns; at most 100"),
        ("a/wide.h", "x" * 101, None),
    ],
)
def test_limits_of_one_file(path, text, message):
    assert check_file(path, text, EXCEPTIONS) == ([message] if message else [])


def test_shrinking_lowers_numbers_and_drops_spent_lines():
    listed = "# why\nlong a 700\nlong b 800\nlong c 900\nlong gone 600\ntable t\n"
    assert (
        shrink(listed, {"a": 650, "b": 900, "c": 400}) == "# why\nlong a 650\nlong b 800\ntable t\n"
    )


def test_a_line_that_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="cannot read 'long a many'"):
        read_exceptions("long a many")


def test_the_projects_own_exceptions_can_be_read():
    read_exceptions(check_sizes.EXCEPTIONS.read_text())
