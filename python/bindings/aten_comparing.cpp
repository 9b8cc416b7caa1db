// Closeness of tensors, and where they differ: composit/aten/comparing.h.
#include "aten.h"
#include "aten_numbers.h"
#include "casters.h"
#include "composit/aten/comparing.h"
#include "exact_errors.h"
#include "flags.h"
#include "level.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

nb::object difference_of(nb::handle a, nb::handle b) {
    const nb::object difference = nb::steal(PyNumber_Subtract(a.ptr(), b.ptr()));
    if (!difference.is_valid()) throw nb::python_error();
    nb::object size = nb::steal(PyNumber_Absolute(difference.ptr()));
    if (!size.is_valid()) throw nb::python_error();
    return size;
}

nb::object size_of_number(nb::handle x) { return difference_of(x, nb::int_(0)); }

// What assert_close says of two numbers that are not close.
std::string report_of_numbers(nb::handle actual, nb::handle expected, nb::handle rtol,
                              nb::handle atol, const std::string& name) {
    const nb::object absolute = difference_of(actual, expected);
    const bool is_zero = nb::borrow(expected).equal(nb::int_(0));
    const nb::object relative =
        is_zero ? nb::object(nb::float_(HUGE_VAL)) : absolute / size_of_number(expected);
    const bool is_exact = number_from(rtol) == 0 && number_from(atol) == 0;
    const auto line = [&](const char* kind, nb::handle difference, nb::handle tolerance) {
        std::string made = composit::text("\n", kind, " difference: ", Said{difference});
        if (!is_exact) made += composit::text(" (up to ", Said{tolerance}, " allowed)");
        return made;
    };
    return composit::text(name, " are not ", is_exact ? "equal" : "close", "!\n\nExpected ",
                          Said{expected}, " but got ", Said{actual}, ".",
                          line("Absolute", absolute, atol), line("Relative", relative, rtol));
}

// Whether numbers of Python are close; NaN is close to NaN where that is wished.
bool are_close_numbers(nb::handle a, nb::handle b, double rtol, double atol, bool equal_nan) {
    // A NaN is no NaN, even itself.
    const nb::object is_equal = nb::steal(PyObject_RichCompare(a.ptr(), b.ptr(), Py_EQ));
    if (!is_equal.is_valid()) throw nb::python_error();
    if (truth_of(is_equal)) return true;
    const nb::module_ complex_numbers = nb::module_::import_("cmath");
    const auto is = [&](const char* test, nb::handle x) {
        return truth_of(nb::object(complex_numbers.attr(test)(x)));
    };
    if (equal_nan && is("isnan", a) && is("isnan", b)) return true;
    const nb::object difference = difference_of(a, b);
    return is("isfinite", difference) &&
           number_from(difference) <= atol + rtol * number_from(size_of_number(b));
}

bool is_unsigned_beyond_bytes(nb::handle dtype) {
    const std::string name = nb::str(nb::object(dtype.attr("name"))).c_str();
    return name == "uint16" || name == "uint32" || name == "uint64";
}

bool is_sparse(nb::handle value) {
    return nb::getattr(value, "is_sparse", nb::none()).is(nb::handle(Py_True));
}

// Both on one device, of one dtype and layout.
std::pair<nb::object, nb::object> made_alike(nb::object actual, nb::object expected) {
    const auto differ = [&](const char* attribute) {
        return !nb::object(actual.attr(attribute)).equal(nb::object(expected.attr(attribute)));
    };
    if (differ("device")) {
        actual = actual.attr("cpu")();
        expected = expected.attr("cpu")();
    }
    if (differ("dtype")) {
        // Unsigned integers of more than 8 bits promote with none of the others.
        const auto kind = [&](nb::handle x) {
            const nb::object own = x.attr("dtype");
            return is_unsigned_beyond_bytes(own) ? nb::object(provided("torch_dtypes")["int64"])
                                                 : own;
        };
        const nb::object to = torch_function("promote_types")(kind(actual), kind(expected));
        actual = actual.attr("to")(to);
        expected = expected.attr("to")(to);
    }
    if (differ("layout"))
        for (nb::object* each : {&actual, &expected})
            if (is_sparse(*each)) *each = each->attr("to_dense")();
    return {actual, expected};
}

