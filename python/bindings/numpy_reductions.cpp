// composit/numpy/reductions.h and nan_reductions.h.
#include "arrays.h"
#include "casters.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/nan_reductions.h"
#include "composit/numpy/reductions.h"
#include "content.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"

#include <nanobind/stl/pair.h>

namespace composit::python {

using numpy::Axis;
using MaybeDType = std::optional<ir::DType>;
using MaybeAxis = std::optional<int64_t>;

namespace {

// The dtype in which sums and products are formed: with an `out` that which both have in common, as
// in NumPy, and 64 bits for integers only without one.
nb::object running_dtype(const Tensor& x, nb::object dtype, nb::handle given) {
    const nb::object out = the_output(given);
    if (!dtype.is_none() || out.is_none() || !has_attribute(out, "dtype")) return dtype;
    return numpy_attribute("result_type")(dtype_object(numpy::strong(x).dtype()),
                                          out.attr("dtype"));
}

// NumPy's warning where there are not more than ddof elements along the axes of a tensor.
void warn_of_few(const char* message, nb::handle a, nb::handle axis, nb::handle ddof,
                 nb::handle where) {
    const bool is_number = PyFloat_Check(ddof.ptr()) || PyLong_Check(ddof.ptr());
    if (!where.is(nb::bool_(true)) || !is_tensor(a) || !is_number) return;
    const ir::Shape& shape = content_of<LazyTensor>(a).type().shape;
    const auto rank = static_cast<int64_t>(shape.size());
    int64_t count = 1;
    const auto count_along = [&](nb::handle each) {
        if (!PyLong_Check(each.ptr())) return;
        const int64_t at = integer_from(each);
        if (at >= -rank && at < rank) count *= shape[static_cast<size_t>(at < 0 ? at + rank : at)];
    };
    if (axis.is_none())
        count = ir::element_count(shape);
    else if (PyTuple_Check(axis.ptr()))
        for (nb::handle each : axis) count_along(each);
    else
        count_along(axis);
    constexpr int level = 2;  // behind the function that the user called
    if (static_cast<double>(count) <= number_from(ddof) &&
        PyErr_WarnEx(PyExc_RuntimeWarning, message, level) < 0)
        throw nb::python_error();
}

}  // namespace

// `initial`, `where`, `mean` and `weights` are None where they are not given.
void bind_numpy_reductions(nb::module_& module) {
    module.def("running_dtype", running_dtype, nb::arg("x"), nb::arg("dtype").none(),
               nb::arg("out").none());
    module.def("warn_of_few", warn_of_few, nb::arg("message"), nb::arg("a").none(),
               nb::arg("axis").none(), nb::arg("ddof").none(), nb::arg("where").none());
    const nb::call_guard<Located> located;
    const auto totals = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, MaybeDType dtype, IntegerFlag keepdims,
                       const MaybeOperand& initial, const MaybeOperand& where) {
                return function(x, axis, dtype, keepdims, initial, where);
            },
            nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none(),
            nb::arg().none(), located);
    };
    totals("sum", numpy::sum);
    totals("prod", numpy::prod);
    totals("nansum", numpy::nansum);
    totals("nanprod", numpy::nanprod);
    const auto extrema = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, IntegerFlag keepdims,
                       const MaybeOperand& initial, const MaybeOperand& where) {
                return function(x, axis, keepdims, initial, where);
            },
            nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg().none(), located);
    };
    extrema("max", numpy::max);
    extrema("min", numpy::min);
    extrema("nanmax", numpy::nanmax);
    extrema("nanmin", numpy::nanmin);
    module.def(
        "ptp",
        [](const Tensor& x, const Axis& axis, IntegerFlag keepdims) {
            return numpy::ptp(x, axis, keepdims);
        },
        located);
    const auto means = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, MaybeDType dtype, IntegerFlag keepdims,
                       const MaybeOperand& where) {
                return function(x, axis, dtype, keepdims, where);
            },
            located);
    };
    means("mean", numpy::mean);
    means("nanmean", numpy::nanmean);
    const auto spreads = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, MaybeDType dtype, double ddof,
                       IntegerFlag keepdims, const MaybeOperand& where, const MaybeOperand& mean) {
                return function(x, axis, dtype, ddof, keepdims, where, mean);
            },
            located);
    };
    spreads("var", numpy::var);
    spreads("std", numpy::std);
    spreads("nanvar", numpy::nanvar);
    spreads("nanstd", numpy::nanstd);
    module.def(
        "average",
        [](const Tensor& x, const Axis& axis, const MaybeOperand& weights, IntegerFlag keepdims) {
            const auto made = errors_as(
                "average", [&] { return numpy::average_and_weights(x, axis, weights, keepdims); });
            return std::pair(made.average, made.weights);
        },
        located);
    const auto positions = [&](const char* name, auto function, auto flag) {
        module.def(
            name,
            [function](const Tensor& x, MaybeAxis axis, decltype(flag) keepdims) {
                return function(x, axis, keepdims);
            },
            located);
    };
    positions("argmax", numpy::argmax, TruthFlag());
    positions("argmin", numpy::argmin, TruthFlag());
    positions("nanargmax", numpy::nanargmax, IntegerFlag());
    positions("nanargmin", numpy::nanargmin, IntegerFlag());
    const auto tests = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, IntegerFlag keepdims,
                       const MaybeOperand& where) { return function(x, axis, keepdims, where); },
            located);
    };
    tests("any", numpy::any);
    tests("all", numpy::all);
    module.def(
        "count_nonzero",
        [](const Tensor& x, const Axis& axis, IntegerFlag keepdims) {
            return numpy::count_nonzero(x, axis, keepdims);
        },
        located);
    module.def("cumsum", &numpy::cumsum, located);
    module.def("cumprod", &numpy::cumprod, located);
    module.def("nancumsum", &numpy::nancumsum, located);
    module.def("nancumprod", &numpy::nancumprod, located);
}

}  // namespace composit::python
