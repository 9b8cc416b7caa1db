// composit/numpy/reductions.h.
#include "casters.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/reductions.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

#include <nanobind/stl/pair.h>

namespace composit::python {

using numpy::Axis;
using MaybeDType = std::optional<ir::DType>;
using MaybeAxis = std::optional<int64_t>;

// `initial`, `where` and `weights` are None where they are not given.
void bind_numpy_reductions(nb::module_& module) {
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
    module.def(
        "ptp",
        [](const Tensor& x, const Axis& axis, IntegerFlag keepdims) {
            return numpy::ptp(x, axis, keepdims);
        },
        located);
    module.def(
        "mean",
        [](const Tensor& x, const Axis& axis, MaybeDType dtype, IntegerFlag keepdims,
           const MaybeOperand& where) { return numpy::mean(x, axis, dtype, keepdims, where); },
        located);
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
    module.def(
        "average",
        [](const Tensor& x, const Axis& axis, const MaybeOperand& weights, IntegerFlag keepdims) {
            const auto made = errors_as(
                "average", [&] { return numpy::average_and_weights(x, axis, weights, keepdims); });
            return std::pair(made.average, made.weights);
        },
        located);
    const auto positions = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, MaybeAxis axis, TruthFlag keepdims) {
                return function(x, axis, keepdims);
            },
            located);
    };
    positions("argmax", numpy::argmax);
    positions("argmin", numpy::argmin);
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
}

}  // namespace composit::python