aten::Tolerances tolerances_of(const std::vector<std::string>& names) {
    std::vector<ir::DType> dtypes;
    for (const std::string& name : names)
        if (const auto dtype = ir::find_dtype(name)) dtypes.push_back(*dtype);
    return aten::close_tolerances(dtypes);
}

// The tolerances of assert_allclose: the larger ones of two dtypes, by name.
std::pair<double, double> wide_tolerances(const std::vector<std::string>& names) {
    std::pair<double, double> found(0, 0);
    for (const std::string& name : names) {
        const bool is_half = name == "float16", is_single = name == "float32";
        if (!is_half && !is_single && name != "float64") continue;
        found.first = std::max(found.first, is_half ? 1e-3 : is_single ? 1e-4 : 1e-5);
        found.second = std::max(found.second, is_half ? 1e-3 : is_single ? 1e-5 : 1e-8);
    }
    return found;
}

// ----- assert_close of Python's values

bool is_of_class(nb::handle value, nb::handle kind) {
    const int is = PyObject_IsInstance(value.ptr(), kind.ptr());
    if (is < 0) throw nb::python_error();
    return is == 1;
}

bool is_abstract(nb::handle value, const char* name) {
    return is_of_class(value, nb::module_::import_("collections.abc").attr(name));
}

bool is_python_number(nb::handle value) {
    return PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
           PyComplex_Check(value.ptr()) || is_of_class(value, numpy_attribute("number"));
}

bool is_truth(nb::handle value) {
    return PyBool_Check(value.ptr()) || is_of_class(value, numpy_attribute("bool_"));
}

nb::object plain_number(nb::handle value) {
    return is_of_class(value, numpy_attribute("number")) ? nb::object(value.attr("item")())
                                                         : nb::borrow(value);
}

// An error to be, of the pair at a path of keys and numbers.
struct Failure {
    nb::handle kind;
    std::string text;
    std::vector<nb::object> path;
};

class Comparison {
  public:
    explicit Comparison(nb::dict options) : options_(std::move(options)) {}

    void run(nb::handle actual, nb::handle expected, nb::handle message) {
        try {
            collect(actual, expected, {});
        } catch (const Failure& failure) {
            raise(failure, nb::none());
        }
        const std::vector<Pair> pairs = std::move(pairs_);
        std::optional<Failure> first;
        for (const Pair& pair : pairs) {
            try {
                pair.compare();
            } catch (const Failure& failure) {
                if (!first) first = failure;
            }
        }
        if (first) raise(*first, message);
    }

  private:
    using Path = std::vector<nb::object>;
    using Tolerated = std::pair<nb::object, nb::object>;
    struct Pair {
        std::function<void()> compare;
    };

    [[noreturn]] static void fail(std::string text, const Path& path,
                                  nb::handle kind = PyExc_AssertionError) {
        throw Failure{kind, std::move(text), path};
    }

    [[noreturn]] static void raise(const Failure& failure, nb::handle message) {
        std::string text = failure.text;
        if (!failure.path.empty()) {
            text += "\n\nThe failure occurred for item ";
            for (const nb::object& key : failure.path) text += composit::text("[", Shown{key}, "]");
        }
        nb::object said = nb::str(text.c_str());
        if (PyUnicode_Check(message.ptr()))
            said = nb::borrow(message);
        else if (!message.is_none())
            said = message(said);
        PyErr_SetObject(failure.kind.ptr(), said.ptr());
        throw nb::python_error();
    }

    bool flag(const char* name) const { return truth_of(nb::object(options_[name])); }

