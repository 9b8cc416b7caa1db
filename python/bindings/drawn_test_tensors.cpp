// torch.testing.make_tensor: tensors of random numbers between bounds that their dtype holds.
#include "casters.h"
#include "composit/base/error.h"
#include "exact_errors.h"
#include "flags.h"
#include "gradient_checks.h"
#include "provided.h"
#include "shown.h"
#include "torch_calls.h"
#include "values.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace composit::python {
namespace {

bool is_below(nb::handle a, nb::handle b) {
    const int found = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_LT);
    if (found < 0) throw nb::python_error();
    return found == 1;
}

bool is_nan_bound(nb::handle value) {
    return PyFloat_Check(value.ptr()) && std::isnan(PyFloat_AS_DOUBLE(value.ptr()));
}

nb::object integer_above(nb::handle number) {
    return nb::module_::import_("math").attr("ceil")(number);
}

// What is drawn: a dtype, which numbers it holds, and the bounds unless they are given.
struct Drawn {
    nb::object dtype;
    nb::object least, end;
    nb::object low, high;
    bool is_whole;
};

// The interval to draw from: as given, or the default, within what the dtype holds.
void keep_within(Drawn& drawn) {
    nb::object &low = drawn.low, &high = drawn.high;
    exact_check(PyExc_ValueError, !is_nan_bound(low) && !is_nan_bound(high),
                "`low` and `high` cannot be NaN, but got low=", Shown{low},
                " and high=", Shown{high});
    if (low.equal(high) && !drawn.is_whole) {
        if (PyErr_WarnEx(PyExc_FutureWarning,
                         "Passing `low==high` to `torch.testing.make_tensor` for floating or "
                         "complex types is deprecated since 2.1 and will be removed in 2.3. Use "
                         "`torch.full(...)` instead.",
                         2) < 0)
            throw nb::python_error();
    } else {
        exact_check(PyExc_ValueError, is_below(low, high),
                    "`low` must be less than `high`, but got ", Said{low}, " >= ", Said{high});
        exact_check(PyExc_ValueError, !is_below(high, drawn.least) && is_below(low, drawn.end),
                    "The value interval specified by `low` and `high` is [", Said{low}, ", ",
                    Said{high}, "), but ", Said{drawn.dtype}, " only supports [", Said{drawn.least},
                    ", ", Said{drawn.end}, ")");
    }
    for (nb::object* bound : {&low, &high}) {
        if (is_below(*bound, drawn.least)) *bound = drawn.least;
        if (is_below(drawn.end, *bound)) *bound = drawn.end;
        if (drawn.is_whole) *bound = integer_above(*bound);
    }
}

nb::object given_or(nb::handle given, nb::object otherwise) {
    return given.is_none() ? otherwise : nb::borrow(given);
}

// Integers, or booleans, of which the end is exclusive. `info` is PyTorch's iinfo; None of
// booleans.
nb::object drawn_integers(const nb::dict& functions, nb::handle shape, nb::object dtype,
                          nb::handle device, nb::handle low, nb::handle high, nb::handle info) {
    const bool is_bool = info.is_none();
    Drawn drawn{dtype, nb::int_(0), nb::int_(2), {}, {}, true};
    if (!is_bool) {
        drawn.least = info.attr("min");
        // An end of 2^63 is no int64.
        const bool is_int64 = nb::object(dtype.attr("name")).equal(nb::str("int64"));
        drawn.end = nb::object(info.attr("max")) + nb::int_(is_int64 ? 0 : 1);
    }
    drawn.low = given_or(low, nb::int_(is_bool ? 0 : -9));
    drawn.high = given_or(high, nb::int_(is_bool ? 2 : 10));
    keep_within(drawn);
    return nb::object(functions["randint"])(drawn.low, drawn.high, shape,
                                            nb::arg("device") = device, nb::arg("dtype") = dtype);
}

// Floats, or complex numbers of two each, where the dtype of parts is another one.
nb::object drawn_floats(const nb::dict& functions, nb::handle shape, nb::object dtype,
                        nb::handle device, nb::handle low, nb::handle high, nb::handle info,
                        nb::handle part) {
    Drawn drawn{dtype,
                info.attr("min"),
                info.attr("max"),
                given_or(low, nb::int_(-9)),
                given_or(high, nb::int_(9)),
                false};
    keep_within(drawn);
    const bool is_complex = !part.is(dtype);
    nb::object lengths = nb::borrow(shape);
    if (is_complex) lengths = nb::tuple(lengths) + nb::make_tuple(2);
    const nb::object empty = nb::object(functions["empty"])(lengths, nb::arg("device") = device,
                                                            nb::arg("dtype") = part);
    // The difference of the bounds may be beyond the largest number.
    const double first = number_from(drawn.low), last = number_from(drawn.high);
    nb::object made;
    if (last - first >= number_from(nb::object(info.attr("max"))))
        made = empty.attr("uniform_")(first / 2, last / 2).attr("mul_")(2);
    else
        made = empty.attr("uniform_")(drawn.low, drawn.high);
    return is_complex ? nb::object(nb::object(functions["view_as_complex"])(made)) : made;
}

