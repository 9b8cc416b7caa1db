"""What is read of C++ headers; the check that both languages have the same functions; the reference
that is written from headers."""

import pytest

import cpp_headers
import cpp_parity
import cpp_reference

SOURCE = """// What lives here.
//
//   one(x)
#pragma once

#include <vector>

namespace composit::numpy {

// Two of them.
[[nodiscard]] Tensor one(const Tensor& x, std::optional<Shape> shape = {}, int n = f(1));
[[nodiscard]] Tensor one(const Tensor& x) { return {x}; }  // with a body

namespace inner {
template <class T, class U = int>
[[nodiscard]] std::vector<T> two(T (*f)(int), const char* text = "}; three(");
}

/* four(x); */
struct Five {
    int six(int);
    Tensor seven;
};
// eight
inline constexpr int eight = nine(3);
using Ten = std::function<int(int)>;

inline Tensor eleven(
    const Tensor& x, const std::vector<int>& axes = {1, 2}) {
    if (x) { return twelve(x); }
    return x;
}
Tensor operator+(const Tensor& a, const Tensor& b);
}  // namespace composit::numpy
"""


def test_declarations():
    found = list(cpp_headers.declarations(SOURCE))
    functions = [(d.namespace, d.name) for d in found if d.is_function]
    numpy = "composit::numpy"
    assert functions == [(numpy, "one"), (numpy, "one"), (f"{numpy}::inner", "two"),
                         (numpy, "eleven"), (numpy, "operator+")]  # fmt: skip
    assert [d.name for d in found if not d.is_function] == ["Five"]
    first = found[0]
    assert first.comment == "Two of them."
    assert first.text == (
        "Tensor one(const Tensor& x, std::optional<Shape> shape = {}, int n = f(1))"
    )
    assert found[1].comment == "" and found[1].text == "Tensor one(const Tensor& x)"


def test_both_languages_have_the_same_functions():
    text = cpp_parity.EXCEPTIONS.read_text()
    assert cpp_parity.differences(cpp_parity.read_exceptions(text)) == []


def test_a_function_of_one_side_is_found(monkeypatch):
    exceptions = cpp_parity.read_exceptions(cpp_parity.EXCEPTIONS.read_text())
    del exceptions.python["numpy.einsum_path"]
    exceptions.cpp["numpy.exp"] = "no reason"
    del exceptions.cpp["numpy.flatten"]
    assert cpp_parity.differences(exceptions) == [
        "composit.numpy.einsum_path is missing in composit::numpy",
        "composit::numpy::flatten is missing in composit.numpy",
        "cpp_parity.txt: numpy.exp is there in Python; take it off",
    ]


def test_exceptions_have_reasons():
    found = cpp_parity.read_exceptions(
        "# no\npython: a.b a.c: for a reason: two\ncpp: d.e: other\n"
    )
    assert found.python == {"a.b": "for a reason: two", "a.c": "for a reason: two"}
    assert found.cpp == {"d.e": "other"}
    with pytest.raises(ValueError, match="is required"):
        cpp_parity.read_exceptions("python: a.b: ")


def test_reference():
    pages = cpp_reference.pages()
    assert {"README.md", "numpy.md", "nn.md"} <= set(pages)
    assert "`exp`" in pages["README.md"] and "`svd`" in pages["README.md"]
    assert "## composit/numpy/sets.h" in pages["numpy.md"]
    assert "Unique unique(const Tensor& x, std::optional<int64_t> axis = {}" in pages["numpy.md"]
    assert "Elements of the flattened x, or slices along an axis" in pages["numpy.md"]
    for text in pages.values():
        assert text.count("```") % 2 == 0
    declared = {
        name
        for space in cpp_parity.SPACES
        for name in cpp_parity.of_cpp(space)
        if name not in cpp_parity.KEYWORDS.values()
    }
    assert all(f"`{name}`" in pages["README.md"] for name in declared)