    // (rtol, atol): as given, or the larger ones of the dtypes.
    Tolerated tolerances(const std::vector<std::string>& names, const Path& path) const {
        const nb::object rtol = options_["rtol"], atol = options_["atol"];
        try {
            aten::check_tolerances(!rtol.is_none(), !atol.is_none());
        } catch (const ValueError& error) {
            fail(error.what(), path, PyExc_ValueError);
        }
        if (!rtol.is_none()) return {rtol, atol};
        const aten::Tolerances found = tolerances_of(names);
        return {nb::float_(found.rtol), nb::float_(found.atol)};
    }

    // Adds the comparisons of two structures' values.
    void collect(nb::handle actual, nb::handle expected, const Path& path) {
        const Level level(" in a structure");
        const auto both = [&](const auto& is) { return is(actual) && is(expected); };
        if (both([](nb::handle x) {
                return !PyUnicode_Check(x.ptr()) && is_abstract(x, "Sequence");
            }))
            return collect_rows(actual, expected, path);
        if (both([](nb::handle x) { return is_abstract(x, "Mapping"); }))
            return collect_mappings(actual, expected, path);
        if (!add_plain(actual, expected, path) && !add_tensors(actual, expected, path))
            fail(composit::text("No comparison pair was able to handle inputs of type ",
                                Said{actual.type()}, " and ", Said{expected.type()}, "."),
                 path, PyExc_TypeError);
    }

    void collect_items(nb::handle actual, nb::handle expected, nb::handle keys, const Path& path) {
        for (nb::handle key : keys) {
            Path inner = path;
            inner.push_back(nb::borrow(key));
            collect(nb::object(nb::borrow(actual)[key]), nb::object(nb::borrow(expected)[key]),
                    inner);
        }
    }

    void collect_rows(nb::handle actual, nb::handle expected, const Path& path) {
        const size_t count = nb::len(actual);
        if (count != nb::len(expected))
            fail(composit::text("The length of the sequences mismatch: ", count,
                                " != ", nb::len(expected)),
                 path);
        nb::list keys;
        for (size_t i = 0; i < count; ++i) keys.append(i);
        collect_items(actual, expected, keys, path);
    }