enum class DrawnKind : uint8_t { integers, floats, complex };

DrawnKind kind_to_draw(nb::handle dtype) {
    const auto found = ir::find_dtype(nb::str(nb::getattr(dtype, "name", nb::str(""))).c_str());
    if (found && (*found == ir::DType::boolean || ir::is_integer(*found)))
        return DrawnKind::integers;
    if (found && ir::is_complex(*found)) return DrawnKind::complex;
    exact_check(PyExc_TypeError, found && ir::is_floating(*found), "The requested dtype '",
                Said{dtype},
                "' is not supported by torch.testing.make_tensor(). To request support, file an "
                "issue at: https://github.com/pytorch/pytorch/issues");
    return DrawnKind::floats;
}

// The dtype of a complex number's parts, or itself.
nb::object dtype_of_parts(nb::handle dtype, DrawnKind kind) {
    if (kind != DrawnKind::complex) return nb::borrow(dtype);
    const bool is_single = nb::object(dtype.attr("name")).equal(nb::str("complex64"));
    return provided("torch_dtypes")[is_single ? "float32" : "float64"];
}

// Numbers of the dtype between the bounds.
nb::object drawn_numbers(nb::handle shape, nb::handle dtype, DrawnKind kind, nb::handle device,
                         nb::handle low, nb::handle high) {
    const nb::dict functions = nb::borrow<nb::dict>(provided("torch_functions"));
    if (kind == DrawnKind::integers) {
        const bool is_bool = nb::object(dtype.attr("name")).equal(nb::str("bool"));
        const nb::object info = is_bool ? nb::none() : provided("torch_iinfo")(dtype);
        return drawn_integers(functions, shape, nb::borrow(dtype), device, low, high, info);
    }
    const nb::object part = dtype_of_parts(dtype, kind);
    return drawn_floats(functions, shape, nb::borrow(dtype), device, low, high,
                        provided("torch_finfo")(part), part);
}

nb::object make_tensor(const nb::tuple& shape, nb::handle dtype, nb::handle device, nb::handle low,
                       nb::handle high, TruthFlag requires_grad, TruthFlag noncontiguous,
                       TruthFlag exclude_zero, nb::handle memory_format) {
    exact_check(PyExc_ValueError, !noncontiguous || memory_format.is_none(),
                "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but "
                "got noncontiguous=",
                noncontiguous ? "True" : "False", " and memory_format=", Shown{memory_format});
    std::vector<int64_t> lengths =
        integers_from(nb::len(shape) == 1 ? nb::object(shape[0]) : nb::object(shape));
    int64_t count = 1;
    for (const int64_t length : lengths) count *= length;
    const DrawnKind kind = kind_to_draw(dtype);
    const bool is_whole = kind == DrawnKind::integers;
    exact_check(PyExc_ValueError, !requires_grad || !is_whole,
                "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
                "dtype=",
                Shown{dtype});
    const bool is_spread = noncontiguous && count > 1;
    if (is_spread) lengths.back() *= 2;
    nb::object made = drawn_numbers(tuple_from(lengths), dtype, kind, device, low, high);
    if (is_spread) {
        const nb::object step =
            nb::steal(PySlice_New(nb::int_(1).ptr(), nb::none().ptr(), nb::int_(2).ptr()));
        made = made[nb::make_tuple(nb::ellipsis(), step)];
    } else if (!memory_format.is_none()) {
        made = made.attr("clone")(nb::arg("memory_format") = memory_format);
    }
    if (exclude_zero) {
        const nb::object least = is_whole ? nb::object(nb::int_(1))
                                          : nb::object(provided("torch_finfo")(dtype).attr("tiny"));
        made[made.attr("__eq__")(0)] = least;
    }
    return is_whole ? made : nb::object(made.attr("requires_grad_")(bool(requires_grad)));
}

}  // namespace

void bind_drawn_test_tensors(nb::module_& module) {
    module.def("make_tensor", make_tensor, nb::arg("shape"), nb::arg("dtype").none(),
               nb::arg("device").none(), nb::arg("low").none(), nb::arg("high").none(),
               nb::arg("requires_grad"), nb::arg("noncontiguous"), nb::arg("exclude_zero"),
               nb::arg("memory_format").none(), "torch.testing.make_tensor.");
}

}  // namespace composit::python
