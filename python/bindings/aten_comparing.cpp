// Closeness of tensors, and where they differ: composit/aten/comparing.h.
#include "aten.h"
#include "aten_numbers.h"
#include "casters.h"
#include "composit/aten/comparing.h"
#include "flags.h"
#include "location.h"
#include "shown.h"
#include "values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
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

// Both on one device, of one dtype and layout.
nb::tuple made_alike(const nb::dict& functions, nb::handle int64, nb::handle strided,
                     nb::object actual, nb::object expected) {
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
            return is_unsigned_beyond_bytes(own) ? nb::borrow(int64) : own;
        };
        const nb::object to = nb::object(functions["promote_types"])(kind(actual), kind(expected));
        actual = actual.attr("to")(to);
        expected = expected.attr("to")(to);
    }
    if (differ("layout"))
        for (nb::object* each : {&actual, &expected})
            if (!nb::object(each->attr("layout")).is(strided)) *each = each->attr("to_dense")();
    return nb::make_tuple(actual, expected);
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
        std::vector<ir::DType> dtypes;
        for (const std::string& name : names)
            if (const auto dtype = ir::find_dtype(name)) dtypes.push_back(*dtype);
        const aten::Tolerances found = aten::close_tolerances(dtypes);
        return std::make_pair(found.rtol, found.atol);
    });
    module.def("report_of_numbers", report_of_numbers, nb::arg("actual"), nb::arg("expected"),
               nb::arg("rtol"), nb::arg("atol"), nb::arg("name"));
    module.def("are_close_numbers", are_close_numbers, nb::arg("a"), nb::arg("b"), nb::arg("rtol"),
               nb::arg("atol"), nb::arg("equal_nan"));
    module.def("made_alike", made_alike, nb::arg("functions"), nb::arg("int64"), nb::arg("strided"),
               nb::arg("actual"), nb::arg("expected"));
    module.def("wide_tolerances", wide_tolerances, nb::arg("names"));
}

}  // namespace composit::python