    void collect_mappings(nb::handle actual, nb::handle expected, const Path& path) {
        const nb::object keys = nb::set(nb::object(actual.attr("keys")()));
        const nb::object wanted = nb::set(nb::object(expected.attr("keys")()));
        if (!keys.equal(wanted))
            fail(composit::text(
                     "The keys of the mappings do not match:\nMissing keys in the "
                     "actual mapping: ",
                     Said{sorted(wanted - keys)},
                     "\nAdditional keys in the actual mapping: ", Said{sorted(keys - wanted)}),
                 path);
        nb::object ordered = keys;
        try {
            ordered = sorted(keys);
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_Exception)) throw;
        }
        collect_items(actual, expected, ordered, path);
    }

    static nb::list sorted(nb::handle keys) {
        nb::list made{nb::borrow(keys)};
        made.attr("sort")();
        return made;
    }

    // None, truths and numbers; false for other values.
    bool add_plain(nb::handle actual, nb::handle expected, const Path& path) {
        const nb::object a = nb::borrow(actual), b = nb::borrow(expected);
        if (a.is_none() || b.is_none()) {
            add([a, b, path] {
                if (!a.is_none() || !b.is_none())
                    fail(composit::text("None mismatch: ", Said{a}, " is not ", Said{b}), path);
            });
            return true;
        }
        if (is_truth(a) && is_truth(b)) {
            add([a, b, path] {
                const bool x = truth_of(a), y = truth_of(b);
                if (x != y)
                    fail(composit::text("Booleans mismatch: ", x ? "True" : "False", " is not ",
                                        y ? "True" : "False"),
                         path);
            });
            return true;
        }
        if (!is_python_number(a) || !is_python_number(b)) return false;
        add_numbers(plain_number(a), plain_number(b), path);
        return true;
    }

    // "" for bool, and for others that are kinds of int, float or complex.
    static std::string dtype_of_number(nb::handle x) {
        if (PyLong_CheckExact(x.ptr())) return "int64";
        if (PyFloat_CheckExact(x.ptr())) return "float64";
        return PyComplex_CheckExact(x.ptr()) ? "complex128" : "";
    }

    // What PyTorch makes of a type that its table has no dtype for.
    static void check_are_numbers(nb::handle a, nb::handle b, const Path& path) {
        std::string place;
        for (const nb::object& key : path) place += composit::text("[", Shown{key}, "]");
        const bool are_known = !dtype_of_number(a).empty() && !dtype_of_number(b).empty();
        exact_check(PyExc_RuntimeError, are_known, "Originating a NumberPair() at item ", place,
                    " with\n\n", KindOf{a}, "(): ", Said{a}, "\n\nand\n\n", KindOf{b},
                    "(): ", Said{b}, "\n\nresulted in the unexpected exception above.");
    }

    void add_numbers(const nb::object& a, const nb::object& b, const Path& path) {
        check_are_numbers(a, b, path);
        const Tolerated allowed = tolerances({dtype_of_number(a), dtype_of_number(b)}, path);
        add([this, a, b, path, allowed] {
            if (flag("check_dtype") && !a.type().is(b.type()))
                fail(composit::text("The (d)types do not match: ", Said{a.type()},
                                    " != ", Said{b.type()}, "."),
                     path);
            if (!are_close_numbers(a, b, number_from(allowed.first), number_from(allowed.second),
                                   flag("equal_nan")))
                fail(report_of_numbers(a, b, allowed.first, allowed.second, "Scalars"), path);
        });
    }

    // Whether one's type is a subclass of the other's. Sparse tensors are tensors of another layout
    // in PyTorch, and count as such.
    bool belong_together(nb::handle actual, nb::handle expected) const {
        const auto is_any = [](nb::handle x) { return is_sparse(x) || is_tensor_of_torch(x); };
        if (is_sparse(actual) || is_sparse(expected)) return is_any(actual) && is_any(expected);
        if (!flag("allow_subclasses")) return actual.type().is(expected.type());
        return is_of_class(actual, expected.type()) || is_of_class(expected, actual.type());
    }

    bool add_tensors(nb::handle actual, nb::handle expected, const Path& path) {
        if (!belong_together(actual, expected)) return false;
        nb::object a, b;
        try {
            const nb::object as_tensor = torch_function("as_tensor");
            a = is_sparse(actual) ? nb::borrow(actual) : nb::object(as_tensor(actual));
            b = is_sparse(expected) ? nb::borrow(expected) : nb::object(as_tensor(expected));
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_Exception)) throw;
            return false;
        }
        const auto name = [](nb::handle x) {
            return std::string(nb::str(nb::object(x.attr("dtype").attr("name"))).c_str());
        };
        const Tolerated allowed = tolerances({name(a), name(b)}, path);
        add([this, a, b, path, allowed] {
            check_attributes(a, b, path);
            const auto [one, other] = made_alike(a, b);
            compare_values(one, other, allowed, path);
        });
        return true;
    }

    void check_attributes(nb::handle actual, nb::handle expected, const Path& path) const {
        const auto check = [&](const char* name, nb::object a, nb::object b) {
            if (!a.equal(b))
                fail(aten::attributes_differ(name, nb::str(a).c_str(), nb::str(b).c_str()), path);
        };
        const auto attribute = [&](const char* name) {
            check(name, actual.attr(name), expected.attr(name));
        };
        attribute("shape");
        if (flag("check_layout")) attribute("layout");
        if (flag("check_stride") && !is_sparse(actual) && !is_sparse(expected))
            check("stride()", actual.attr("stride")(), expected.attr("stride")());
        if (flag("check_device")) attribute("device");
        if (flag("check_dtype")) attribute("dtype");
    }

    void compare_values(nb::handle actual, nb::handle expected, const Tolerated& allowed,
                        const Path& path) const {
        if (!is_sparse(actual))
            return compare_elements(nb::borrow(actual), nb::borrow(expected), allowed,
                                    flag("equal_nan"), path, "Tensor-likes");
        const auto check = [&](const char* what, const char* asked) {
            const nb::object a = actual.attr(asked)(), b = expected.attr(asked)();
            if (!a.equal(b))
                fail(composit::text("The number of ", what,
                                    " in sparse COO tensors does not match: ", Said{a},
                                    " != ", Said{b}),
                     path);
        };
        check("sparse dimensions", "sparse_dim");
        check("specified values", "_nnz");
        const Tolerated none{nb::int_(0), nb::int_(0)};
        compare_elements(actual.attr("_indices")(), expected.attr("_indices")(), none, false, path,
                         "Sparse COO indices");
        compare_elements(actual.attr("_values")(), expected.attr("_values")(), allowed,
                         flag("equal_nan"), path, "Sparse COO values");
    }

    static void compare_elements(const nb::object& actual, const nb::object& expected,
                                 const Tolerated& allowed, bool equal_nan, const Path& path,
                                 std::string name) {
        const auto values = [](const nb::object& x) {
            return tensor_from(provided("torch_values")(x.attr("detach")()));
        };
        const aten::Number rtol = step_number(allowed.first), atol = step_number(allowed.second);
        std::string text;
        {
            const Tensor a = values(actual), b = values(expected);
            const IgnoredErrors ignored;
            const auto found = aten::mismatch(a, b, rtol.value(), atol.value(), equal_nan);
            if (!found) return;
            if (!a.shape().empty()) text = aten::text_of(*found, rtol, atol, name);
        }
        if (text.empty()) {
            if (name == "Tensor-likes") name = "Scalars";
            text = report_of_numbers(actual.attr("item")(), expected.attr("item")(), allowed.first,
                                     allowed.second, name);
        }
        fail(std::move(text), path);
    }

    void add(std::function<void()> compare) { pairs_.push_back({std::move(compare)}); }

    const nb::dict options_;
    std::vector<Pair> pairs_;
};

}  // namespace

