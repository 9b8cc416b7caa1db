// composit/numpy/sets.h.
#include "axes.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sets.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

namespace composit::python {
namespace {

nb::object wrap_or_none(const Tensor& x) { return x ? nb::object(wrap(x)) : nb::none(); }

// The values with the NaN that is given first: which parts of a complex one are NaN shows.
Tensor with_first_nan(const Tensor& values, const Tensor& x) {
    const Tensor given = numpy::ravel(x);
    if (given.size() == 0) return values;
    const Tensor is_nan = numpy::apply("isnan", {given});
    const Tensor first = numpy::take(given, numpy::argmax(is_nan));
    return numpy::apply("where", {numpy::apply("isnan", {values}), first, values});
}

// The axis of unique, which is one; of several moveaxis complains first, as in NumPy.
std::optional<int64_t> only_axis(nb::handle axis, int rank) {
    if (axis.is_none()) return {};
    if (PyTuple_Check(axis.ptr()) || PyList_Check(axis.ptr())) {
        user_check<AxisError>(rank > 0, "unique: axis ", Shown{axis},
                              " is out of bounds for an array of 0 dimensions.");
        if (rank > 1) one_axis_from("unique", axis, rank);
    }
    user_check<TypeError>(PyIndex_Check(axis.ptr()), "unique: integer argument expected, got ",
                          KindOf{axis}, ": axis.");
    return integer_from(axis);
}

// The values; before all that is wanted beside them, if something is.
nb::object unique(const Tensor& x, nb::handle given_axis, TruthFlag equal_nan, TruthFlag indices,
                  TruthFlag inverse, TruthFlag counts) {
    const std::optional<int64_t> axis = only_axis(given_axis, x.rank());
    const numpy::Unique found = numpy::unique(x, axis, equal_nan, {indices, inverse});
    nb::list all;
    const bool is_alone = !indices && !inverse && !counts;
    const bool shows_nan = ir::is_complex(found.values.dtype()) && equal_nan && !axis && is_alone;
    all.append(wrap(shows_nan ? with_first_nan(found.values, x) : found.values));
    if (indices) all.append(wrap(found.indices));
    if (inverse) all.append(wrap(found.inverse));
    if (counts) all.append(wrap(found.counts));
    return is_alone ? nb::object(all[0]) : nb::tuple(all);
}

}  // namespace

void bind_numpy_sets(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("unique", unique, nb::arg("x"), nb::arg("axis").none(), nb::arg("equal_nan").none(),
               nb::arg("indices").none(), nb::arg("inverse").none(), nb::arg("counts").none(),
               located);
    module.def("union1d", &numpy::union1d, located);
    module.def(
        "intersect1d",
        [](const Tensor& a, const Tensor& b, TruthFlag is_unique, TruthFlag indices) {
            const numpy::Intersection found = numpy::intersect1d(a, b, is_unique, indices);
            return nb::make_tuple(wrap(found.values), wrap_or_none(found.indices_a),
                                  wrap_or_none(found.indices_b));
        },
        nb::arg("a"), nb::arg("b"), nb::arg("is_unique").none(), nb::arg("indices").none(),
        located);
    const auto difference = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& a, const Tensor& b, TruthFlag is_unique) {
                return function(a, b, is_unique);
            },
            nb::arg("a"), nb::arg("b"), nb::arg("is_unique").none(), located);
    };
    difference("setdiff1d", numpy::setdiff1d);
    difference("setxor1d", numpy::setxor1d);
    module.def(
        "isin",
        [](const Tensor& x, const Tensor& tested, TruthFlag invert, bool by_table) {
            return numpy::isin(x, tested, invert, by_table);
        },
        nb::arg("x"), nb::arg("tested"), nb::arg("invert").none(), nb::arg("by_table"), located);
}

}  // namespace composit::python