void bind_aten_comparing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "isclose",
        [](const Tensor& x, const Tensor& y, double rtol, double atol, TruthFlag equal_nan) {
            return aten::isclose(x, y, rtol, atol, equal_nan);
        },
        nb::arg(), nb::arg(), nb::arg("rtol") = 1e-5, nb::arg("atol") = 1e-8,
        nb::arg("equal_nan") = false, located);
    // What is said of two tensors that are not close; None of others.
    module.def(
        "mismatch",
        [](const Tensor& actual, const Tensor& expected, nb::handle rtol, nb::handle atol,
           TruthFlag equal_nan, const std::string& name) -> nb::object {
            const aten::Number relative = step_number(rtol), absolute = step_number(atol);
            const auto found =
                aten::mismatch(actual, expected, relative.value(), absolute.value(), equal_nan);
            if (!found) return nb::none();
            return nb::str(aten::text_of(*found, relative, absolute, name).c_str());
        },
        nb::arg(), nb::arg(), nb::arg("rtol"), nb::arg("atol"), nb::arg("equal_nan") = false,
        nb::arg("name") = "Tensor-likes", located);
    module.def("close_tolerances", [](const std::vector<std::string>& names) {
        const aten::Tolerances found = tolerances_of(names);
        return std::make_pair(found.rtol, found.atol);
    });
    module.def("check_tolerances", &aten::check_tolerances, located);
    module.def("attributes_differ", &aten::attributes_differ);
    module.def(
        "assert_close",
        [](nb::handle actual, nb::handle expected, nb::dict options, nb::handle message) {
            Comparison(std::move(options)).run(actual, expected, message);
        },
        nb::arg("actual").none(), nb::arg("expected").none(), nb::arg("options"),
        nb::arg("message").none(),
        "AssertionError unless values of Python, and structures of them, are close.");
    module.def("wide_tolerances", wide_tolerances, nb::arg("names"));
}

}  // namespace composit::python
